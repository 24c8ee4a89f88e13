package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Graph is a machine as plain data, for drawings, documentation, the digest and the admission policy.
type Graph struct {
	Name    string       `json:"name"`
	Doc     string       `json:"doc"`
	Digest  string       `json:"digest"`
	States  []GraphState `json:"states"`
	Edges   []GraphEdge  `json:"edges"`
	Guards  []GraphGuard `json:"guards"`
	Needs   []Need       `json:"needs,omitempty"`
	Records []Record     `json:"records,omitempty"`
	// Deletion is where a deletion leads. Nil: the object is deleted at once.
	Deletion *Deletion `json:"deletion,omitempty"`
	// Inferred are the states that Infer may return.
	Inferred   []string          `json:"inferred"`
	Migrations map[string]string `json:"migrations,omitempty"`
	Unit       string            `json:"unit,omitempty"`
	// MaxTransitionsWithoutProgress is the number of transitions without progress after which an attempt is Stalled.
	MaxTransitionsWithoutProgress int32 `json:"maxTransitionsWithoutProgress"`
}

// GraphState is a state of a Graph.
type GraphState struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	HoldReason string `json:"holdReason,omitempty"`
	Doc        string `json:"doc"`
	Part       string `json:"part,omitempty"`
	// OnlyDeletion means that nothing but a deletion leads to the state.
	OnlyDeletion bool          `json:"onlyDeletion,omitempty"`
	Deadline     time.Duration `json:"deadline,omitempty"`
	// DeadlineFromFacts means that the deadline is computed from the facts.
	DeadlineFromFacts bool          `json:"deadlineFromFacts,omitempty"`
	Poll              time.Duration `json:"poll,omitempty"`
	Invariant         string        `json:"invariant,omitempty"`
	OnTargetChange    string        `json:"onTargetChange,omitempty"`
	Action            string        `json:"action,omitempty"`
	ActionDoc         string        `json:"actionDoc,omitempty"`
	// ResolvedBy is the costly fact that shows what the action's effects did.
	ResolvedBy           string `json:"resolvedBy,omitempty"`
	Precondition         string `json:"precondition,omitempty"`
	OnPreconditionFailed string `json:"onPreconditionFailed,omitempty"`
}

// GraphEdge is a transition of a Graph, declared by a row or not. An empty From means any state.
type GraphEdge struct {
	Event      string `json:"event"`
	From       string `json:"from"`
	To         string `json:"to"`
	Guard      string `json:"guard,omitempty"`
	Doc        string `json:"doc,omitempty"`
	OneWay     bool   `json:"oneWay,omitempty"`
	NewAttempt bool   `json:"newAttempt,omitempty"`
	Awaited    bool   `json:"awaited,omitempty"`
	// EvenIfUnknown means that the guard is evaluated although the guard of an earlier edge is unknown.
	EvenIfUnknown bool `json:"evenIfUnknown,omitempty"`
	// Quiet means that no event reports the transition.
	Quiet bool  `json:"quiet,omitempty"`
	Class Class `json:"class"`
}

// Class distinguishes edges that a row declares from those that the framework adds.
type Class string

// The classes of edges.
const (
	Declared           Class = "declared"
	TargetChanged      Class = "target-changed"
	PreconditionFailed Class = "precondition-failed"
	Inferred           Class = "inferred"
	Migrated           Class = "migrated"
	DeletionRequested  Class = "deletion-requested"
)

// GraphGuard is a guard of a Graph.
type GraphGuard struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc"`
	Expected string   `json:"expected"`
	Needs    []string `json:"needs,omitempty"`
}

// digestOf hashes what distinguishes two graphs for a persisted state: the states with their kinds, the edges, the inferred
// states and the migrations. Docs and guards do not change the digest. JSON of sorted maps and ordered slices is canonical.
func digestOf(g Graph) string {
	type state struct{ Name, Kind string }
	type edge struct {
		Event, From, To string
		OneWay          bool
	}
	canonical := struct {
		States     []state
		Edges      []edge
		Inferred   []string
		Migrations map[string]string
	}{Inferred: g.Inferred, Migrations: g.Migrations}
	for _, s := range g.States {
		canonical.States = append(canonical.States, state{s.Name, s.Kind})
	}
	for _, e := range g.Edges {
		canonical.Edges = append(canonical.Edges, edge{e.Event, e.From, e.To, e.OneWay})
	}
	text, err := json.Marshal(canonical)
	if err != nil { // strings and bools cannot fail to encode
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

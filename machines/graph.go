package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Graph is a machine as plain data: what is drawn, documented, digested and policed.
type Graph struct {
	Name    string       `json:"name"`
	Doc     string       `json:"doc"`
	Digest  string       `json:"digest"`
	States  []GraphState `json:"states"`
	Edges   []GraphEdge  `json:"edges"`
	Guards  []GraphGuard `json:"guards"`
	Needs   []Need       `json:"needs,omitempty"`
	Records []Record     `json:"records,omitempty"`
	// Located are the states that Locate may return.
	Located    []string          `json:"located"`
	Migrations map[string]string `json:"migrations,omitempty"`
	Unit       string            `json:"unit,omitempty"`
	// MaxEdges is how many transitions without progress an attempt may take before it is Stalled.
	MaxEdges int32 `json:"maxEdges"`
}

// GraphState is a state of a Graph.
type GraphState struct {
	Name     string        `json:"name"`
	Kind     string        `json:"kind"`
	Stance   string        `json:"stance,omitempty"`
	Doc      string        `json:"doc"`
	Part     string        `json:"part,omitempty"`
	Deadline time.Duration `json:"deadline,omitempty"`
	// DeadlineFromFacts says that the deadline is computed.
	DeadlineFromFacts bool          `json:"deadlineFromFacts,omitempty"`
	Poll              time.Duration `json:"poll,omitempty"`
	While             string        `json:"while,omitempty"`
	OnTarget          string        `json:"onTarget,omitempty"`
	Action            string        `json:"action,omitempty"`
	ActionDoc         string        `json:"actionDoc,omitempty"`
	Before            string        `json:"before,omitempty"`
	TurnBack          string        `json:"turnBack,omitempty"`
}

// GraphEdge is a transition of a Graph, those that no row declares included. From is empty for "any state".
type GraphEdge struct {
	Event      string `json:"event"`
	From       string `json:"from"`
	To         string `json:"to"`
	Guard      string `json:"guard,omitempty"`
	Doc        string `json:"doc,omitempty"`
	OneWay     bool   `json:"oneWay,omitempty"`
	NewAttempt bool   `json:"newAttempt,omitempty"`
	Awaited    bool   `json:"awaited,omitempty"`
	// EvenIfUnknown says that the edge is asked although the guard of an earlier one is unknown.
	EvenIfUnknown bool  `json:"evenIfUnknown,omitempty"`
	Class         Class `json:"class"`
}

// Class tells edges that a row declares from those that come with the framework.
type Class string

// The classes of edges.
const (
	Declared      Class = "declared"
	TargetChanged Class = "target-changed"
	TurnedBack    Class = "turned-back"
	Located       Class = "located"
	Migrated      Class = "migrated"
)

// GraphGuard is a guard of a Graph.
type GraphGuard struct {
	Name  string   `json:"name"`
	Doc   string   `json:"doc"`
	Want  string   `json:"want"`
	Needs []string `json:"needs,omitempty"`
}

// digestOf hashes what makes two graphs different machines to a persisted bookmark: states with their kinds, edges,
// located states and migrations. Docs and guards do not change it. JSON of sorted maps and ordered slices is canonical.
func digestOf(g Graph) string {
	type state struct{ Name, Kind string }
	type edge struct {
		Event, From, To string
		OneWay          bool
	}
	canonical := struct {
		States     []state
		Edges      []edge
		Located    []string
		Migrations map[string]string
	}{Located: g.Located, Migrations: g.Migrations}
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

// Package graph draws the definition of a lifecycle, and an object's position in it.
//
// All renderers share one layout. A lifecycle is a path with detours, so states are in two
// lanes: the happy path goes straight down on the left (the spine), refusals and holds are
// in the side lane on its right. Loops run as rails on the left, jumps and detours as
// shared buses between the lanes. SVG, Text, DOT and Mermaid draw the same data; Page
// writes the documentation of a machine around them.
//
// The package takes plain data and imports no machine. Every renderer is a pure function:
// the same input gives the same bytes, and no name breaks the syntax of the output.
package graph

import (
	"encoding/json"
	"fmt"
	"time"
)

// Kind is what a machine does while it is in a state.
type Kind string

const (
	// Rest is a state in which there is nothing to do.
	Rest Kind = "Rest"
	// Work is a state whose action runs on every reconcile.
	Work Kind = "Work"
	// Wait is a state that waits for a change outside the machine.
	Wait Kind = "Wait"
	// Hold is a state that waits for a user: planned, or because something was refused.
	Hold Kind = "Hold"
)

// Lane is where a state is drawn. The zero value means that the layout decides.
type Lane string

const (
	// Main puts a state on the spine, in declaration order.
	Main Lane = "main"
	// Side puts a state in the side lane.
	Side Lane = "side"
)

// Class is the origin of an edge. The zero value means Declared.
type Class string

const (
	// Declared edges are the rows of the machine. Only these are drawn as lines.
	Declared Class = "declared"
	// TargetChanged edges are taken when the desired target differs from the attempt's.
	TargetChanged Class = "target-changed"
	// Inferred edges are taken when the state is inferred from observation, because the
	// persisted state was missing or contradicted.
	Inferred Class = "inferred"
	// Migrated edges lead from a state of an older binary to a state of this binary.
	Migrated Class = "migrated"
	// DeletionRequested edges are taken when the object is being deleted.
	DeletionRequested Class = "deletion-requested"
)

// AnyState as the From of an edge means every state.
const AnyState = "*"

// Graph is the definition of one lifecycle as data: the machine without its code.
type Graph struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc,omitempty"`
	Digest  string   `json:"digest,omitempty"`
	Initial string   `json:"initial,omitempty"`
	States  []State  `json:"states"`
	Edges   []Edge   `json:"edges"`
	Guards  []Guard  `json:"guards,omitempty"`
	Records []Record `json:"records,omitempty"`
}

// State is one state. Deadline and Poll are for display: a duration as formatted by
// time.Duration, or words if the value is computed from facts.
type State struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind,omitempty"`
	Doc  string `json:"doc,omitempty"`
	// Planned marks a Hold that is part of the plan, such as an approval.
	Planned  bool   `json:"planned,omitempty"`
	Deadline string `json:"deadline,omitempty"`
	Poll     string `json:"poll,omitempty"`
	// Invariant is the state invariant: the condition under which the persisted state is valid.
	Invariant string `json:"invariant,omitempty"`
	// Action is the name of the action that runs on every reconcile in this state.
	Action string `json:"action,omitempty"`
	// OnTargetChange is the state that is entered when the target changes. Optional; default: the
	// machine keeps its attempt.
	OnTargetChange string `json:"onTargetChange,omitempty"`
	// Group is the name of the fragment that contains this state.
	Group string `json:"group,omitempty"`
	Lane  Lane   `json:"lane,omitempty"`
}

// Edge is one transition. From may be AnyState.
type Edge struct {
	Event string `json:"event"`
	From  string `json:"from"`
	To    string `json:"to"`
	// Guard is the guard, or the combination of guards, as text.
	Guard string `json:"guard,omitempty"`
	// OneWay marks an edge that cannot be reverted.
	OneWay bool `json:"oneWay,omitempty"`
	// Awaited marks an edge whose guards are listed in the conditions that the state waits
	// for.
	Awaited bool `json:"awaited,omitempty"`
	// NewAttempt marks an edge that starts a new attempt.
	NewAttempt bool `json:"newAttempt,omitempty"`
	// EvenIfUnknown marks an edge that is evaluated although an earlier guard is unknown.
	EvenIfUnknown bool   `json:"evenIfUnknown,omitempty"`
	Doc           string `json:"doc,omitempty"`
	Class         Class  `json:"class,omitempty"`
}

// Guard is one named predicate and the costly facts that it needs.
type Guard struct {
	Name  string   `json:"name"`
	Doc   string   `json:"doc,omitempty"`
	Needs []string `json:"needs,omitempty"`
}

// Record is stored data that cannot be observed again, and where it is stored.
type Record struct {
	Name string `json:"name"`
	Home string `json:"home,omitempty"`
	Doc  string `json:"doc,omitempty"`
}

// Live is one object's position, drawn over its graph. Every field is optional.
type Live struct {
	// State is the current state of the object. A state that the graph does not have is
	// drawn as a plain box with a note.
	State     string    `json:"state,omitempty"`
	EnteredAt time.Time `json:"enteredAt,omitzero"`
	// Now is the time of the picture. The time in the state and the time to the deadline
	// are relative to it.
	Now      time.Time `json:"now,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`
	// Visited is how often a state was entered in this attempt.
	Visited map[string]int `json:"visited,omitempty"`
	// Walked is how often an edge was taken in this attempt.
	Walked   []Walk    `json:"walked,omitempty"`
	Waiting  []Waiting `json:"waiting,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	// Durations is, by state, how long it took in this attempt and how long it usually
	// takes.
	Durations map[string]Durations `json:"durations,omitempty"`
}

// Walk is how often one edge was taken.
type Walk struct {
	Event string `json:"event"`
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"`
}

// Waiting is one guard that is not satisfied.
type Waiting struct {
	Guard    string `json:"guard"`
	Expected string `json:"expected,omitempty"`
	Observed string `json:"observed,omitempty"`
}

// Progress is how much of its work the attempt has done.
type Progress struct {
	Done    int    `json:"done"`
	Total   int    `json:"total"`
	Unit    string `json:"unit,omitempty"`
	Current string `json:"current,omitempty"`
}

// Durations of one state: in this attempt, and usually (zero: no history yet).
type Durations struct {
	Spent time.Duration `json:"spentNanoseconds,omitempty"`
	Usual time.Duration `json:"usualNanoseconds,omitempty"`
}

// Document is what JSON writes: every edge of every class, unlike the drawings.
type Document struct {
	Graph
	Live *Live `json:"live,omitempty"`
}

// JSON writes the graph, and live unless it is nil, indented and with a final line end. Its
// text is safe to embed in HTML. Absent states and edges are empty lists. It fails only if
// the encoding fails.
func JSON(g Graph, live *Live) ([]byte, error) {
	if g.States == nil {
		g.States = []State{}
	}
	if g.Edges == nil {
		g.Edges = []Edge{}
	}
	b, err := json.MarshalIndent(Document{Graph: g, Live: live}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding graph %q: %w", g.Name, err)
	}
	return append(b, '\n'), nil
}

func (e Edge) class() Class {
	if e.Class == "" {
		return Declared
	}
	return e.Class
}

// drawn reports whether the edge is drawn as a line. The other edges are listed by Summary.
func (e Edge) drawn() bool { return e.class() == Declared && e.From != AnyState }

func (s State) refused() bool { return s.Kind == Hold && !s.Planned }

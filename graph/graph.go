// Package graph draws the definition of a lifecycle, and an object's position on it.
//
// There is one layout and many renderers. A lifecycle is a path with detours, so
// states stand in two lanes: the happy path goes straight down on the left (the
// spine), refusals and holds stand beside it on the right. Loops run as rails on
// the left, jumps and detours as shared buses between the lanes. SVG, Text, DOT
// and Mermaid are drawn from the same data; Page writes the documentation of a
// machine around them.
//
// The package takes plain data and imports no machine. Every renderer is a pure
// function: the same input gives the same bytes, and no name, however strange,
// breaks the output's syntax.
package graph

import (
	"encoding/json"
	"fmt"
	"time"
)

// Kind says what a machine does while it is in a state.
type Kind string

const (
	// Rest is a state in which there is nothing to do.
	Rest Kind = "Rest"
	// Work is a state whose action runs on every pass.
	Work Kind = "Work"
	// Wait is a state that waits for the world.
	Wait Kind = "Wait"
	// Hold is a state that waits for a person: planned, or because something was refused.
	Hold Kind = "Hold"
)

// Lane is where a state is drawn. The zero value lets the layout decide.
type Lane string

const (
	// Main puts a state on the spine, in declaration order.
	Main Lane = "main"
	// Side puts a state beside the spine.
	Side Lane = "side"
)

// Class says where an edge comes from. The zero value means Declared.
type Class string

const (
	// Declared edges are the rows of the machine; only these are drawn as lines.
	Declared Class = "declared"
	// TargetChanged edges are taken when the wanted target is not the attempt's any more.
	TargetChanged Class = "target-changed"
	// Located edges are taken when the bookmark was missing or contradicted.
	Located Class = "located"
	// Migrated edges lead from a state of an older binary to one of this binary.
	Migrated Class = "migrated"
)

// AnyState as the From of an edge stands for every state.
const AnyState = "*"

// Graph is the definition of one lifecycle as data: what a machine is, without its code.
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

// State is one position. Deadline and Poll are for people: a duration as
// time.Duration prints it, or words where the value is computed from facts.
type State struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind,omitempty"`
	Doc  string `json:"doc,omitempty"`
	// Planned marks a Hold that is part of the plan, such as an approval.
	Planned  bool   `json:"planned,omitempty"`
	Deadline string `json:"deadline,omitempty"`
	Poll     string `json:"poll,omitempty"`
	// While says when the bookmark is still true.
	While string `json:"while,omitempty"`
	// Action is the name of what runs on every pass in this state.
	Action string `json:"action,omitempty"`
	// OnTarget is the state entered when the target changes; empty means: carry on.
	OnTarget string `json:"onTarget,omitempty"`
	// Group is the name of the fragment that this state was included with.
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
	// OneWay edges cannot be undone.
	OneWay bool `json:"oneWay,omitempty"`
	// Awaited edges list their guards in what the state waits for.
	Awaited bool `json:"awaited,omitempty"`
	// NewAttempt edges begin a new attempt.
	NewAttempt bool `json:"newAttempt,omitempty"`
	// EvenIfUnknown edges are asked although an earlier guard is unknown.
	EvenIfUnknown bool   `json:"evenIfUnknown,omitempty"`
	Doc           string `json:"doc,omitempty"`
	Class         Class  `json:"class,omitempty"`
}

// Guard is one named predicate and the costly facts it needs.
type Guard struct {
	Name  string   `json:"name"`
	Doc   string   `json:"doc,omitempty"`
	Needs []string `json:"needs,omitempty"`
}

// Record is memory that observation cannot give back, and where it lives.
type Record struct {
	Name string `json:"name"`
	Home string `json:"home,omitempty"`
	Doc  string `json:"doc,omitempty"`
}

// Live is one object's position, drawn over its graph. Every field is optional.
type Live struct {
	// State is where the object stands. A state that the graph does not have is
	// drawn as a plain box that says so.
	State     string    `json:"state,omitempty"`
	EnteredAt time.Time `json:"enteredAt,omitzero"`
	// Now is the time of the picture; times in state and to the deadline count from it.
	Now      time.Time `json:"now,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`
	// Visited counts how often a state was entered in this attempt.
	Visited map[string]int `json:"visited,omitempty"`
	// Walked counts how often an edge was taken in this attempt.
	Walked   []Walk    `json:"walked,omitempty"`
	Waiting  []Waiting `json:"waiting,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	// Durations tells per state how long it took here and how long it usually takes.
	Durations map[string]Durations `json:"durations,omitempty"`
}

// Walk counts one edge.
type Walk struct {
	Event string `json:"event"`
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"`
}

// Waiting is one guard that has not said yes.
type Waiting struct {
	Guard string `json:"guard"`
	Want  string `json:"want,omitempty"`
	Saw   string `json:"saw,omitempty"`
}

// Progress counts what the attempt has done.
type Progress struct {
	Done    int    `json:"done"`
	Total   int    `json:"total"`
	Unit    string `json:"unit,omitempty"`
	Current string `json:"current,omitempty"`
}

// Durations of one state: in this attempt, and as a rule (zero: no history yet).
type Durations struct {
	Spent time.Duration `json:"spentNanoseconds,omitempty"`
	Usual time.Duration `json:"usualNanoseconds,omitempty"`
}

// Document is what JSON writes: every edge of every class, unlike the drawings.
type Document struct {
	Graph
	Live *Live `json:"live,omitempty"`
}

// JSON writes the graph, and the overlay if there is one, indented and with a
// final line end. Text in it is safe to embed in HTML, and absent states and
// edges are empty lists.
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

// drawn edges are lines; the others are summarised in words.
func (e Edge) drawn() bool { return e.class() == Declared && e.From != AnyState }

func (s State) refused() bool { return s.Kind == Hold && !s.Planned }

// Package explain describes machines in words: what a state is, what it waits for, and which transitions leave it.
package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// always is the name of the guard that always says yes.
const always = "always"

// Machine lists the states of a machine.
func Machine(m machines.Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", m.Name, m.Doc)
	for i := range m.States {
		fmt.Fprintf(&b, "  %-4s  %s: %s\n", m.States[i].Kind, m.States[i].Name, m.States[i].Doc)
	}
	return b.String()
}

// State describes a state of a machine, and reports whether the machine has it.
func State(m machines.Graph, name string) (string, bool) {
	for i := range m.States {
		if s := &m.States[i]; s.Name == name {
			return fmt.Sprintf("%s (%s) of %s: %s\n\n", s.Name, kind(s), m.Name, s.Doc) + details(s) + leaving(m, s) + entering(m, name), true
		}
	}
	return "", false
}

// Position describes the persisted state of an object at a time, and what can happen next.
func Position(at catalogue.Position, now time.Time) string {
	var b strings.Builder
	e := at.Entry
	fmt.Fprintf(&b, "%s, lifecycle %s\n\n", at.Object, e.Name)
	row(&b, "state", fmt.Sprintf("%s since %s", e.State, moment(e.EnteredAt.Time, now)))
	if a := e.Attempt; a != nil {
		row(&b, "attempt", fmt.Sprintf("%sto %s, started %s", from(a), quoted(a.To), moment(a.StartedAt.Time, now)))
	}
	if p := e.Progress; p != nil {
		row(&b, "progress", strings.TrimSpace(fmt.Sprintf("%d/%d %s %s", p.Done, p.Total, p.Unit, p.Current)))
	}
	if e.Deadline != nil {
		row(&b, "deadline", fmt.Sprintf("%s; Stalled after that", moment(e.Deadline.Time, now)))
	}
	for i, w := range e.WaitingFor {
		label := ""
		if i == 0 {
			label = "waiting for"
		}
		row(&b, label, fmt.Sprintf("%s: expected %s, observed %s", w.Guard, w.Expected, cmp.Or(w.Observed, "nothing")))
	}
	b.WriteString("\n")
	text, known := State(at.Machine, e.State)
	switch to := at.Machine.Migrations[e.State]; {
	case known:
		b.WriteString(text)
	case to != "":
		fmt.Fprintf(&b, "This binary has no state %s. The next reconcile takes the transition migrated to %s.\n", e.State, to)
	default:
		fmt.Fprintf(&b, "This binary has no state %s. The next reconcile infers the state from what it observes: one of %s.\n",
			e.State, strings.Join(at.Machine.Inferred, ", "))
	}
	return b.String()
}

func from(a *lifecyclev1.Attempt) string {
	if a.From == "" {
		return ""
	}
	return "from " + quoted(a.From) + " "
}

func quoted(text string) string { return `"` + text + `"` }

func kind(s *machines.GraphState) string {
	if s.HoldReason == "" {
		return s.Kind
	}
	return s.Kind + ", " + s.HoldReason
}

// details lists the fields of a state.
func details(s *machines.GraphState) string {
	var b strings.Builder
	row(&b, "reconcile", map[string]string{
		string(states.Rest):                          "there is nothing to do",
		string(states.Work):                          "runs the action until a transition is taken",
		string(states.Wait):                          "waits until a transition is taken",
		string(states.Hold):                          "stops until a user or an admin has acted",
		string(states.Hold) + string(states.Planned): "stops as the spec asks for, until a transition is taken",
		string(states.Hold) + string(states.Advice):  "reports a problem that needs no stop",
	}[s.Kind+s.HoldReason])
	if s.Action != "" {
		row(&b, "action", s.Action+": "+s.ActionDoc)
	}
	if s.Precondition != "" {
		row(&b, "precondition", s.Precondition+"; if not, "+machines.EventPreconditionFailed+" leads to "+s.OnPreconditionFailed)
	}
	switch {
	case s.DeadlineFromFacts:
		row(&b, "deadline", "computed from the facts; Stalled after that")
	case s.Deadline > 0:
		row(&b, "deadline", s.Deadline.String()+" after it was entered; Stalled after that")
	}
	if s.Poll > 0 {
		row(&b, "poll", s.Poll.String())
	}
	if s.OnTargetChange == machines.KeepAttempt {
		row(&b, "new target", "has no effect before the state is left")
	}
	if s.OnlyDeletion {
		row(&b, "deletion", "only an object that is being deleted is in this state")
	}
	return b.String() + "\n"
}

// leaving lists the transitions out of a state.
func leaving(m machines.Graph, s *machines.GraphState) string {
	var b strings.Builder
	b.WriteString("Left by, in the order of evaluation:\n")
	if d := m.Deletion; d != nil && !s.OnlyDeletion && s.Name != d.To {
		fmt.Fprintf(&b, "  %s to %s: the object is being deleted\n", machines.EventDeletionRequested, d.To)
	}
	if s.OnTargetChange != "" && s.OnTargetChange != machines.KeepAttempt {
		fmt.Fprintf(&b, "  %s to %s: the target is another one\n", machines.EventTargetChanged, s.OnTargetChange)
	}
	if s.Invariant != "" && s.Invariant != always {
		fmt.Fprintf(&b, "  %s to %s: the invariant does not hold\n%s", machines.EventInferred, strings.Join(m.Inferred, " or "), guardLines(m, s.Invariant))
	}
	for i := range m.Edges {
		e := &m.Edges[i]
		if e.Class != machines.Declared || e.From != s.Name {
			continue
		}
		fmt.Fprintf(&b, "  %s to %s: %s%s\n", e.Event, e.To, e.Doc, marks(e))
		b.WriteString(guardLines(m, e.Guard))
	}
	return b.String() + "\n"
}

func marks(e *machines.GraphEdge) string {
	var marks []string
	for _, m := range []struct {
		set  bool
		text string
	}{{e.Awaited, "awaited"}, {e.OneWay, "cannot be undone"}, {e.NewAttempt, "starts an attempt"}, {e.EvenIfUnknown, "even if an earlier guard is unknown"}, {e.Quiet, "without an event"}} {
		if m.set {
			marks = append(marks, m.text)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	return " (" + strings.Join(marks, ", ") + ")"
}

// guardLines lists the expectations of the guards of a combination, after the combination.
func guardLines(m machines.Graph, combined string) string {
	var b strings.Builder
	for _, name := range regexp.MustCompile(`[a-z0-9][a-z0-9-]*`).FindAllString(combined, -1) {
		for _, g := range m.Guards {
			if g.Name != name {
				continue
			}
			if b.Len() == 0 && combined != name {
				fmt.Fprintf(&b, "      if %s\n", combined)
			}
			fmt.Fprintf(&b, "      %s: %s\n", name, cmp.Or(g.Expected, g.Doc))
		}
	}
	return b.String()
}

// entering lists the transitions into a state.
func entering(m machines.Graph, name string) string {
	var b strings.Builder
	b.WriteString("Entered by:\n")
	for i := range m.Edges {
		if e := &m.Edges[i]; e.To == name {
			fmt.Fprintf(&b, "  %s from %s\n", e.Event, cmp.Or(e.From, "any state"))
		}
	}
	return b.String()
}

func row(b *strings.Builder, label, text string) {
	if text != "" {
		fmt.Fprintf(b, "  %-12s  %s\n", label, text)
	}
}

// moment formats a time and its distance.
func moment(at, now time.Time) string {
	distance := "in " + at.Sub(now).Round(time.Second).String()
	if !at.After(now) {
		distance = now.Sub(at).Round(time.Second).String() + " ago"
	}
	return fmt.Sprintf("%s (%s)", at.UTC().Format(time.RFC3339), distance)
}

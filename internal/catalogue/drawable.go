package catalogue

import (
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// Drawable converts the definition of a machine to the input of package graph.
func Drawable(m machines.Graph) graph.Graph {
	g := graph.Graph{Name: m.Name, Doc: m.Doc, Digest: m.Digest}
	if len(m.Inferred) > 0 {
		g.Initial = m.Inferred[0]
	}
	for _, s := range m.States {
		g.States = append(g.States, stateOf(s))
	}
	for _, e := range m.Edges {
		from := e.From
		if from == "" {
			from = graph.AnyState
		}
		g.Edges = append(g.Edges, graph.Edge{
			Event: e.Event, From: from, To: e.To, Guard: e.Guard, OneWay: e.OneWay, Awaited: e.Awaited,
			NewAttempt: e.NewAttempt, EvenIfUnknown: e.EvenIfUnknown, Doc: e.Doc, Class: classOf(e.Class),
		})
	}
	for _, one := range m.Guards {
		g.Guards = append(g.Guards, graph.Guard{Name: one.Name, Doc: one.Doc, Needs: one.Needs})
	}
	for _, r := range m.Records {
		g.Records = append(g.Records, graph.Record{Name: r.Name, Home: r.Home, Doc: r.Doc})
	}
	return g
}

func stateOf(s machines.GraphState) graph.State {
	out := graph.State{
		Name: s.Name, Kind: graph.Kind(s.Kind), Doc: s.Doc, Group: s.Part, Action: s.Action, Invariant: s.Invariant,
		Planned: s.Kind == string(states.Hold) && s.HoldReason == string(states.Planned),
	}
	switch {
	case s.DeadlineFromFacts:
		out.Deadline = "computed"
	case s.Deadline > 0:
		out.Deadline = s.Deadline.String()
	}
	if s.Poll > 0 {
		out.Poll = s.Poll.String()
	}
	if s.OnTargetChange != machines.KeepAttempt {
		out.OnTargetChange = s.OnTargetChange
	}
	return out
}

func classOf(c machines.Class) graph.Class {
	switch c {
	case machines.TargetChanged:
		return graph.TargetChanged
	case machines.Inferred:
		return graph.Inferred
	case machines.Migrated:
		return graph.Migrated
	case machines.DeletionRequested:
		return graph.DeletionRequested
	default:
		return graph.Declared
	}
}

// Live converts the persisted state of one object's lifecycle. It counts only the visits of the current attempt.
func Live(entry *lifecyclev1.Lifecycle, now time.Time) *graph.Live {
	live := &graph.Live{State: entry.State, EnteredAt: entry.EnteredAt.Time, Now: now, Visited: map[string]int{}}
	if entry.Deadline != nil {
		live.Deadline = entry.Deadline.Time
	}
	attempt := ""
	if entry.Attempt != nil {
		attempt = entry.Attempt.ID
	}
	for _, h := range entry.History {
		if h.Attempt != attempt {
			continue
		}
		times := max(int(h.Times), 1)
		live.Visited[h.To] += times
		same := func(w graph.Walk) bool { return w.Event == h.Event && w.From == h.From && w.To == h.To }
		if i := slices.IndexFunc(live.Walked, same); i >= 0 {
			live.Walked[i].Count += times
			continue
		}
		live.Walked = append(live.Walked, graph.Walk{Event: h.Event, From: h.From, To: h.To, Count: times})
	}
	for _, w := range entry.WaitingFor {
		live.Waiting = append(live.Waiting, graph.Waiting{Guard: w.Guard, Expected: w.Expected, Observed: w.Observed})
	}
	if p := entry.Progress; p != nil {
		live.Progress = &graph.Progress{Done: int(p.Done), Total: int(p.Total), Unit: p.Unit, Current: p.Current}
	}
	return live
}

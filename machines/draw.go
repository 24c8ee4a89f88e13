package machines

import (
	"slices"
	"sort"

	"github.com/detent-dev/detent/transitions"
)

// graphOf returns the definition as plain data, including the edges that no row declares.
func graphOf[F, M, E any](def *Definition[F, M, E]) Graph {
	g := Graph{
		Name: def.Name, Doc: def.Doc, Needs: def.Needs, Records: def.Records,
		Located: slices.Clone(def.Locate.States), Migrations: def.Migrations, Unit: def.Progress.Unit, MaxEdges: def.MaxEdges,
	}
	for i := range def.States {
		g.States = append(g.States, drawState(&def.States[i]))
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		g.Edges = append(g.Edges, GraphEdge{
			Event: t.Event, From: t.From, To: t.To, Guard: t.guard().Name, Doc: t.Doc,
			OneWay: t.OneWay, NewAttempt: t.NewAttempt, Awaited: t.Awaited, EvenIfUnknown: t.EvenIfUnknown, Class: Declared,
		})
	}
	for i := range def.States {
		s := &def.States[i]
		if s.OnTarget != "" && s.OnTarget != CarryOn {
			g.Edges = append(g.Edges, GraphEdge{Event: EventTargetChanged, From: s.Name, To: s.OnTarget, NewAttempt: true, Class: TargetChanged})
		}
		if s.Do != nil && s.Do.TurnBack != "" {
			g.Edges = append(g.Edges, GraphEdge{Event: EventTurnedBack, From: s.Name, To: s.Do.TurnBack, Guard: s.Do.Before.Name, Class: TurnedBack})
		}
	}
	for _, to := range append(slices.Clone(def.Locate.States), Locating) {
		g.Edges = append(g.Edges, GraphEdge{Event: EventLocated, To: to, Class: Located})
	}
	for _, old := range sorted(def.Migrations) {
		g.Edges = append(g.Edges, GraphEdge{Event: EventMigrated, From: old, To: def.Migrations[old], Class: Migrated})
	}
	g.Guards = drawGuards(def)
	return g
}

func drawState[F, M, E any](s *State[F, M, E]) GraphState {
	out := GraphState{
		Name: s.Name, Kind: string(s.Kind), Stance: string(s.Stance), Doc: s.Doc, Part: s.Part, Deadline: s.Deadline,
		DeadlineFromFacts: s.DeadlineAt != nil, Poll: s.Poll, While: s.While.Name, OnTarget: s.OnTarget,
	}
	if s.Do != nil {
		out.Action, out.ActionDoc, out.Before, out.TurnBack = s.Do.Name, s.Do.Doc, s.Do.Before.Name, s.Do.TurnBack
	}
	return out
}

func drawGuards[F, M, E any](def *Definition[F, M, E]) []GraphGuard {
	seen := map[string]GraphGuard{}
	guards(def, func(_ string, g transitions.Guard[F, M], _ bool) {
		for _, l := range g.Leaves() {
			drawn := GraphGuard{Name: l.Name, Doc: l.Doc, Want: l.Want}
			for _, n := range l.Needs {
				drawn.Needs = append(drawn.Needs, string(n))
			}
			seen[l.Name] = drawn
		}
	})
	out := make([]GraphGuard, 0, len(seen))
	for _, name := range sorted(seen) {
		out = append(out, seen[name])
	}
	return out
}

func sorted[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

package machines

import (
	"slices"
	"sort"

	"github.com/detent-dev/detent/transitions"
)

// graphOf returns the definition as plain data, including the edges that no row declares.
func graphOf[F, D, E any](def *Definition[F, D, E]) Graph {
	g := Graph{
		Name: def.Name, Doc: def.Doc, Needs: def.Needs, Records: def.Records,
		Inferred: slices.Clone(def.Infer.States), Migrations: def.Migrations, Unit: def.Progress.Unit, MaxTransitionsWithoutProgress: def.MaxTransitionsWithoutProgress,
	}
	only := onlyDeletionStates(def)
	for i := range def.States {
		state := drawState(&def.States[i])
		state.OnlyDeletion = only[state.Name]
		g.States = append(g.States, state)
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		g.Edges = append(g.Edges, GraphEdge{
			Event: t.Event, From: t.From, To: t.To, Guard: t.guard().Name, Doc: t.Doc,
			OneWay: t.OneWay, NewAttempt: t.NewAttempt, Awaited: t.Awaited, EvenIfUnknown: t.EvenIfUnknown, Quiet: t.Quiet, Class: Declared,
		})
	}
	for i := range def.States {
		s := &def.States[i]
		if s.OnTargetChange != "" && s.OnTargetChange != KeepAttempt {
			g.Edges = append(g.Edges, GraphEdge{Event: EventTargetChanged, From: s.Name, To: s.OnTargetChange, NewAttempt: true, Class: TargetChanged})
		}
		if s.Action != nil && s.Action.OnPreconditionFailed != "" {
			g.Edges = append(g.Edges, GraphEdge{Event: EventPreconditionFailed, From: s.Name, To: s.Action.OnPreconditionFailed, Guard: s.Action.Precondition.Name, Class: PreconditionFailed})
		}
	}
	for _, to := range append(slices.Clone(def.Infer.States), Inferring) {
		g.Edges = append(g.Edges, GraphEdge{Event: EventInferred, To: to, Class: Inferred})
	}
	if !def.Deletion.IsZero() {
		deletion := def.Deletion
		g.Deletion = &deletion
		g.Edges = append(g.Edges, GraphEdge{Event: EventDeletionRequested, To: deletion.To, NewAttempt: true, Class: DeletionRequested})
	}
	for _, old := range sorted(def.Migrations) {
		g.Edges = append(g.Edges, GraphEdge{Event: EventMigrated, From: old, To: def.Migrations[old], Class: Migrated})
	}
	g.Guards = drawGuards(def)
	return g
}

func drawState[F, D, E any](s *State[F, D, E]) GraphState {
	out := GraphState{
		Name: s.Name, Kind: string(s.Kind), HoldReason: string(s.HoldReason), Doc: s.Doc, Part: s.Part, Deadline: s.Deadline,
		DeadlineFromFacts: s.DeadlineAt != nil, Poll: s.Poll, Invariant: s.Invariant.Name, OnTargetChange: s.OnTargetChange,
	}
	if s.Action != nil {
		out.ResolvedBy = string(s.Action.ResolvedBy)
		out.Action, out.ActionDoc, out.Precondition, out.OnPreconditionFailed = s.Action.Name, s.Action.Doc, s.Action.Precondition.Name, s.Action.OnPreconditionFailed
	}
	return out
}

func drawGuards[F, D, E any](def *Definition[F, D, E]) []GraphGuard {
	seen := map[string]GraphGuard{}
	guards(def, func(_ string, g transitions.Guard[F, D], _ bool) {
		for _, l := range g.Leaves() {
			drawn := GraphGuard{Name: l.Name, Doc: l.Doc, Expected: l.Expected}
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

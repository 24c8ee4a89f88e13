package machines

import "github.com/detent-dev/detent/states"

// checkReach finds states that no transition leads to. Inferred edges are left out, because they lead to any state that Infer
// may return: these states and the one that a deletion leads to are the roots. If the name of a state is misspelled, nothing is reported, because that may be the
// missing transition.
func checkReach[F, D, E any](def *Definition[F, D, E], declared map[string]*State[F, D, E], found *Findings) {
	next := ways(def)
	reached := map[string]bool{}
	queue := append([]string(nil), def.Infer.States...)
	if def.Deletion.To != "" {
		queue = append(queue, def.Deletion.To)
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if declared[name] == nil {
			return
		}
		if !reached[name] {
			reached[name] = true
			queue = append(queue, next[name]...)
		}
	}
	for i := range def.States {
		for _, to := range next[def.States[i].Name] {
			if declared[to] == nil {
				return
			}
		}
	}
	for i := range def.States {
		if s := &def.States[i]; !reached[s.Name] && len(reached) > 0 {
			found.add(ErrUnreachable, "state "+s.Name, "declare a transition to it from a state that Infer returns, or drop it")
		}
	}
}

// checkWaysOut finds states that cannot be left. If a transition leaves a misspelled state, nothing is reported, because that
// may be the missing way out.
func checkWaysOut[F, D, E any](def *Definition[F, D, E], declared map[string]*State[F, D, E], found *Findings) {
	awaited, out := map[string]bool{}, map[string]bool{}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		if declared[t.From] == nil {
			return
		}
		out[t.From] = out[t.From] || t.To != t.From
		awaited[t.From] = awaited[t.From] || t.Awaited
	}
	for i := range def.States {
		s := &def.States[i]
		where := "state " + s.Name
		switch {
		case out[s.Name] && s.Kind == states.Wait && !awaited[s.Name]:
			found.add(ErrNothingAwaited, where, "mark the transition it waits for as Awaited")
		case out[s.Name]:
		case s.Name == def.Deletion.End:
		case s.Kind == states.Rest:
			found.add(ErrRestForEver, where, "declare a transition that leaves it")
		case s.Kind == states.Work, s.Kind == states.Wait:
			found.add(ErrNoWayOut, where, "give it a transition")
		case s.Kind == states.Hold && (s.OnTargetChange == KeepAttempt || s.OnTargetChange == s.Name):
			found.add(ErrNoWayOut, where, "give it a transition, or let a changed target lead out in OnTargetChange")
		}
	}
}

// ways returns the successors of each state, including those after a changed target and after a failed precondition.
func ways[F, D, E any](def *Definition[F, D, E]) map[string][]string {
	next := map[string][]string{}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		next[t.From] = append(next[t.From], t.To)
	}
	for i := range def.States {
		s := &def.States[i]
		if s.OnTargetChange != "" && s.OnTargetChange != KeepAttempt {
			next[s.Name] = append(next[s.Name], s.OnTargetChange)
		}
		if s.Action != nil && s.Action.OnPreconditionFailed != "" {
			next[s.Name] = append(next[s.Name], s.Action.OnPreconditionFailed)
		}
	}
	return next
}

package verification

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// maxCycles limits the search. The report of a machine with more cycles would not be readable.
const maxCycles = 10000

// edge of a cycle: a transition, or the failed precondition of an action.
type edge[F, D any] struct {
	event, from, to string
	// asks are the conditions under which the edge is taken: its guard says yes, and no earlier exit does.
	asks []demand[F, D]
}

// demand on a guard: that it says yes, or that it does not.
type demand[F, D any] struct {
	guard transitions.Guard[F, D]
	yes   bool
}

// cycles finds loops that contain no wait: none of their transitions is awaited, so that no change of the actual state is
// required, and, judged by their names, all their guards may say yes at the same time.
func (v *verifier[F, D, E]) cycles() {
	edges := v.hasty()
	var path []*edge[F, D]
	found := 0
	var walk func(from, start string)
	walk = func(at, start string) {
		for _, e := range edges[at] {
			if found >= maxCycles {
				return
			}
			if e.to == start {
				found++
				v.cycle(append(slices.Clone(path), e))
				continue
			}
			// A cycle is found only from its first state in the order of declaration.
			seen := slices.ContainsFunc(path, func(p *edge[F, D]) bool { return p.from == e.to })
			if seen || v.place(e.to) < v.place(start) {
				continue
			}
			path = append(path, e)
			walk(e.to, start)
			path = path[:len(path)-1]
		}
	}
	for i := range v.def.States {
		walk(v.def.States[i].Name, v.def.States[i].Name)
	}
}

func (v *verifier[F, D, E]) place(state string) int {
	return slices.IndexFunc(v.def.States, func(s machines.State[F, D, E]) bool { return s.Name == state })
}

// hasty returns the edges that wait for nothing, by the state they lead from.
func (v *verifier[F, D, E]) hasty() map[string][]*edge[F, D] {
	out := map[string][]*edge[F, D]{}
	for i := range v.def.States {
		s := &v.def.States[i]
		var earlier []demand[F, D]
		for _, n := range v.exits(s.Name) {
			t := &v.def.Transitions[n]
			g := guard(t)
			if !t.Awaited || g.Certain() {
				asks := append(slices.Clone(earlier), demand[F, D]{g, true})
				out[s.Name] = append(out[s.Name], &edge[F, D]{t.Event, t.From, t.To, asks})
			}
			earlier = append(earlier, demand[F, D]{g, false})
		}
		if s.Action != nil && !s.Action.Precondition.IsZero() {
			asks := append(slices.Clone(earlier), demand[F, D]{s.Action.Precondition, false})
			out[s.Name] = append(out[s.Name], &edge[F, D]{machines.EventPreconditionFailed, s.Name, s.Action.OnPreconditionFailed, asks})
		}
	}
	return out
}

// cycle judges one loop. Guards that contradict each other by name rule it out. With a domain, it is a finding only if some
// facts go round it.
func (v *verifier[F, D, E]) cycle(path []*edge[F, D]) {
	v.results[Livelock].Looked++
	var asks []demand[F, D]
	for _, e := range path {
		asks = append(asks, e.asks...)
	}
	if !possible(asks, map[string]transitions.Answer{}) {
		return
	}
	var steps []step
	for _, e := range path {
		steps = append(steps, step{e.event, e.from, e.to})
	}
	where := rounded(steps)
	if v.reported[string(Livelock)+where] {
		return // the walk over some facts reported it
	}
	if v.facts > 0 {
		v.note(Livelock, where, "nothing on it is awaited and no guard's name rules it out; it loops on none of the facts")
		return
	}
	v.find(Livelock, where, "nothing on it is awaited, and all its guards may say yes at the same time; "+v.bound(steps),
		"let one of its guards exclude another one, mark as Awaited the transition that needs a change of the actual state, or give a domain of facts on which it does not loop")
}

// rounded returns the name of a cycle.
func rounded(steps []step) string {
	var b strings.Builder
	b.WriteString(steps[0].from)
	for _, s := range steps {
		fmt.Fprintf(&b, " -%s-> %s", s.event, s.to)
	}
	return b.String()
}

// bound returns what ends the loop.
func (v *verifier[F, D, E]) bound(steps []step) string {
	for _, one := range steps {
		if s := v.states[one.to]; s != nil && s.Resting() {
			return fmt.Sprintf("nothing ends it, because the count of transitions restarts in %s", s.Name)
		}
	}
	return fmt.Sprintf("after %d transitions without progress it is Stalled", v.def.MaxTransitionsWithoutProgress)
}

// possible reports whether the leaves can answer so that every demand is met. A leaf gives the same answer wherever it is used.
func possible[F, D any](asks []demand[F, D], said map[string]transitions.Answer) bool {
	open := ""
	for i := range asks {
		answer, undecided := suppose(&asks[i].guard, said)
		switch {
		case answer == transitions.Unknown:
			if open == "" {
				open = undecided
			}
		case (answer == transitions.Yes) != asks[i].yes:
			return false
		}
	}
	if open == "" {
		return true
	}
	for _, answer := range []transitions.Answer{transitions.Yes, transitions.No} {
		said[open] = answer
		if possible(asks, said) {
			delete(said, open)
			return true
		}
	}
	delete(said, open)
	return false
}

// suppose returns the answer of a guard for the supposed answers of its leaves, or the name of a leaf that it depends on.
func suppose[F, D any](g *transitions.Guard[F, D], said map[string]transitions.Answer) (transitions.Answer, string) {
	switch {
	case g.Certain():
		return transitions.Yes, ""
	case !g.Combined():
		if answer, ok := said[g.Name]; ok {
			return answer, ""
		}
		return transitions.Unknown, g.Name
	}
	if inner, ok := g.Negated(); ok {
		answer, open := suppose(&inner, said)
		return answer.Not(), open
	}
	decides := transitions.No
	if g.Alternative() {
		decides = transitions.Yes
	}
	result, open := decides.Not(), ""
	for _, part := range g.Parts() {
		answer, undecided := suppose(&part, said)
		if answer == decides {
			return decides, ""
		}
		if answer == transitions.Unknown && open == "" {
			result, open = transitions.Unknown, undecided
		}
	}
	return result, open
}

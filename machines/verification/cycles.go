package verification

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// maxCycles bounds the search: a machine that has more is beyond reading anyway.
const maxCycles = 10000

// edge of a cycle: a transition, or an action that is turned back.
type edge[F, M any] struct {
	event, from, to string
	// asks are what must hold for it to be taken: its guard, and that no earlier exit says yes.
	asks []demand[F, M]
}

// demand on a guard: that it says yes, or that it does not.
type demand[F, M any] struct {
	guard transitions.Guard[F, M]
	yes   bool
}

// cycles looks for edges that go round without a wait: none of them is awaited, so that nothing in the world need happen, and
// their guards may all say yes in one world, as far as their names tell.
func (v *verifier[F, M, E]) cycles() {
	edges := v.hasty()
	var path []*edge[F, M]
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
			// A cycle is found from its first state in the order of declaration only.
			seen := slices.ContainsFunc(path, func(p *edge[F, M]) bool { return p.from == e.to })
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

func (v *verifier[F, M, E]) place(state string) int {
	return slices.IndexFunc(v.def.States, func(s machines.State[F, M, E]) bool { return s.Name == state })
}

// hasty are the edges that wait for nothing, by the state they lead from.
func (v *verifier[F, M, E]) hasty() map[string][]*edge[F, M] {
	out := map[string][]*edge[F, M]{}
	for i := range v.def.States {
		s := &v.def.States[i]
		var earlier []demand[F, M]
		for _, n := range v.exits(s.Name) {
			t := &v.def.Transitions[n]
			g := guard(t)
			if !t.Awaited || g.Certain() {
				asks := append(slices.Clone(earlier), demand[F, M]{g, true})
				out[s.Name] = append(out[s.Name], &edge[F, M]{t.Event, t.From, t.To, asks})
			}
			earlier = append(earlier, demand[F, M]{g, false})
		}
		if s.Do != nil && !s.Do.Before.IsZero() {
			asks := append(slices.Clone(earlier), demand[F, M]{s.Do.Before, false})
			out[s.Name] = append(out[s.Name], &edge[F, M]{machines.EventTurnedBack, s.Name, s.Do.TurnBack, asks})
		}
	}
	return out
}

// cycle judges one: names that contradict one another break it, and so may what the guards mean, over the domain.
func (v *verifier[F, M, E]) cycle(path []*edge[F, M]) {
	v.results[Livelock].Looked++
	var asks []demand[F, M]
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
	if v.told[string(Livelock)+where] {
		return // some facts go round it
	}
	if v.facts > 0 {
		v.note(Livelock, where, "nothing on it is awaited and no name breaks it; in none of the facts does it go round")
		return
	}
	v.find(Livelock, where, "nothing on it is awaited, and all its guards may say yes in one world; "+v.bound(steps),
		"let one of its guards deny what another one asks, mark as Awaited what the world must do, or give a domain of facts that shows it never goes round")
}

// rounded is the name of a cycle.
func rounded(steps []step) string {
	var b strings.Builder
	b.WriteString(steps[0].from)
	for _, s := range steps {
		fmt.Fprintf(&b, " -%s-> %s", s.event, s.to)
	}
	return b.String()
}

// bound says what ends going round.
func (v *verifier[F, M, E]) bound(steps []step) string {
	for _, one := range steps {
		if s := v.states[one.to]; s != nil && s.Resting() {
			return fmt.Sprintf("nothing ends it, since the transitions are counted anew in %s", s.Name)
		}
	}
	return fmt.Sprintf("after %d transitions without progress it shows as Stalled", v.def.MaxEdges)
}

// possible says whether guards can answer so that every demand is met: each leaf, by its name, says the same wherever it stands.
func possible[F, M any](asks []demand[F, M], said map[string]transitions.Answer) bool {
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

// suppose answers for a guard from what its leaves are supposed to say, or names a leaf that it hangs on.
func suppose[F, M any](g *transitions.Guard[F, M], said map[string]transitions.Answer) (transitions.Answer, string) {
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

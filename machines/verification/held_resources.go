package verification

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/states"
)

// heldResources follows each held resource along every path: from the action that acquires it, over declared, target-changed,
// precondition-failed and inferred edges, until a transition releases it. A Rest or Hold that can be entered with it must
// declare that in Retains.
func (v *verifier[F, D, E]) heldResources() {
	for _, h := range v.def.HeldResources {
		v.results[Release].Looked++
		steps := v.carried(h.Name)
		from := map[string]step{} // how a state was first entered with the resource held
		var queue []string
		enter := func(s step) {
			if _, seen := from[s.to]; !seen {
				from[s.to] = s
				queue = append(queue, s.to)
			}
		}
		for i := range v.def.States {
			if s := &v.def.States[i]; s.Action != nil && slices.Contains(s.Action.Acquires, h.Name) {
				enter(step{from: "", to: s.Name})
			}
		}
		for ; len(queue) > 0; queue = queue[1:] {
			for _, s := range steps[queue[0]] {
				enter(s)
			}
		}
		v.left(h, from)
	}
}

// step is one edge that a lifecycle can take.
type step struct{ event, from, to string }

// carried returns the edges that do not release the resource, by the state they lead from.
func (v *verifier[F, D, E]) carried(resource string) map[string][]step {
	out := map[string][]step{}
	add := func(s step) { out[s.from] = append(out[s.from], s) }
	for i := range v.def.Transitions {
		if t := &v.def.Transitions[i]; !slices.Contains(t.Releases, resource) {
			add(step{t.Event, t.From, t.To})
		}
	}
	for i := range v.def.States {
		s := &v.def.States[i]
		if s.OnTargetChange != "" && s.OnTargetChange != machines.KeepAttempt {
			add(step{machines.EventTargetChanged, s.Name, s.OnTargetChange})
		}
		if s.Action != nil && s.Action.OnPreconditionFailed != "" {
			add(step{machines.EventPreconditionFailed, s.Name, s.Action.OnPreconditionFailed})
		}
		if to := v.def.Deletion.To; to != "" {
			add(step{machines.EventDeletionRequested, s.Name, to})
		}
		for _, to := range v.def.Infer.States {
			// An earlier manager may have acquired it in a state that was lost and is inferred.
			if !slices.Contains(v.def.Infer.Sees, resource) || !ends(v.states[to].Kind) {
				add(step{machines.EventInferred, s.Name, to})
			}
		}
	}
	return out
}

func ends(kind states.Kind) bool { return kind == states.Rest || kind == states.Hold }

// left reports the states that end a path with a resource still held.
func (v *verifier[F, D, E]) left(h machines.HeldResource, from map[string]step) {
	for i := range v.def.States {
		s := &v.def.States[i]
		if _, held := from[s.Name]; !held || !ends(s.Kind) || slices.Contains(s.Retains, h.Name) {
			continue
		}
		if last := from[s.Name]; last.event == machines.EventInferred {
			v.find(Release, fmt.Sprintf("%s in %s", h.Name, s.Name), "Infer may return this state while it is still held, because Find does not observe it",
				"let Find observe whether it is held, and name it in Infer's Sees")
			continue
		}
		v.find(Release, fmt.Sprintf("%s in %s", h.Name, s.Name), "still held after: "+v.path(from, s.Name),
			"enter a state first whose action gives it back, and name it in Releases of the transition whose guard observes that; or name it in Retains of this state")
	}
}

// path returns how a state is entered while a resource is held.
func (v *verifier[F, D, E]) path(from map[string]step, to string) string {
	var names []string
	for at := from[to]; at.from != ""; at = from[at.from] {
		names = append(names, fmt.Sprintf("%s -> %s", at.event, at.to))
	}
	start := to
	if len(names) > 0 {
		for at := from[to]; at.from != ""; at = from[at.from] {
			start = at.from
		}
		names = append(names, start)
	}
	slices.Reverse(names)
	return strings.Join(names, ", ")
}

// released checks Releases against the facts: a resource must not be held where the transition that releases it says yes.
func (v *verifier[F, D, E]) released(d *domain.Domain[F, D], facts *F, name func() string, t *machines.Transition[F, D]) {
	if d.Held == nil || len(t.Releases) == 0 {
		return
	}
	for _, held := range d.Held(facts) {
		if slices.Contains(t.Releases, held) {
			v.findOnce(Release, "transition "+t.Event+" from "+t.From, fmt.Sprintf("it says yes although %s is held: %s", held, name()),
				"let its guard observe that it was released")
		}
	}
}

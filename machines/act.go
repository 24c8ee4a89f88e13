package machines

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/transitions"
)

func (l *evaluation[F, D, FX, E]) Idle() (idle bool) {
	err := l.guarded(func() { idle = l.idle() })
	return err == nil && idle // Act reports a defect
}

func (l *evaluation[F, D, FX, E]) idle() bool {
	n := l.machine.states[l.entry.State]
	for _, need := range n.Action.Needs {
		if !slices.Contains(l.needs, need) {
			return false
		}
	}
	_, wanted, err := l.wantedEffects(n)
	return err == nil && len(wanted) == 0
}

func (l *evaluation[F, D, FX, E]) Act() ActionResult[E] {
	var a ActionResult[E]
	if err := l.guarded(func() { a = l.act() }); err != nil {
		return ActionResult[E]{Err: err}
	}
	return a
}

func (l *evaluation[F, D, FX, E]) act() ActionResult[E] {
	n := l.machine.states[l.entry.State]
	data, wanted, err := l.wantedEffects(n)
	if err != nil || len(wanted) == 0 && n.Action.Precondition.IsZero() {
		return ActionResult[E]{Err: err}
	}
	if !n.Action.Precondition.IsZero() {
		l.running = running{what: "Precondition", of: n.Name}
		switch answer := n.Action.Precondition.Verdict(&l.facts, data).Answer; {
		case answer == transitions.Unknown: // an action without effects, too: what they depend on may not be readable
			return ActionResult[E]{Blocked: n.Action.Precondition.Blockers(&l.facts, data)}
		case len(wanted) == 0:
			return ActionResult[E]{}
		case answer == transitions.No:
			return ActionResult[E]{PreconditionFailed: &Move{
				Event: EventPreconditionFailed, From: n.Name, To: n.Action.OnPreconditionFailed, Attempt: l.entry.Attempt,
			}, Blocked: n.Action.Precondition.Blockers(&l.facts, data)}
		}
	}
	out := ActionResult[E]{}
	if out.Records, err = l.records(n, data); err != nil {
		return ActionResult[E]{Err: err}
	}
	for _, fx := range wanted {
		out.Effects = append(out.Effects, l.effect(fx))
	}
	return out
}

// wantedEffects returns the effects of the state's action on these facts, before its precondition is evaluated.
func (l *evaluation[F, D, FX, E]) wantedEffects(n *node[F, D, FX]) (data D, wanted []FX, err error) {
	l.running = running{what: "action", of: n.Name}
	if data, err = l.machine.def.Data.Decode(l.entry.Data); err != nil {
		return data, nil, fmt.Errorf("decoding the data of %s: %w", n.Name, err)
	}
	l.running = running{what: "action " + n.Action.Name}
	return data, n.Action.Effects(&l.facts, data), nil
}

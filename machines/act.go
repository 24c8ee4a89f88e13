package machines

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/transitions"
)

func (l *look[F, M, FX, E]) Idle() (idle bool) {
	err := l.guarded(func() { idle = l.idle() })
	return err == nil && idle // Act reports a defect
}

func (l *look[F, M, FX, E]) idle() bool {
	n := l.machine.states[l.entry.State]
	for _, need := range n.Do.Needs {
		if !slices.Contains(l.asked, need) {
			return false
		}
	}
	_, wanted, err := l.wanted(n)
	return err == nil && len(wanted) == 0
}

func (l *look[F, M, FX, E]) Act() Acting[E] {
	var a Acting[E]
	if err := l.guarded(func() { a = l.act() }); err != nil {
		return Acting[E]{Err: err}
	}
	return a
}

func (l *look[F, M, FX, E]) act() Acting[E] {
	n := l.machine.states[l.entry.State]
	memo, wanted, err := l.wanted(n)
	if err != nil || len(wanted) == 0 {
		return Acting[E]{Err: err}
	}
	if !n.Do.Before.IsZero() {
		l.asking = asking{what: "Before", of: n.Name}
		switch n.Do.Before.Verdict(&l.facts, memo).Answer {
		case transitions.Yes:
		case transitions.No:
			return Acting[E]{TurnBack: &Move{
				Event: EventTurnedBack, From: n.Name, To: n.Do.TurnBack, Attempt: l.entry.Attempt,
			}, Blocked: n.Do.Before.Blockers(&l.facts, memo)}
		case transitions.Unknown:
			return Acting[E]{Blocked: n.Do.Before.Blockers(&l.facts, memo)}
		}
	}
	out := Acting[E]{}
	for _, fx := range wanted {
		out.Effects = append(out.Effects, l.effect(fx))
	}
	return out
}

// wanted returns the effects of the state's action on these facts, before its precondition is evaluated.
func (l *look[F, M, FX, E]) wanted(n *node[F, M, FX]) (memo M, wanted []FX, err error) {
	l.asking = asking{what: "action", of: n.Name}
	if memo, err = l.machine.def.Memo.Decode(l.entry.Memo); err != nil {
		return memo, nil, fmt.Errorf("decoding the memo of %s: %w", n.Name, err)
	}
	l.asking = asking{what: "action " + n.Do.Name}
	return memo, n.Do.Do(&l.facts, memo), nil
}

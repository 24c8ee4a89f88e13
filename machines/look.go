package machines

import (
	"fmt"
	"maps"
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// look is the evaluation of one lifecycle on the facts of one snapshot.
type look[F, M, FX, E any] struct {
	machine *Machine[F, M, FX]
	name    string
	effect  func(FX) E
	uid     string
	entry   *lifecyclev1.Lifecycle
	asked   []transitions.Need
	now     time.Time
	scale   float64
	facts   F
	err     error
	// asking names the part of the machine that is being evaluated, for the error of a panic.
	asking asking
}

// asking is a part of the machine, and the state or transition that it belongs to. Its text is composed only for an error.
type asking struct{ what, of, from string }

func (a asking) String() string {
	switch {
	case a.of == "":
		return a.what
	case a.from == "":
		return a.what + " of " + a.of
	default:
		return a.what + " of " + a.of + " from " + a.from
	}
}

func defect(what string, p any) error {
	if err, ok := p.(error); ok {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: panic: %v", what, p)
}

// guarded calls run and returns a panic as an error that names the guard, choice or measure that was being evaluated.
func (l *look[F, M, FX, E]) guarded(run func()) (err error) {
	if l.err != nil {
		return l.err
	}
	defer func() {
		if p := recover(); p != nil {
			err = defect("machine "+l.machine.def.Name+", "+l.asking.String(), p)
		}
	}()
	run()
	return nil
}

func (l *look[F, M, FX, E]) Decide() Decision {
	var d Decision
	if err := l.guarded(func() { d = l.decide() }); err != nil {
		return Decision{Err: err}
	}
	return d
}

// decide resolves the persisted state and then evaluates the transitions of the state in order.
func (l *look[F, M, FX, E]) decide() Decision {
	if l.entry == nil {
		return l.locate("")
	}
	n, known := l.machine.states[l.entry.State]
	if !known {
		if to, ok := l.machine.def.Migrations[l.entry.State]; ok {
			return Decision{Move: &Move{Event: EventMigrated, From: l.entry.State, To: to, Memo: l.entry.Memo, Attempt: l.entry.Attempt}}
		}
		return l.locate(l.entry.State)
	}
	memo, err := l.machine.def.Memo.Decode(l.entry.Memo)
	if err != nil || n.Name == Locating {
		return l.locate(n.Name)
	}
	aim := l.aim()
	if move := l.retarget(n, aim); move != nil {
		return Decision{Move: move}
	}
	l.asking = asking{what: "While", of: n.Name}
	bookmark := transitions.Allow()
	if !n.While.IsZero() {
		bookmark = n.While.Verdict(&l.facts, memo)
	}
	if bookmark.Answer == transitions.No {
		d := l.relocate(n.Name)
		d.Shadowed = l.shadowed(n, memo, aim)
		return d
	}
	move, blocked := l.choose(n, memo, aim)
	believed := bookmark.Answer == transitions.Yes
	return Decision{Move: move, MayAct: believed, Decided: believed && !aim.Unknown && !(blocked && n.Resting())}
}

// shadowed returns the transition that While prevents. Its guard may rely on While, so that a panic here is no defect.
func (l *look[F, M, FX, E]) shadowed(n *node[F, M, FX], memo M, aim Aim) (event string) {
	defer func() {
		if recover() != nil {
			event = ""
		}
	}()
	if exit, _ := l.choose(n, memo, aim); exit != nil {
		event = exit.Event
	}
	return event
}

func (l *look[F, M, FX, E]) aim() Aim {
	l.asking = asking{what: "target"}
	return l.machine.def.Target.Of(&l.facts)
}

// retarget returns the implicit first transition of every state without CarryOn: the target differs from the attempt's.
func (l *look[F, M, FX, E]) retarget(n *node[F, M, FX], aim Aim) *Move {
	if n.Kind == states.Rest || n.OnTarget == CarryOn || aim.Unknown || l.same(aim) {
		return nil
	}
	return &Move{Event: EventTargetChanged, From: n.Name, To: n.OnTarget, Attempt: l.begin(aim)}
}

// same reports whether the entry's attempt has this target.
func (l *look[F, M, FX, E]) same(aim Aim) bool {
	return pursues(l.entry.Attempt, l.uid, l.name, aim.To)
}

// choose returns the first transition whose guard says yes. blocked reports that a transition may be due and was not taken
// because a guard or the target is unknown.
func (l *look[F, M, FX, E]) choose(n *node[F, M, FX], memo M, aim Aim) (move *Move, blocked bool) {
	for i := range n.rows {
		row := &n.rows[i]
		if blocked && !row.EvenIfUnknown {
			continue
		}
		verdict, chosen := l.ask(row, memo)
		switch {
		case verdict.Answer == transitions.Unknown, verdict.Answer == transitions.Yes && row.NewAttempt && aim.Unknown:
			// An attempt without a known target would become another attempt as soon as the target is known.
			blocked = true
		case verdict.Answer == transitions.Yes:
			return l.take(row, memo, chosen, aim), false
		}
	}
	return nil, blocked
}

func (l *look[F, M, FX, E]) ask(row *Transition[F, M], memo M) (transitions.Verdict, *M) {
	l.asking = asking{"guard", row.Event, row.From}
	if row.Choose == nil {
		return row.When.Verdict(&l.facts, memo), nil
	}
	verdict, chosen := row.Choose.Pick(&l.facts, memo)
	if verdict.Want == "" {
		verdict.Want = row.Choose.Guard.Want
	}
	return verdict, &chosen
}

func (l *look[F, M, FX, E]) take(row *Transition[F, M], memo M, chosen *M, aim Aim) *Move {
	move := &Move{Event: row.Event, From: row.From, To: row.To, OneWay: row.OneWay, Attempt: l.entry.Attempt}
	switch {
	case chosen != nil:
		move.Memo = l.machine.def.Memo.Encode(*chosen)
	case !row.Forget && !row.NewAttempt:
		move.Memo = l.machine.def.Memo.Encode(memo)
	}
	if row.NewAttempt {
		move.Attempt = l.begin(aim)
	}
	return move
}

func (l *look[F, M, FX, E]) begin(aim Aim) *lifecyclev1.Attempt {
	return newAttempt(l.uid, l.name, aim, l.now)
}

// relocate infers another state when the facts contradict the persisted one. Inferring the same state and data is a defect.
func (l *look[F, M, FX, E]) relocate(from string) Decision {
	d := l.locate(from)
	if d.Move != nil && d.Move.To == from && maps.Equal(d.Move.Memo, l.entry.Memo) {
		d.Move = nil
		d.Err = fmt.Errorf("machine %s: Locate finds %s although its While says no: fix one of them", l.machine.def.Name, from)
	}
	return d
}

// locate infers the state from the facts alone.
func (l *look[F, M, FX, E]) locate(from string) Decision {
	for _, need := range l.machine.locate {
		if !slices.Contains(l.asked, need) {
			return Decision{Needs: l.machine.locate}
		}
	}
	l.asking = asking{what: "Locate"}
	place, verdict := l.machine.def.Locate.Find(&l.facts)
	if verdict.Answer != transitions.Yes {
		if verdict.Pending && (l.entry == nil || from == Locating) {
			return Decision{Silent: l.entry == nil}
		}
		if from == Locating || verdict.Pending {
			return Decision{}
		}
		return Decision{Move: &Move{Event: EventLocated, From: from, To: Locating, Attempt: l.attempt()}}
	}
	if !slices.Contains(l.machine.def.Locate.States, place.State) {
		return Decision{Err: fmt.Errorf("machine %s: Locate finds %q, which is not among its States: add it there or fix Find", l.machine.def.Name, place.State)}
	}
	move := &Move{Event: EventLocated, From: from, To: place.State, Memo: l.machine.def.Memo.Encode(place.Memo)}
	if l.machine.states[place.State].Kind != states.Rest {
		move.Attempt = l.resume()
	}
	return Decision{Move: move}
}

func (l *look[F, M, FX, E]) attempt() *lifecyclev1.Attempt {
	if l.entry == nil {
		return nil
	}
	return l.entry.Attempt
}

// resume returns the attempt of an inferred state: the entry's attempt if it has the same target, and otherwise a new one.
func (l *look[F, M, FX, E]) resume() *lifecyclev1.Attempt {
	aim := l.aim()
	if aim.Unknown || l.entry != nil && l.same(aim) {
		return l.attempt()
	}
	return l.begin(aim)
}

func (l *look[F, M, FX, E]) Facts() any { return &l.facts }

func (l *look[F, M, FX, E]) Open() []string {
	var out []string
	if err := l.guarded(func() { out = l.open() }); err != nil {
		return nil // a defect in a guard that Decide did not evaluate is not reported
	}
	return out
}

func (l *look[F, M, FX, E]) open() []string {
	if l.entry == nil {
		return nil
	}
	n, known := l.machine.states[l.entry.State]
	memo, err := l.machine.def.Memo.Decode(l.entry.Memo)
	if !known || err != nil {
		return nil
	}
	taken, _ := l.choose(n, memo, l.aim())
	if taken == nil {
		return nil
	}
	var out []string
	for i := range n.rows {
		row := &n.rows[i]
		if len(out) == 0 && (row.Event != taken.Event || row.To != taken.To) {
			continue
		}
		if verdict, _ := l.ask(row, memo); verdict.Answer == transitions.Yes {
			out = append(out, row.Event)
		}
	}
	return out
}

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

// evaluation is the evaluation of one lifecycle on the facts of one snapshot.
type evaluation[F, D, FX, E any] struct {
	machine *Machine[F, D, FX]
	name    string
	effect  func(FX) E
	uid     string
	entry   *lifecyclev1.Lifecycle
	needs   []transitions.Need
	now     time.Time
	scale   float64
	// deleting means that the object is being deleted.
	deleting bool
	facts    F
	err      error
	// running names the part of the machine that is being evaluated, for the error of a panic.
	running running
}

// running is a part of the machine, and the state or transition that it belongs to. Its text is composed only for an error.
type running struct{ what, of, from string }

func (a running) String() string {
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
func (l *evaluation[F, D, FX, E]) guarded(run func()) (err error) {
	if l.err != nil {
		return l.err
	}
	defer func() {
		if p := recover(); p != nil {
			err = defect("machine "+l.machine.def.Name+", "+l.running.String(), p)
		}
	}()
	run()
	return nil
}

func (l *evaluation[F, D, FX, E]) Decide() Decision {
	var d Decision
	if err := l.guarded(func() { d = l.decide() }); err != nil {
		// A lifecycle that has nothing to release must not hold its object, whatever is wrong with it.
		return Decision{Err: err, Released: l.deleting && l.machine.def.Deletion.IsZero()}
	}
	return d
}

// decide resolves the persisted state and then evaluates the transitions of the state in order.
func (l *evaluation[F, D, FX, E]) decide() Decision {
	if l.deleting {
		return l.decideDeletion()
	}
	if l.entry == nil {
		return l.infer("")
	}
	n, known := l.machine.states[l.entry.State]
	if !known {
		if to, ok := l.machine.def.Migrations[l.entry.State]; ok {
			return Decision{Move: &Move{Event: EventMigrated, From: l.entry.State, To: to, Data: l.entry.Data, Attempt: l.entry.Attempt}}
		}
		return l.infer(l.entry.State)
	}
	data, err := l.machine.def.Data.Decode(l.entry.Data)
	if err != nil || n.Name == Inferring || n.onlyDeletion { // a status restored from a backup may hold a state of a deletion
		return l.infer(n.Name)
	}
	target := l.target()
	if move := l.retarget(n, target); move != nil {
		return Decision{Move: move}
	}
	l.running = running{what: "Invariant", of: n.Name}
	invariant := transitions.Allow()
	if !n.Invariant.IsZero() {
		invariant = n.Invariant.Verdict(&l.facts, data)
	}
	if invariant.Answer == transitions.No {
		d := l.inferAgain(n.Name)
		d.Shadowed = l.shadowed(n, data, target)
		return d
	}
	move, blocked := l.choose(n, data, target)
	believed := invariant.Answer == transitions.Yes
	return Decision{Move: move, MayAct: believed, Decided: believed && !target.Unknown && !(blocked && n.Resting()) && !l.ignores(n, target)}
}

// ignores reports whether the Hold keeps its attempt although the target differs from the attempt's. A Work or Wait state that does so is
// shown as under way, and acts upon the target once it is left.
func (l *evaluation[F, D, FX, E]) ignores(n *node[F, D, FX], target Target) bool {
	return n.Resting() && n.OnTargetChange == KeepAttempt && !l.isTarget(target)
}

// shadowed returns the transition that Invariant prevents. Its guard may rely on Invariant, so that a panic here is no defect.
func (l *evaluation[F, D, FX, E]) shadowed(n *node[F, D, FX], data D, target Target) (event string) {
	defer func() {
		if recover() != nil {
			event = ""
		}
	}()
	if exit, _ := l.choose(n, data, target); exit != nil {
		event = exit.Event
	}
	return event
}

func (l *evaluation[F, D, FX, E]) target() Target {
	if l.deleting {
		return Target{To: DeletionTarget}
	}
	l.running = running{what: "target"}
	return l.machine.def.Target(&l.facts)
}

// retarget returns the implicit first transition of every state without KeepAttempt: the target differs from the attempt's.
func (l *evaluation[F, D, FX, E]) retarget(n *node[F, D, FX], target Target) *Move {
	if n.Kind == states.Rest || n.OnTargetChange == KeepAttempt || target.Unknown || l.isTarget(target) {
		return nil
	}
	return &Move{Event: EventTargetChanged, From: n.Name, To: n.OnTargetChange, Attempt: l.begin(target)}
}

// isTarget reports whether the entry's attempt has this target.
func (l *evaluation[F, D, FX, E]) isTarget(target Target) bool {
	return pursues(l.entry.Attempt, l.uid, l.name, target.To)
}

// choose returns the first transition whose guard says yes. blocked reports that a transition may be due and was not taken
// because a guard or the target is unknown.
func (l *evaluation[F, D, FX, E]) choose(n *node[F, D, FX], data D, target Target) (move *Move, blocked bool) {
	for i := range n.rows {
		row := &n.rows[i]
		if blocked && !row.EvenIfUnknown {
			continue
		}
		verdict, chosen := l.verdict(row, data)
		switch {
		case verdict.Answer == transitions.Unknown, verdict.Answer == transitions.Yes && row.NewAttempt && target.Unknown:
			// An attempt without a known target would become another attempt as soon as the target is known.
			blocked = true
		case verdict.Answer == transitions.Yes:
			return l.take(row, data, chosen, target), false
		}
	}
	return nil, blocked
}

func (l *evaluation[F, D, FX, E]) verdict(row *Transition[F, D], data D) (transitions.Verdict, *D) {
	l.running = running{"guard", row.Event, row.From}
	if row.Choose == nil {
		return row.When.Verdict(&l.facts, data), nil
	}
	verdict, chosen := row.Choose.Pick(&l.facts, data)
	if verdict.Expected == "" {
		verdict.Expected = row.Choose.Guard.Expected
	}
	return verdict, &chosen
}

func (l *evaluation[F, D, FX, E]) take(row *Transition[F, D], data D, chosen *D, target Target) *Move {
	move := &Move{Event: row.Event, From: row.From, To: row.To, OneWay: row.OneWay, Quiet: row.Quiet, Attempt: l.attempt()}
	switch {
	case chosen != nil:
		move.Data = l.machine.def.Data.Encode(*chosen)
	case !row.ClearData && !row.NewAttempt:
		move.Data = l.machine.def.Data.Encode(data)
	}
	if row.NewAttempt {
		move.Attempt = l.begin(target)
	}
	return move
}

func (l *evaluation[F, D, FX, E]) begin(target Target) *lifecyclev1.Attempt {
	return newAttempt(l.uid, l.name, target, l.now)
}

// inferAgain infers another state when the facts contradict the persisted one. Inferring the same state and data is a defect.
func (l *evaluation[F, D, FX, E]) inferAgain(from string) Decision {
	d := l.infer(from)
	if d.Move != nil && d.Move.To == from && maps.Equal(d.Move.Data, l.entry.Data) {
		d.Move = nil
		d.Err = fmt.Errorf("machine %s: Infer finds %s although its Invariant says no: fix one of them", l.machine.def.Name, from)
	}
	return d
}

// infer infers the state from the facts alone.
func (l *evaluation[F, D, FX, E]) infer(from string) Decision {
	for _, need := range l.machine.inferNeeds {
		if !slices.Contains(l.needs, need) {
			return Decision{Needs: l.machine.inferNeeds}
		}
	}
	l.running = running{what: "Infer"}
	place, verdict := l.machine.def.Infer.Find(&l.facts)
	if verdict.Answer != transitions.Yes {
		if verdict.Pending && (l.entry == nil || from == Inferring) {
			return Decision{Silent: l.entry == nil}
		}
		if from == Inferring || verdict.Pending {
			return Decision{}
		}
		return Decision{Move: &Move{Event: EventInferred, From: from, To: Inferring, Attempt: l.attempt()}}
	}
	if !slices.Contains(l.machine.def.Infer.States, place.State) {
		return Decision{Err: fmt.Errorf("machine %s: Infer finds %q, which is not among its States: add it there or fix Find", l.machine.def.Name, place.State)}
	}
	move := &Move{Event: EventInferred, From: from, To: place.State, Data: l.machine.def.Data.Encode(place.Data)}
	if l.machine.states[place.State].Kind != states.Rest {
		move.Attempt = l.resume()
	}
	return Decision{Move: move}
}

func (l *evaluation[F, D, FX, E]) attempt() *lifecyclev1.Attempt {
	if l.entry == nil {
		return nil
	}
	return l.entry.Attempt
}

// resume returns the attempt of an inferred state: the entry's attempt if it has the same target, and otherwise a new one.
func (l *evaluation[F, D, FX, E]) resume() *lifecyclev1.Attempt {
	target := l.target()
	if target.Unknown || l.entry != nil && l.isTarget(target) {
		return l.attempt()
	}
	return l.begin(target)
}

func (l *evaluation[F, D, FX, E]) Facts() any { return &l.facts }

func (l *evaluation[F, D, FX, E]) Open() []string {
	var out []string
	if err := l.guarded(func() { out = l.open() }); err != nil {
		return nil // a defect in a guard that Decide did not evaluate is not reported
	}
	return out
}

func (l *evaluation[F, D, FX, E]) open() []string {
	if l.entry == nil {
		return nil
	}
	n, known := l.machine.states[l.entry.State]
	data, err := l.machine.def.Data.Decode(l.entry.Data)
	if !known || err != nil {
		return nil
	}
	taken, _ := l.choose(n, data, l.target())
	if taken == nil {
		return nil
	}
	var out []string
	for i := range n.rows {
		row := &n.rows[i]
		if len(out) == 0 && (row.Event != taken.Event || row.To != taken.To) {
			continue
		}
		if verdict, _ := l.verdict(row, data); verdict.Answer == transitions.Yes {
			out = append(out, row.Event)
		}
	}
	return out
}

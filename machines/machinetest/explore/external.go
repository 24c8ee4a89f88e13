package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
)

// The faults of an external system, and of the process that waits for its answers.
const (
	// SystemDown: questions and commands fail.
	SystemDown Fault = "system down"
	// SystemSlow: questions stay pending, unless they are asked live.
	SystemSlow Fault = "system slow"
	// CommandRefused: the system refuses a command without a reason that it shows.
	CommandRefused Fault = "command refused"
	// AnswerLost: a command is carried out, and its outcome is unknown.
	AnswerLost Fault = "answer lost"
	// CommandLate: the outcome of a command is unknown, and it may be carried out at any time within Settle.
	CommandLate Fault = "command late"
	// AnswerForgotten: the process that sent a command has ended. The command may still be carried out.
	AnswerForgotten Fault = "answer forgotten"
	// ChangedByOthers: another client changes the system. An Event of External may have another fault.
	ChangedByOthers Fault = "changed by others"
)

// ExternalFaults returns the faults of every External without events.
func ExternalFaults() []Fault {
	return []Fault{SystemDown, SystemSlow, CommandRefused, AnswerLost, CommandLate, AnswerForgotten}
}

// Cloner is the state of an external system itself: a plain value with a copy that shares nothing mutable. Two states are the same if
// they have the same JSON, or the same canonical bytes if the state implements Canonical.
type Cloner[S any] interface{ Clone() S }

// External is the World of a subject whose kind uses one external system: the state of the system, the last command of each lifecycle,
// and commands that may be carried out late. The production code asks and commands it through its own Protocol. S is the state; the other
// type parameters are those of external.Protocol.
//
// The system may be slow or down, refuse commands, lose answers, and carry out a command late. It is down or slow only while the
// operator reconciles: it is well again before time passes.
type External[S Cloner[S], T external.Target, C any, Q comparable, A, W any] struct {
	// State of the system. Required.
	State S
	// Protocol returns the protocol to a system in that state, which commands change. Required.
	Protocol func(state S) external.Protocol[T, C, Q, A, W]
	// Settle is how long a command may be carried out after its answer was lost. It belongs into the Subject's Ages. Required.
	Settle time.Duration
	// Events are the changes of the system that other clients make. Optional; default: none.
	Events []ExternalEvent[S]

	trouble Fault
	last    map[string]sentCommand[T, W]
	late    []sentCommand[T, W]
}

// ExternalEvent is a change of an external system, such as one by another client.
type ExternalEvent[S any] struct {
	// Name in a story: "others close the account".
	Name  string
	Fault Fault
	// Possible reports whether the event can happen in the state. Optional; default: always.
	Possible func(state S) bool
	// Do changes the state. Required.
	Do func(state S)
}

// sentCommand is a command that was sent. since is when the answer of a late command was lost.
type sentCommand[T external.Target, W any] struct {
	to      T
	id      machines.RequestID
	command W
	answer  external.Answer
	since   time.Time
}

var errConnectionLost = errors.New("the connection was lost")

// Clone implements World.
func (w *External[S, T, C, Q, A, W]) Clone() World {
	c := *w
	c.State, c.last, c.late = w.State.Clone(), maps.Clone(w.last), slices.Clone(w.late)
	return &c
}

// AppendCanonical implements World.
func (w *External[S, T, C, Q, A, W]) AppendCanonical(dst []byte, at *Scenario) []byte {
	dst = append(appendState(dst, w.State), w.trouble...)
	for _, name := range w.lifecycles() {
		s := w.last[name]
		dst = fmt.Appendf(dst, "/%s%v%s%t", name, s.command, s.answer.State, s.id == at.RequestID(name))
	}
	for _, s := range w.mayCome(at.Now()) {
		dst = fmt.Appendf(dst, "/%v%d", s.command, at.Age(s.since))
	}
	return dst
}

func appendState(dst []byte, state any) []byte {
	if own, ok := state.(Canonical); ok {
		return own.AppendCanonical(dst)
	}
	text, err := json.Marshal(state)
	if err != nil {
		panic(fmt.Errorf("comparing states of an external system: %T has no JSON, implement Canonical: %w", state, err))
	}
	return append(dst, text...)
}

// Quiet reports that no command was sent that may be carried out late.
func (w *External[S, T, C, Q, A, W]) Quiet() bool { return len(w.late) == 0 }

// lifecycles returns the names of those that have sent a command, sorted.
func (w *External[S, T, C, Q, A, W]) lifecycles() []string { return slices.Sorted(maps.Keys(w.last)) }

// mayCome returns the commands that may still be carried out.
func (w *External[S, T, C, Q, A, W]) mayCome(now time.Time) []sentCommand[T, W] {
	return slices.DeleteFunc(slices.Clone(w.late), func(s sentCommand[T, W]) bool { return !now.Before(s.since.Add(w.Settle)) })
}

// Next implements World.
func (w *External[S, T, C, Q, A, W]) Next(at *Scenario) (steps []Step) {
	step := func(possible bool, name string, fault Fault, do func(w *External[S, T, C, Q, A, W])) {
		if possible {
			steps = append(steps, Step{Name: name, Fault: fault, Do: func(at *Scenario) { do(w.in(at)); at.Wake() }})
		}
	}
	type world = External[S, T, C, Q, A, W]
	step(w.trouble != "", "the system is well again", "", func(w *world) { w.trouble = "" })
	step(w.trouble == "", "the system is down", SystemDown, func(w *world) { w.trouble = SystemDown })
	step(w.trouble == "", "the system is slow", SystemSlow, func(w *world) { w.trouble = SystemSlow })
	for _, e := range w.Events {
		step(e.Possible == nil || e.Possible(w.State), e.Name, e.Fault, func(w *world) { e.Do(w.State) })
	}
	for i, s := range w.mayCome(at.Now()) {
		left := slices.Delete(w.mayCome(at.Now()), i, i+1)
		step(true, fmt.Sprintf("late command %d of %s is carried out", i, s.id.Lifecycle), CommandLate, func(w *world) {
			w.late = slices.Clone(left)
			w.send(s)
		})
	}
	now := at.Now()
	for _, name := range w.lifecycles() {
		s := w.last[name]
		answer := func(answer func(w *world) external.Answer) func(w *world) {
			return func(w *world) {
				s.answer = answer(w)
				w.last[name] = s
			}
		}
		pending := s.answer.State == external.Pending
		step(pending, "the command of "+name+" is answered", "", answer(func(w *world) external.Answer { return w.send(s) }))
		step(pending, "the answer to "+name+" is lost", AnswerLost, answer(func(w *world) external.Answer {
			w.send(s)
			return unanswered(s.id)
		}))
		step(pending, "the command of "+name+" is late", CommandLate, func(w *world) {
			w.delay(s, now)
			s.answer = unanswered(s.id)
			w.last[name] = s
		})
		step(pending, "the command of "+name+" is refused", CommandRefused, answer(func(*world) external.Answer {
			return external.Answer{RequestID: s.id, State: external.Refused, Text: "refused"}
		}))
		step(true, "the process that sent the command of "+name+" ends", AnswerForgotten, func(w *world) { w.forget(name, now) })
	}
	return steps
}

func unanswered(id machines.RequestID) external.Answer {
	return external.Answer{RequestID: id, State: external.Unknown, Text: errConnectionLost.Error()}
}

// in returns the world of the scenario, in which it is of the same type.
func (*External[S, T, C, Q, A, W]) in(at *Scenario) *External[S, T, C, Q, A, W] {
	w, _ := at.World().(*External[S, T, C, Q, A, W])
	return w
}

// forget removes the last command of the lifecycle. If it was not answered, it may still be carried out.
func (w *External[S, T, C, Q, A, W]) forget(lifecycle string, now time.Time) {
	if s := w.last[lifecycle]; s.answer.State == external.Pending {
		w.delay(s, now)
	}
	delete(w.last, lifecycle)
}

func (w *External[S, T, C, Q, A, W]) delay(s sentCommand[T, W], now time.Time) {
	s.since = now
	w.late = append(w.late, s)
}

// send lets the system carry out a command now, and returns its answer.
func (w *External[S, T, C, Q, A, W]) send(s sentCommand[T, W]) external.Answer {
	if w.trouble == SystemDown {
		return unanswered(s.id)
	}
	d := w.direct()
	d.Write(context.Background(), s.to, s.id, s.command)
	return d.Answer(s.to, s.id)
}

func (w *External[S, T, C, Q, A, W]) direct() *external.Direct[T, C, Q, A, W] {
	return &external.Direct[T, C, Q, A, W]{Protocol: w.Protocol(w.State)}
}

// System returns the system for a kind that is explored: the Subject's Kind passes its Scenario.
func (w *External[S, T, C, Q, A, W]) System(at *Scenario) external.System[T, Q, A, W] {
	return exploredSystem[S, T, C, Q, A, W]{at: at, world: w}
}

// exploredSystem is the System of an explored operator. The world of the scenario sends its commands.
type exploredSystem[S Cloner[S], T external.Target, C any, Q comparable, A, W any] struct {
	at    *Scenario
	world *External[S, T, C, Q, A, W]
}

func (s exploredSystem[S, T, C, Q, A, W]) Read(ctx context.Context, target T, queries []external.Query[Q], live bool, now time.Time) []external.Reading[A] {
	w, out := s.world.in(s.at), make([]external.Reading[A], len(queries))
	switch {
	case w.trouble == SystemSlow && !live:
	case w.trouble == SystemDown:
		for i := range out {
			out[i].Err = errConnectionLost
		}
	default:
		return w.direct().Read(ctx, target, queries, live, now)
	}
	return out
}

func (s exploredSystem[S, T, C, Q, A, W]) Write(_ context.Context, target T, id machines.RequestID, sent W) {
	w := s.world.in(s.at)
	if w.last[id.Lifecycle].id == id {
		return
	}
	w.forget(id.Lifecycle, s.at.Now())
	if w.last == nil {
		w.last = map[string]sentCommand[T, W]{}
	}
	w.last[id.Lifecycle] = sentCommand[T, W]{to: target, id: id, command: sent, answer: external.Answer{RequestID: id, State: external.Pending}}
}

func (s exploredSystem[S, T, C, Q, A, W]) Answer(_ T, id machines.RequestID) external.Answer {
	if sent := s.world.in(s.at).last[id.Lifecycle]; sent.id == id {
		return sent.answer
	}
	return external.Answer{}
}

func (s exploredSystem[S, T, C, Q, A, W]) Failure(_ T, lifecycle string) external.Answer {
	switch last := s.world.in(s.at).last[lifecycle].answer; last.State {
	case external.Refused, external.Failed, external.Unknown:
		return last
	default:
		return external.Answer{}
	}
}

func (s exploredSystem[S, T, C, Q, A, W]) InFlight(_ T, lifecycle string) (d external.InFlight) {
	w, now := s.world.in(s.at), s.at.Now()
	asked := func(of string) bool { return lifecycle == "" || of == lifecycle }
	for _, late := range w.mayCome(now) {
		if end := late.since.Add(w.Settle); asked(late.id.Lifecycle) && end.After(d.Until) {
			d = external.InFlight{Until: end, Sent: true}
		}
	}
	for of, last := range w.last {
		if asked(of) && last.answer.State == external.Pending {
			d = external.InFlight{Until: now.Add(w.Settle), Sent: true}
		}
	}
	return d
}

func (exploredSystem[S, T, C, Q, A, W]) Drop(types.UID) {}

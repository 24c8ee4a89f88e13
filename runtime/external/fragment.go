package external

import (
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Commands are the facts about the commands of a lifecycle. The facts of its machine contain them.
type Commands struct {
	// Answer to the command of this visit of the state.
	Answer Answer
	// Failure is the outcome of the last command that ended, also of an earlier visit, if it was refused or failed or is unknown. No decision
	// depends on it: the status shows its text.
	Failure Answer
	// InFlight means that a command may have taken effect after the system was read.
	InFlight bool
	// Paused is true until Pause has passed since the state was entered.
	Paused bool
}

// Fragment contributes to a machine the states in which commands are sent. F are the machine's facts, D its data and W a command.
//
// A command is sent once in each visit of a Work state. What became of it is read from the system, whether it was answered or not. If
// it failed, has no answer or had no effect, the lifecycle waits in a Wait state for Pause, and until the command cannot take effect
// any more. Then it enters the Work state again. Meanwhile waitingFor shows why the last command was refused, was not sent or has no answer.
//
// A process that takes over a Work state knows of no command of its predecessor and sends one at once. To wait until the predecessor's
// cannot take effect any more would delay every takeover, and the first command of every object, by the time that a command may take.
// Commands must therefore be idempotent.
type Fragment[F, D, W any] struct {
	// Commands returns the fragment's facts within the machine's. Required.
	Commands func(facts *F) *Commands
	// ResolvedBy is the need that shows what a command did. Required.
	ResolvedBy transitions.Need
}

// Sending declares a Work state that sends a command.
type Sending[F, D, W any] struct {
	// Name and Doc of the Work state. The Wait state after a failure is named Retrying and Name. Required.
	Name, Doc string
	// Due says whether the system is known to need the command. Required.
	Due transitions.Guard[F, D]
	// Command returns the command. Required.
	Command func(facts *F) W
	// OnTargetChange is the state to enter when the target changes, or machines.KeepAttempt; see machines.State. Optional.
	OnTargetChange string
	// NeedsFinalizer means that something must be released before the object is deleted; see machines.Action. Optional.
	NeedsFinalizer bool
	// Deadline of the Work state. Optional; default: 5 minutes.
	Deadline time.Duration
}

// Deadlines of the states. The deadline of the Wait state covers a system that does not answer for long.
const (
	workDeadline  = 5 * time.Minute
	retryDeadline = time.Hour
)

// Events of the transitions after a failure, and back.
const (
	EventFailed  = "failed"
	EventRetried = "retried"
)

// Retrying returns the name of the Wait state after a failure in the Work state.
func Retrying(name string) string { return "Retrying" + name }

// Include returns the definition with the states in which commands are sent, and the transitions after a failure. The transitions
// that leave such a state because the system shows the effect are the definition's own. They have Outranks: if the effect is there, it
// does not matter what became of the answer.
func (f Fragment[F, D, W]) Include(in machines.Definition[F, D, W], all ...Sending[F, D, W]) machines.Definition[F, D, W] {
	for _, s := range all {
		in.States = slices.Concat(in.States, f.states(s))
		in.Transitions = slices.Concat(in.Transitions, []machines.Transition[F, D]{
			{Event: EventFailed, From: s.Name, To: Retrying(s.Name), When: f.failed(), Doc: "the system does not show the effect of the command"},
			{
				Event: EventRetried, From: Retrying(s.Name), To: s.Name, Awaited: true, When: transitions.All(f.Quiet(), f.rested()),
				Doc: "the command cannot take effect any more",
			},
		})
	}
	return in
}

// states returns the Work state and its Wait state.
func (f Fragment[F, D, W]) states(s Sending[F, D, W]) []machines.State[F, D, W] {
	deadline := s.Deadline
	if deadline == 0 {
		deadline = workDeadline
	}
	send := &machines.Action[F, D, W]{
		Needs: s.Due.AllNeeds(), ResolvedBy: f.ResolvedBy, NeedsFinalizer: s.NeedsFinalizer,
		Effects: func(facts *F, data D) []W {
			if f.Commands(facts).Answer.State != None || s.Due.Verdict(facts, data).Answer != transitions.Yes {
				return nil
			}
			return []W{s.Command(facts)}
		},
	}
	return []machines.State[F, D, W]{
		{
			State:     states.State{Name: s.Name, Kind: states.Work, Doc: s.Doc, Deadline: deadline},
			Invariant: transitions.Always[F, D](), OnTargetChange: s.OnTargetChange, Action: send, Failure: f.failure,
		},
		{
			State:     states.State{Name: Retrying(s.Name), Kind: states.Wait, Doc: s.Doc + " again after a pause", Deadline: retryDeadline},
			Invariant: transitions.AlwaysBecause[F, D]("the pause ends"), OnTargetChange: s.OnTargetChange, Failure: f.failure,
		},
	}
}

// failure says why the last command had no success. It is shown while the command is pending again, too, so that the status does not change with
// each repetition.
func (f Fragment[F, D, W]) failure(facts *F, _ D) string { return f.Commands(facts).Failure.failure() }

// Quiet returns a guard that says yes if no command may still take effect: for a transition that relies on what the system does not
// contain, such as that to the end of a deletion.
func (f Fragment[F, D, W]) Quiet() transitions.Guard[F, D] {
	return f.guard("quiet", "no command that may still take effect", func(c *Commands) (bool, string) { return !c.InFlight, "a command in flight" })
}

func (f Fragment[F, D, W]) rested() transitions.Guard[F, D] {
	return f.guard("rested", "a pause after the failed command", func(c *Commands) (bool, string) { return !c.Paused, "a command that failed or had no effect just now" })
}

func (f Fragment[F, D, W]) failed() transitions.Guard[F, D] {
	return f.guard("failed", "a command that failed, has no answer or had no effect", func(c *Commands) (bool, string) {
		switch c.Answer.State {
		case Refused, Failed, Unknown:
			return true, c.Answer.Text
		case Done:
			return !c.InFlight, "a command that was carried out" // others may have changed the system since
		case None, Pending:
		}
		return false, "no answer yet"
	})
}

func (f Fragment[F, D, W]) guard(name, expected string, condition func(*Commands) (bool, string)) transitions.Guard[F, D] {
	return transitions.Guard[F, D]{Name: name, Doc: expected, Expected: expected, Evaluate: func(facts *F, _ D) transitions.Verdict {
		return transitions.If(condition(f.Commands(facts)))
	}}
}

// Domain adds the facts about commands to a domain: every answer, a command in flight, and a failure just now.
func (f Fragment[F, D, W]) Domain(d domain.Domain[F, D]) domain.Domain[F, D] {
	var answers []domain.Value[F]
	for _, s := range []AnswerState{None, Pending, Done, Refused, Failed, Unknown} {
		answers = append(answers, domain.Value[F]{Name: "answer " + string(s), Set: func(facts *F) { f.Commands(facts).Answer.State = s }})
	}
	d.Dimensions = append(d.Dimensions,
		domain.Of(answers...),
		domain.Of(domain.Value[F]{}, domain.Value[F]{Name: "a command in flight", Set: func(facts *F) { f.Commands(facts).InFlight = true }}),
		domain.Of(domain.Value[F]{}, domain.Value[F]{Name: "a failure just now", Set: func(facts *F) { f.Commands(facts).Paused = true }}),
	)
	enter := d.Enter
	d.Enter = func(facts *F, entry *lifecyclev1.Lifecycle) {
		f.Commands(facts).Answer, f.Commands(facts).Paused = Answer{}, true
		if enter != nil {
			enter(facts, entry)
		}
	}
	return d
}

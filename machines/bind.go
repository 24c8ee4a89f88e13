package machines

import (
	"fmt"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Binding connects a machine to a kind.
type Binding[O, S, F, FX, E any] struct {
	// Name of the lifecycle, in kebab-case and unique in its kind: the key of its entry in the status. Required.
	Name string
	// Facts returns the facts from the snapshot. It must be pure. Costly facts that ask does not request stay zero. Required.
	Facts func(object O, snapshot S, ask ObserveOptions) F
	// Effect converts the machine's effect to the kind's. Optional if both are of the same type.
	Effect func(FX) E
	// Instances returns the names of the instances of a lifecycle that an object has several times, such as once per connector. An
	// instance that is not named any more is deleted: its machine goes through its Deletion, and its entry is removed. known is
	// false if the names cannot be read now; every instance then stays. It must be pure. Optional; default: one instance without
	// a name.
	Instances func(object O, snapshot S) (names []string, known bool)
	// Existing returns the names of the instances of which the snapshot shows something outside the status. One that is neither named by
	// Instances nor has an entry, since the status was lost while it was being deleted, is deleted as well. Names that no instance can have
	// are ignored. known is false if the snapshot does not show what exists: an object that is being deleted is then undecided, and its finalizer stays.
	// What it reads must be in the kind's AlwaysNeeded: without an entry no state requests it. It must be pure. Optional; default: only an
	// entry shows that an instance exists.
	Existing func(object O, snapshot S) (names []string, known bool)
	// Unlisted says, in words for users, why Instances or Existing does not know the names now. The status shows it while an object waits for
	// that. It must be pure. Optional; default: no reason is shown.
	Unlisted func(object O, snapshot S) string
	// MaxInstances is the number of instances that an object may have, including those that are being deleted. The status has room for
	// 1,024 entries of all lifecycles together. Optional; default: MaxInstances.
	MaxInstances int
}

// Bind returns the lifecycle of a compiled machine for a kind.
func Bind[O, S, F, D, FX, E any](machine *Machine[F, D, FX], binding Binding[O, S, F, FX, E]) Lifecycle[O, S, E] {
	if binding.Effect == nil {
		binding.Effect = sameEffect[FX, E]
	}
	return Lifecycle[O, S, E]{&bound[O, S, F, D, FX, E]{machine: machine, binding: binding, entryName: binding.Name}}
}

// sameEffect panics if the types differ; the evaluation reports it as a defect of the machine.
func sameEffect[FX, E any](effect FX) E {
	same, ok := any(effect).(E)
	if !ok {
		panic(fmt.Errorf("the effect is a %T, which is no effect of the kind: declare Binding.Effect", effect))
	}
	return same
}

type bound[O, S, F, D, FX, E any] struct {
	machine *Machine[F, D, FX]
	binding Binding[O, S, F, FX, E]
	// instance is empty for the only instance, and for the lifecycle of several.
	instance, entryName string
}

func (b *bound[O, S, F, D, FX, E]) Name() string { return b.entryName }
func (b *bound[O, S, F, D, FX, E]) Graph() Graph { return b.machine.graph }

func (b *bound[O, S, F, D, FX, E]) MaxTransitionsWithoutProgress() int32 {
	return b.machine.def.MaxTransitionsWithoutProgress
}

func (b *bound[O, S, F, D, FX, E]) State(name string) (states.State, bool) {
	n, ok := b.machine.states[name]
	if !ok {
		return states.State{}, false
	}
	return n.State.State, true
}

func (b *bound[O, S, F, D, FX, E]) Needs(entry *lifecyclev1.Lifecycle) []transitions.Need {
	if entry == nil {
		return b.machine.inferNeeds
	}
	n, ok := b.machine.states[entry.State]
	if !ok {
		return b.machine.inferNeeds
	}
	return n.decisionNeeds
}

func (b *bound[O, S, F, D, FX, E]) NeedsIn(state string) []transitions.Need {
	if n, ok := b.machine.states[state]; ok {
		return n.decisionNeeds
	}
	return nil
}

func (b *bound[O, S, F, D, FX, E]) Need(name transitions.Need) Need { return b.machine.needs[name] }

func (b *bound[O, S, F, D, FX, E]) Action(state string) (ActionInfo, bool) {
	n, ok := b.machine.states[state]
	if !ok || n.Action == nil {
		return ActionInfo{}, false
	}
	again := n.Action.RequeueAfter
	if again <= 0 {
		again = defaultRequeueAfter
	}
	return ActionInfo{Name: n.Action.Name, Needs: n.actionNeeds, Live: n.Action.Live || !n.Action.Precondition.IsZero(), NeedsFinalizer: n.Action.NeedsFinalizer, Records: n.Action.Records != nil, RequeueAfter: again, Backoff: n.Backoff}, true
}

func (b *bound[O, S, F, D, FX, E]) Evaluate(q EvaluationInput[O, S]) Evaluation[E] {
	l := &evaluation[F, D, FX, E]{
		machine: b.machine, name: b.entryName, effect: b.binding.Effect,
		uid: q.UID, entry: q.Entry, needs: q.Options.Needs, now: q.Options.Now, scale: q.DeadlineScale, deleting: q.Deleting,
	}
	q.Options.Instance = b.instance
	l.facts, l.err = factsOf(b.binding, q)
	return l
}

// factsOf calls Observe and returns a panic as an error that names the lifecycle.
func factsOf[O, S, F, FX, E any](binding Binding[O, S, F, FX, E], q EvaluationInput[O, S]) (facts F, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = defect("observing for lifecycle "+binding.Name, p)
		}
	}()
	return binding.Facts(q.Object, q.Snapshot, q.Options), nil
}

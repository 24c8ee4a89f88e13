package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Usual is the assumed age of objects and of running processes without a start time. It exceeds the default of every wait.
const Usual = 3 * time.Hour

// populate adds the objects to the store and brings the simulated systems to the state that they describe.
func (e *engine) populate(ctx context.Context) error {
	for _, o := range e.inOrder() {
		if err := e.put(o); err != nil {
			return err
		}
	}
	for _, s := range e.simulations {
		var objects []lifecycle.Object
		for _, o := range e.objects() {
			if o.kind == s.kind {
				objects = append(objects, o.Object)
			}
		}
		if err := s.Prepare(ctx, objects); err != nil {
			return err
		}
	}
	e.advance(e.begin)
	e.store.Written = e.written
	e.start()
	return nil
}

// inOrder returns the objects sorted by kind and name, so that a plan does not depend on the order of the input.
func (e *engine) inOrder() []client.Object {
	all := slices.Clone(e.in.Objects)
	slices.SortFunc(all, func(a, b client.Object) int {
		return cmp.Or(cmp.Compare(e.kindOf(a), e.kindOf(b)), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return all
}

// put stores an object as if it had existed before the plan.
func (e *engine) put(o client.Object) error {
	if k, ok := o.(lifecycle.Object); ok && e.isPlanned(k) {
		if k.GetUID() == "" {
			k.SetUID(e.uidOf(k))
		}
		if k.GetGeneration() == 0 {
			k.SetGeneration(max(1, k.LifecycleStatus().ObservedGeneration))
		}
	}
	if born := o.GetCreationTimestamp(); born.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(e.begin.Add(-Usual).UTC().Truncate(time.Second)))
	}
	if err := e.store.Put(o); err != nil {
		return fmt.Errorf("taking %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

// isPlanned reports whether the object is of one of the kinds that are planned.
func (e *engine) isPlanned(o client.Object) bool {
	return slices.ContainsFunc(e.in.kinds, func(k Kind) bool { return k.Name == e.kindOf(o) })
}

// uidOf returns the UID of an object whose manifest has none, from the owner references of its children, else an empty UID: the
// store then derives one from the name.
func (e *engine) uidOf(k lifecycle.Object) types.UID {
	for _, o := range e.in.Objects {
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind == e.kindOf(k) && owner.Name == k.GetName() && o.GetNamespace() == k.GetNamespace() {
				return owner.UID
			}
		}
	}
	return ""
}

// start enqueues the first job for every object.
func (e *engine) start() {
	for _, k := range e.objects() {
		e.recorder.follow(k)
	}
	for i := range e.drivers {
		if !e.drivers[i].OnWritesOnly {
			e.wakeAll(i, "", e.begin)
		}
	}
	e.expectWorld()
}

func (e *engine) takenOf(of subject) *assumptions {
	if e.taken[of] == nil {
		e.taken[of] = &assumptions{}
	}
	return e.taken[of]
}

package pass

import (
	"fmt"
	"slices"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
)

// instance of a lifecycle in one reconcile. A lifecycle that an object has only once is its own instance.
type instance struct {
	// removed means that the instance has an entry, or something of it exists, and that it is not declared any more.
	removed bool
	// undecided represents instances that cannot be listed or managed, or of which is not known whether they exist, with the reason if it is
	// known.
	undecided bool
	err       error
	// unlisted is why it is not known which instances there are, in words for users; empty if it is known, or no reason is.
	unlisted string
	// unmanaged means that the undecided instances are declared and can have no entry, so that nothing was done for them.
	unmanaged bool
	// hidden means that no instance is known to be undecided, so that the status shows none.
	hidden bool
}

// UnmanagedInstances is why not all declared instances of a lifecycle are managed. It is no defect of the machine: there are too many, or a
// name is not valid, which is often what a user declares.
type UnmanagedInstances struct{ Err error }

// Error implements error.
func (u *UnmanagedInstances) Error() string { return u.Err.Error() }

// Unwrap returns the reason.
func (u *UnmanagedInstances) Unwrap() error { return u.Err }

// holdsNothing reports that undecided instances of the lifecycle have nothing to release. Others may: an instance whose entry was lost is
// found only by its name.
func (i *instance) holdsNothing(graph machines.Graph) bool {
	return i.unmanaged || graph.Deletion == nil
}

// expand returns the lifecycles with their instances: the declared ones, those that have an entry, and those of which something exists.
// Without several instances the second result is nil.
func (in *In[O, S, E]) expand(snapshot S) (lifecycles []machines.Evaluator[O, S, E], instances []instance) {
	if !slices.ContainsFunc(in.Lifecycles, machines.Evaluator[O, S, E].Several) {
		return in.Lifecycles, nil
	}
	add := func(lc machines.Evaluator[O, S, E], one instance) {
		lifecycles, instances = append(lifecycles, lc), append(instances, one)
	}
	for _, lc := range in.Lifecycles {
		if lc.Several() {
			in.expandOne(lc, snapshot, add)
		} else {
			add(lc, instance{})
		}
	}
	return lifecycles, instances
}

// expandOne adds the instances of one lifecycle, and one without a name for those that are undecided.
func (in *In[O, S, E]) expandOne(lc machines.Evaluator[O, S, E], snapshot S, add func(machines.Evaluator[O, S, E], instance)) {
	names, known, err := lc.Instances(in.Object, snapshot)
	if known && err != nil {
		err = &UnmanagedInstances{err}
	}
	existing, seen, broken := lc.Existing(in.Object, snapshot)
	if err == nil {
		err = broken
	}
	if !known || !seen || err != nil {
		add(lc, in.undecided(lc, snapshot, known, seen, err))
	}
	stored := instancesOf(lc.Name(), in.Status)
	room, waiting, held := lc.MaxInstances()-len(stored), 0, false
	for _, name := range union(names, stored, existing) {
		_, declared := slices.BinarySearch(names, name)
		if _, has := slices.BinarySearch(stored, name); !has {
			room--
			if room < 0 {
				waiting++
				_, exists := slices.BinarySearch(existing, name)
				held = held || exists
				continue
			}
		}
		add(lc.Instance(name), instance{removed: known && err == nil && !declared})
	}
	if waiting > 0 && known && seen && err == nil {
		err := &UnmanagedInstances{fmt.Errorf("%d instances wait until others are released: an object has at most %d", waiting, lc.MaxInstances())}
		add(lc, instance{undecided: true, err: err, unmanaged: !held})
	}
}

// undecided is the instance without a name: known is whether the declared names are known, and seen whether the existing ones are.
func (in *In[O, S, E]) undecided(lc machines.Evaluator[O, S, E], snapshot S, known, seen bool, err error) instance {
	one := instance{undecided: true, err: err, unmanaged: known && seen, hidden: known && err == nil && !in.Deleting}
	if !known || !seen {
		one.unlisted = lc.Unlisted(in.Object, snapshot)
	}
	return one
}

// isRemoved reports whether the snapshot shows that the instance of an entry is not declared any more.
func (in *In[O, S, E]) isRemoved(entry string, snapshot S) bool {
	lifecycle, instance := machines.SplitEntryName(entry)
	lc := Find(in.Lifecycles, lifecycle)
	if lc == nil || !lc.Several() {
		return false
	}
	names, known, err := lc.Instances(in.Object, snapshot)
	_, declared := slices.BinarySearch(names, instance)
	return known && err == nil && !declared
}

// Stored returns the lifecycles as the status has them: of one with several instances those that have an entry.
func Stored[O, S, E any](lifecycles []machines.Evaluator[O, S, E], status *lifecyclev1.Status) []machines.Evaluator[O, S, E] {
	if !slices.ContainsFunc(lifecycles, machines.Evaluator[O, S, E].Several) {
		return lifecycles
	}
	var out []machines.Evaluator[O, S, E]
	for _, lc := range lifecycles {
		if !lc.Several() {
			out = append(out, lc)
			continue
		}
		for _, name := range instancesOf(lc.Name(), status) {
			out = append(out, lc.Instance(name))
		}
	}
	return out
}

// Find returns the lifecycle of an entry, or nil.
func Find[O, S, E any](lifecycles []machines.Evaluator[O, S, E], entry string) machines.Evaluator[O, S, E] {
	name, instance := machines.SplitEntryName(entry)
	for _, lc := range lifecycles {
		switch {
		case lc.Name() == entry:
			return lc
		case lc.Name() == name && instance != "" && lc.Several():
			return lc.Instance(instance)
		}
	}
	return nil
}

// instancesOf returns the sorted names of the instances that have an entry.
func instancesOf(lifecycle string, status *lifecyclev1.Status) []string {
	var names []string
	for i := range status.Lifecycles {
		if name, instance := machines.SplitEntryName(status.Lifecycles[i].Name); name == lifecycle && instance != "" {
			names = append(names, instance)
		}
	}
	slices.Sort(names)
	return names
}

func union(lists ...[]string) []string {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}

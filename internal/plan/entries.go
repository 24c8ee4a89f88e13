package plan

import (
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
)

// entry is the entry of a lifecycle that the kind has, with the machine that this build has for it. The entry may name another one: it
// was written by another release.
type entry struct {
	*lifecyclev1.Lifecycle
	graph machines.Graph
	// state of the machine. It is known if this build has the state that the entry is in.
	state machines.GraphState
	known bool
}

// entries returns the entries of the lifecycles that the kind has. The operator keeps entries of others as they are: no plan depends on
// them.
func (f found) entries() []entry {
	var out []entry
	all := f.LifecycleStatus().Lifecycles
	for i := range all {
		graph, has := f.kind.graphOf(all[i].Name)
		if !has {
			continue
		}
		e := entry{Lifecycle: &all[i], graph: graph}
		for _, s := range graph.States {
			if s.Name == e.State {
				e.state, e.known = s, true
			}
		}
		out = append(out, e)
	}
	return out
}

// graphOf returns the machine of the lifecycle that an entry of an object of the kind belongs to.
func (k *Kind) graphOf(entry string) (graph machines.Graph, has bool) {
	lifecycle, _ := machines.SplitEntryName(entry)
	graph, has = k.Lifecycles[lifecycle]
	return graph, has
}

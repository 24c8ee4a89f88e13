package runtime

import (
	"fmt"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
)

// summarise returns the summary, which the columns of kubectl get show: of the first lifecycle that is not at rest, or else of the first
// lifecycle. It returns old if that is equal.
func summarise(all []lifecycleState, old *lifecyclev1.Summary) *lifecyclev1.Summary {
	var one *lifecycleState
	for i := range all {
		if all[i].entry == nil {
			continue
		}
		if one == nil || one.state.Kind == states.Rest && one.known && (all[i].state.Kind != states.Rest || !all[i].known) {
			one = &all[i]
		}
	}
	if one == nil {
		return nil
	}
	out := lifecyclev1.Summary{Lifecycle: one.name, State: one.entry.State, Since: one.entry.EnteredAt}
	if p := one.entry.Progress; p != nil && one.state.Kind != states.Rest {
		out.Progress = fmt.Sprintf("%d/%d %s", p.Done, p.Total, p.Unit)
	}
	if old != nil && *old == out {
		return old
	}
	fresh := out // out itself is not allocated
	return &fresh
}

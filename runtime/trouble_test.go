package runtime

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

func TestTroubleOfAnActionHasOneEntry(t *testing.T) {
	line := func(guard string) lifecyclev1.WaitingFor { return lifecyclev1.WaitingFor{Guard: guard} }
	var eight []lifecyclev1.WaitingFor
	for i := range 8 {
		eight = append(eight, line(fmt.Sprint("guard-", i)))
	}
	rusty := lifecyclev1.WaitingFor{Guard: "action", Expected: "the action to succeed", Observed: "rusty"}
	for name, c := range map[string]struct {
		last   error
		stored []lifecyclev1.WaitingFor
		want   []lifecyclev1.WaitingFor
	}{
		"none":               {nil, []lifecyclev1.WaitingFor{line("a")}, []lifecyclev1.WaitingFor{line("a")}},
		"some":               {errors.New("rusty"), []lifecyclev1.WaitingFor{line("a")}, []lifecyclev1.WaitingFor{line("a"), rusty}},
		"still some":         {errors.New("rusty"), []lifecyclev1.WaitingFor{line("a"), {Guard: "action", Observed: "stuck"}}, []lifecyclev1.WaitingFor{line("a"), rusty}},
		"no more":            {nil, []lifecyclev1.WaitingFor{line("a"), rusty}, []lifecyclev1.WaitingFor{line("a")}},
		"more than there is": {errors.New("rusty"), eight, append(eight[:7:7], rusty)},
	} {
		t.Run(name, func(t *testing.T) {
			p := reconcileScope[Object, any, any]{memory: &memory{lifecycles: map[string]*trouble{"x": {last: c.last}}}}
			entry := &lifecyclev1.Lifecycle{Name: "x", WaitingFor: c.stored}
			before := len(c.stored)
			p.trouble(entry)
			if diff := cmp.Diff(c.want, entry.WaitingFor); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(c.stored) != before {
				t.Error("the stored entry was changed")
			}
		})
	}
}

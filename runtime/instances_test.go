package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a user declares too much or with a bad name is no defect of the machine.
func TestInstancesThatAreNotManaged(t *testing.T) {
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf("%03d", i)
	}
	type shown struct {
		Reason  string
		Defects bool
	}
	for name, tc := range map[string]struct {
		declared []string
		list     func() []string
		want     shown
		message  string
	}{
		"a name that is too long": {declared: []string{"north", strings.Repeat("x", 64)}, want: shown{Reason: "InstancesNotManaged"}, message: "has 64 bytes, and may have 1 to 63"},
		"an empty name":           {declared: []string{"north", ""}, want: shown{Reason: "InstancesNotManaged"}, message: "has 0 bytes"},
		"too many":                {declared: many, want: shown{Reason: "InstancesNotManaged"}, message: "501 are declared and at most 500 are managed"},
		"a panic is a defect":     {list: func() []string { panic("no list") }, want: shown{Reason: "Defect", Defects: true}, message: "the machine is defective"},
	} {
		t.Run(name, func(t *testing.T) {
			r := withDoors(t, &doors{wanted: map[string]bool{}, open: map[string]bool{}, declared: tc.declared, list: tc.list})
			r.reconcile(4)
			stalled := r.condition("Stalled")
			got := shown{Reason: stalled.Reason, Defects: r.counter("detent_lifecycle_defects_total") > 0}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
			if !strings.Contains(stalled.Message, tc.message) {
				t.Errorf("message %q, want %q", stalled.Message, tc.message)
			}
		})
	}
}

package kafka

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

func TestMembersToAskAreNodesThatAreNotReady(t *testing.T) {
	for name, tc := range map[string]struct {
		needs   []transitions.Need
		unready []string
		want    []string
	}{
		"none is wanted":    {unready: []string{"0", "1", "2"}},
		"all are ready":     {needs: []transitions.Need{roll.NeedMembers}},
		"one is not ready":  {needs: []transitions.Need{roll.NeedMembers}, unready: []string{"1"}, want: []string{"member 1"}},
		"a majority is not": {needs: []transitions.Need{roll.NeedMembers}, unready: []string{"1", "2"}, want: []string{"member 0", "member 1", "member 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := dualRole(t)
			for _, id := range tc.unready {
				r.podShows(id, corev1.ConditionFalse, runningSince(r.clock.Now()))
			}
			r.kafka.asked = nil
			v, err := r.collector.Collect(t.Context(), r.cluster(), lifecycle.ObserveRequest{Needs: tc.needs, Live: true, Now: r.clock.Now(), Read: r.client})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, r.kafka.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if got, want := v.Members.Asked(), len(tc.needs) > 0; got != want {
				t.Errorf("members are asked for: %v, want %v", got, want)
			}
		})
	}
}

func TestRestartDeletesAnUnreadyPodBelowTheBudget(t *testing.T) {
	r, _ := dualRole(t)
	for _, id := range []string{"0", "1", "2"} {
		r.podShows(id, corev1.ConditionFalse, runningSince(r.clock.Now().Add(-time.Hour)))
	}
	r.budgetShows(0, 2)
	r.hand("RestartingNode", 0)
	r.change()
	r.must(r.restart(0, "4.2.0"))
	pod := r.cluster().Name + "-dual-role-0"
	if got := r.written(); len(got) < 2 || got[1] != "delete Pod "+pod && got[2] != "delete Pod "+pod {
		t.Errorf("writes %q, want the pod to be deleted", got)
	}
}

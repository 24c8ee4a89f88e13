package kafka

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// A live observation has a time limit of its own, which must not end before the kubelets were looked at: what no node serves could never be
// restarted.
func TestALiveObservationLooksAtTheKubelets(t *testing.T) {
	for name, live := range map[string]bool{"live": true, "last answers": false} {
		t.Run(name, func(t *testing.T) {
			r, _ := dualRole(t)
			r.must(r.client.Create(t.Context(), &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "worker"},
				Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
			}))
			for _, pod := range r.pods() {
				pod.Spec.NodeName = "worker"
				r.must(r.client.Update(t.Context(), &pod))
			}
			r.kafkaCountsOn(-1)
			for _, id := range []string{"0", "1", "2"} {
				r.podShows(id, corev1.ConditionFalse, runningSince(r.clock.Now()))
			}
			r.clock.Step(time.Hour)
			r.needs = []transitions.Need{roll.NeedMembers}
			members, known := r.snapshot(live).Members.Get()
			if !known {
				t.Fatalf("members cannot be read: %+v", r.snapshot(live).Members.Gap())
			}
			want := roll.Members{0: {Answered: false}, 1: {Answered: false}, 2: {Answered: false}}
			if diff := cmp.Diff(want, members); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}

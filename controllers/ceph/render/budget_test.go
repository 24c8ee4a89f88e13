package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// A budget concerns the pods of the daemons of its type, and no other pods of the cluster: those of a Job would count as unavailable.
func TestBudgetSelectsTheDaemonsOfItsType(t *testing.T) {
	in, all := input(t, v18)
	pods := map[string]map[string]string{"tools": toolsOf(t, in).Spec.Template.Labels}
	for _, d := range all {
		got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
		if err != nil {
			t.Fatal(err)
		}
		pods[d.Name.String()] = got.Spec.Template.Labels
	}
	pods["detection"] = render.Detect(in.Cluster, "ceph:1", 167).Spec.Template.Labels
	pods["pull"] = render.Pull(in.Cluster, ceph.TypeMon, "node-1", "ceph:1", 167).Spec.Template.Labels
	for _, kind := range ceph.Types() {
		budget := render.Budget(in.Cluster, kind)
		if kind == ceph.TypeOSD {
			budget = render.OSDBudget(in.Cluster, nil, nil)
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil {
			t.Fatal(err)
		}
		for name, of := range pods {
			if got, want := selector.Matches(labels.Set(of)), of[render.LabelType] == string(kind); got != want {
				t.Errorf("the budget of %s selects the pod of %s: %v, want %v", kind, name, got, want)
			}
		}
	}
	want := policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: new(intstr.FromInt32(1)), UnhealthyPodEvictionPolicy: new(policyv1.IfHealthyBudget),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ceph.rook.io/cluster": "rook-ceph", "ceph_daemon_type": "mon"}},
	}
	if diff := cmp.Diff(want, render.Budget(in.Cluster, ceph.TypeMon).Spec); diff != "" {
		t.Errorf("budget (-want +got):\n%s", diff)
	}
}

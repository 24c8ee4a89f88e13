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
		budget := render.Budget(in.Cluster, kind, render.Evictions{Count: 3})
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
}

// TestBudget has a minimum: a maximum counts only the daemons that have a pod.
func TestBudget(t *testing.T) {
	in, _ := input(t, v18)
	every := metav1.LabelSelectorRequirement{Key: "ceph_daemon_id", Operator: metav1.LabelSelectorOpExists}
	others := metav1.LabelSelectorRequirement{Key: "ceph_daemon_id", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a", "b"}}
	for name, tc := range map[string]struct {
		of        ceph.Type
		permit    render.Evictions
		least     int32
		unhealthy policyv1.UnhealthyPodEvictionPolicyType
		selects   metav1.LabelSelectorRequirement
	}{
		"one of three":          {ceph.TypeMon, render.Evictions{Count: 3}, 2, policyv1.IfHealthyBudget, every},
		"one of those that may": {ceph.TypeOSD, render.Evictions{Count: 3, Free: []string{"a", "b"}}, 2, policyv1.IfHealthyBudget, others},
		"a host is away":        {ceph.TypeMon, render.Evictions{Count: 3, Free: []string{"a", "b"}, None: true}, 3, policyv1.IfHealthyBudget, others},
		"a single one":          {ceph.TypeMgr, render.Evictions{Count: 1}, 0, policyv1.AlwaysAllow, every},
		"none yet":              {ceph.TypeMDS, render.Evictions{}, 0, policyv1.AlwaysAllow, every},
		"gateways":              {ceph.TypeRGW, render.Evictions{Count: 2}, 1, policyv1.AlwaysAllow, every},
	} {
		t.Run(name, func(t *testing.T) {
			want := policyv1.PodDisruptionBudgetSpec{
				MinAvailable: new(intstr.FromInt32(tc.least)), UnhealthyPodEvictionPolicy: &tc.unhealthy,
				Selector: &metav1.LabelSelector{
					MatchLabels:      map[string]string{"ceph.rook.io/cluster": "rook-ceph", "ceph_daemon_type": string(tc.of)},
					MatchExpressions: []metav1.LabelSelectorRequirement{tc.selects},
				},
			}
			if diff := cmp.Diff(want, render.Budget(in.Cluster, tc.of, tc.permit).Spec); diff != "" {
				t.Errorf("budget (-want +got):\n%s", diff)
			}
		})
	}
}

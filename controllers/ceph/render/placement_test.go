package render_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestJobsFollowThePlacement: a Job whose pod no node takes does not change with the placement, so that the corrected one is another Job. Without a
// placement the names are those of earlier releases.
func TestJobsFollowThePlacement(t *testing.T) {
	tolerates := []corev1.Toleration{{Key: "storage", Operator: corev1.TolerationOpExists, TolerationSeconds: new(int64(60))}}
	const detect, pull = "rook-ceph-detect-", "rook-ceph-pull-"
	for name, tc := range map[string]struct {
		placement      map[string]cephv1.Placement
		detects, pulls bool
	}{
		"none":                    {},
		"of another type":         {placement: map[string]cephv1.Placement{"osd": {Tolerations: tolerates}}},
		"tolerations of monitors": {placement: map[string]cephv1.Placement{"mon": {Tolerations: tolerates}}, detects: true, pulls: true},
		"tolerations of all":      {placement: map[string]cephv1.Placement{"all": {Tolerations: tolerates}}, detects: true, pulls: true},
		"nodes of monitors":       {placement: map[string]cephv1.Placement{"mon": {NodeSelector: map[string]string{"role": "mon"}}}, detects: true},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := input(t, v18)
			bare := *in.Cluster.DeepCopy()
			bare.Spec.Placement = nil
			in.Cluster.Spec.Placement = tc.placement
			again := in.Cluster.DeepCopy()
			first, same, before := render.Detect(in.Cluster, "ceph:1", 167), render.Detect(again, "ceph:1", 167), render.Detect(&bare, "ceph:1", 167)
			if first.Name != same.Name || (first.Name != before.Name) != tc.detects || before.Name != detect+render.ImageID("ceph:1") {
				t.Errorf("detections %s, %s, %s without a placement", first.Name, same.Name, before.Name)
			}
			first, same, before = render.Pull(in.Cluster, ceph.TypeMon, "n", "ceph:1", 1), render.Pull(again, ceph.TypeMon, "n", "ceph:1", 1), render.Pull(&bare, ceph.TypeMon, "n", "ceph:1", 1)
			if first.Name != same.Name || (first.Name != before.Name) != tc.pulls || first.Name != pull+first.Labels[render.LabelPull] {
				t.Errorf("pulls %s, %s, %s without a placement", first.Name, same.Name, before.Name)
			}
		})
	}
}

package facts_test

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// TestRemake changes one part of a situation in which the data of mon.a may be made again.
func TestRemake(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	mon := ceph.Daemon{Type: ceph.TypeMon, ID: "a"}
	monitors := func(at time.Time, all []string, members ...string) transitions.Fact[cephupgrade.Cluster] {
		return transitions.Known(cephupgrade.Cluster{Quorum: ceph.Quorum{Members: members, Monitors: all}}, at)
	}
	quorum := func(at time.Time, members ...string) transitions.Fact[cephupgrade.Cluster] {
		return monitors(at, []string{"a", "b", "c"}, members...)
	}
	end := func(s *observation.Snapshot) *corev1.ContainerStateTerminated {
		return s.Pods[mon].Status.InitContainerStatuses[0].LastTerminationState.Terminated
	}
	recorded := func(s *observation.Snapshot, how func(*record.Daemon)) {
		one := s.Record.Daemons["mon.a"]
		how(&one)
		s.Record.Daemons["mon.a"] = one
	}
	for name, tc := range map[string]struct {
		change       func(*cephv1.Cluster, *observation.Snapshot)
		lost, remade bool
	}{
		"approved, and the others are a quorum": {change: func(*cephv1.Cluster, *observation.Snapshot) {}, lost: true, remade: true},
		"not approved":                          {change: func(c *cephv1.Cluster, _ *observation.Snapshot) { c.Annotations = nil }, lost: true},
		"approved for an earlier loss":          {change: func(_ *cephv1.Cluster, s *observation.Snapshot) { recorded(s, func(d *record.Daemon) { d.Remade = 1 }) }, lost: true},
		"Ceph does not answer": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Cluster = transitions.Unreadable[cephupgrade.Cluster](errors.New("timed out"))
		}, lost: true},
		"Ceph was not asked": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) { s.Cluster = transitions.Fact[cephupgrade.Cluster]{} }, lost: true},
		"the reading is too old": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Cluster = quorum(noon.Add(9*time.Second), "b", "c")
		}, lost: true},
		"the others are no quorum": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) { s.Cluster = quorum(noon.Add(time.Minute), "b") }, lost: true},
		"it counts as one of the quorum": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Cluster = quorum(noon.Add(time.Minute), "a", "b", "c")
		}, lost: true},
		"it was removed from the cluster, as ceph mon rm does": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Cluster = monitors(noon.Add(time.Minute), []string{"b", "c"}, "b", "c")
		}, lost: true, remade: true},
		"it was removed, and the others are no quorum": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Cluster = monitors(noon.Add(time.Minute), []string{"b", "c"}, "b")
		}, lost: true},
		"another one was removed, too": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Cluster = monitors(noon.Add(time.Minute), []string{"b"}, "b")
		}, lost: true},
		"it is permitted already": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			recorded(s, func(d *record.Daemon) { d.Format = record.FormatAllowed })
		}},
		"the container ended for another reason": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) { end(s).ExitCode = 1 }},
		"the container says something else":      {change: func(_ *cephv1.Cluster, s *observation.Snapshot) { end(s).Message = "No such file" }},
		"the pod is of an earlier template":      {change: func(_ *cephv1.Cluster, s *observation.Snapshot) { s.Pods[mon].Annotations = nil }},
		"the pod ends": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Pods[mon].DeletionTimestamp = &metav1.Time{Time: noon}
		}},
		"its host is gone": {lost: true, remade: true, change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Pods[mon].Status, s.Pods[mon].CreationTimestamp = corev1.PodStatus{}, metav1.NewTime(noon)
			s.HostGone = map[ceph.Daemon]bool{mon: true}
		}},
		"its host is gone, and its pod is newer than the reading": {lost: true, change: func(_ *cephv1.Cluster, s *observation.Snapshot) {
			s.Pods[mon].Status, s.Pods[mon].CreationTimestamp = corev1.PodStatus{}, metav1.NewTime(noon.Add(time.Second))
			s.HostGone = map[ceph.Daemon]bool{mon: true}
		}},
		"there is no pod": {change: func(_ *cephv1.Cluster, s *observation.Snapshot) { s.Pods = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cephv1.Cluster{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{labels.Approve: "format-storage=mon.a/1"}}}
			of := map[string]string{render.Revision: "1"}
			s := &observation.Snapshot{
				Declared: []daemons.Daemon{{Name: mon}}, Record: &record.Record{Daemons: map[string]record.Daemon{
					"mon.a": {Format: record.FormatDone, Reference: "ceph:16"}, "mon.b": {Reference: "ceph:16"}, "mon.c": {Reference: "ceph:16"},
				}},
				Deployments: map[ceph.Daemon]*appsv1.Deployment{mon: {Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: of}}}}},
				Pods: map[ceph.Daemon]*corev1.Pod{mon: {ObjectMeta: metav1.ObjectMeta{Annotations: of}, Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{
					Name: render.FormatContainer, LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
						ExitCode: render.ExitStorage, Message: render.StorageLostMarker + " the data of mon.a is gone\n", FinishedAt: metav1.NewTime(noon),
					}},
				}}}}},
				Cluster: quorum(noon.Add(10*time.Second), "b", "c"),
			}
			tc.change(c, s)
			losses := facts.Losses(s)
			if (len(losses) == 1) != tc.lost {
				t.Fatalf("losses %+v, want one: %v", losses, tc.lost)
			}
			if tc.lost && facts.Remake(c, s, &losses[0]) != tc.remade {
				t.Errorf("made again: %v, want %v", !tc.remade, tc.remade)
			}
		})
	}
}

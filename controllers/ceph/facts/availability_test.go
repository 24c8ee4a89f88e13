package facts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// TestAvailabilityOfAGateway: only what its pod shows says whether a gateway serves. One that does not start holds back other gateways alone.
func TestAvailabilityOfAGateway(t *testing.T) {
	rgw := ceph.Daemon{Type: ceph.TypeRGW, ID: "store.a"}
	pod := func(ready corev1.ConditionStatus, status corev1.ContainerStatus) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a"}, Status: corev1.PodStatus{
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}, ContainerStatuses: []corev1.ContainerStatus{status},
		}}
	}
	runs := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}
	failed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "no space"}}
	again := runs
	again.LastTerminationState = failed
	crashed := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, LastTerminationState: failed}
	ending := pod(corev1.ConditionTrue, runs)
	ending.DeletionTimestamp = &metav1.Time{}
	refused := appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate"}}}
	member := func(running, ready bool, serving transitions.Answer, instance string) []lifecycle.Member {
		return []lifecycle.Member{{Name: "rgw.store.a", Instance: instance, Running: running, Ready: ready, Serving: serving, InSync: serving == transitions.Yes}}
	}
	for name, tc := range map[string]struct {
		pod      *corev1.Pod
		status   appsv1.DeploymentStatus
		selected ceph.Type
		want     []lifecycle.Member
	}{
		"it is ready":                        {pod(corev1.ConditionTrue, runs), appsv1.DeploymentStatus{}, ceph.TypeMon, member(true, true, transitions.Yes, "a")},
		"it runs and is not ready":           {pod(corev1.ConditionFalse, runs), appsv1.DeploymentStatus{}, ceph.TypeMon, member(true, false, transitions.Unknown, "a")},
		"it runs again after an error":       {pod(corev1.ConditionFalse, again), appsv1.DeploymentStatus{}, ceph.TypeMon, member(true, false, transitions.Unknown, "a")},
		"it starts":                          {pod(corev1.ConditionFalse, corev1.ContainerStatus{}), appsv1.DeploymentStatus{}, ceph.TypeMon, member(false, false, transitions.Unknown, "a")},
		"it has no pod yet":                  {nil, appsv1.DeploymentStatus{}, ceph.TypeMon, member(false, false, transitions.Unknown, "")},
		"it crashes, and a monitor is next":  {pod(corev1.ConditionFalse, crashed), appsv1.DeploymentStatus{}, ceph.TypeMon, nil},
		"it crashes, and a gateway is next":  {pod(corev1.ConditionFalse, crashed), appsv1.DeploymentStatus{}, ceph.TypeRGW, member(true, false, transitions.No, "a")},
		"its pod is refused":                 {nil, refused, ceph.TypeRGW, member(true, false, transitions.No, "")},
		"its pod is refused, and one serves": {ending, refused, ceph.TypeMon, member(true, false, transitions.Unknown, "a")},
	} {
		t.Run(name, func(t *testing.T) {
			s := &observation.Snapshot{
				Record:      &record.Record{Daemons: map[string]record.Daemon{"rgw.store.a": {Reference: "ceph:16"}}},
				Deployments: map[ceph.Daemon]*appsv1.Deployment{rgw: {Status: tc.status}}, Pods: map[ceph.Daemon]*corev1.Pod{rgw: tc.pod},
				Selected: ceph.Daemon{Type: tc.selected, ID: "b"},
			}
			s.Deployments[rgw].Spec.Template.Spec.Containers = []corev1.Container{{Image: "ceph:16"}}
			if diff := cmp.Diff(tc.want, facts.Availability(&cephv1.Cluster{}, s).Members); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestAvailabilityOfANewOSD: one that has no data and does not start holds back itself alone.
func TestAvailabilityOfANewOSD(t *testing.T) {
	osd := ceph.Daemon{Type: ceph.TypeOSD, ID: "3"}
	counts := []lifecycle.Member{{Name: "osd.3", Running: true, Serving: transitions.No}}
	for name, tc := range map[string]struct {
		format   record.Format
		shown    ceph.OSD
		selected ceph.Daemon
		status   string
		want     []lifecycle.Member
	}{
		"it does not start":                 {format: record.FormatAllowed, shown: ceph.OSD{New: true}, status: "Unschedulable"},
		"it is selected itself":             {format: record.FormatAllowed, shown: ceph.OSD{New: true}, status: "Unschedulable", selected: osd, want: counts},
		"it was in once":                    {format: record.FormatAllowed, status: "Unschedulable", want: counts},
		"it has served, by the record":      {format: record.FormatDone, shown: ceph.OSD{New: true}, status: "Unschedulable", want: counts},
		"nothing says why it is not up yet": {format: record.FormatAllowed, shown: ceph.OSD{New: true}, want: []lifecycle.Member{{Name: "osd.3", Serving: transitions.No}}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.shown.Number = 3
			pod := &corev1.Pod{}
			if tc.status != "" {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: tc.status}}
			}
			s := &observation.Snapshot{
				Record:      &record.Record{Daemons: map[string]record.Daemon{"osd.3": {Reference: "ceph:16", Format: tc.format}}},
				Deployments: map[ceph.Daemon]*appsv1.Deployment{osd: {}}, Pods: map[ceph.Daemon]*corev1.Pod{osd: pod}, Selected: tc.selected,
				Cluster: transitions.Known(cephupgrade.Cluster{OSDs: ceph.OSDMap{OSDs: []ceph.OSD{tc.shown}}}, time.Now()),
			}
			s.Deployments[osd].Spec.Template.Spec.Containers = []corev1.Container{{Image: "ceph:16"}}
			if diff := cmp.Diff(tc.want, facts.Availability(&cephv1.Cluster{}, s).Members); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestServesOfAMetadataServer does not count one that the monitors do not hear from, which they may show as active.
func TestServesOfAMetadataServer(t *testing.T) {
	for name, tc := range map[string]struct {
		shown ceph.MDS
		want  bool
	}{
		"active":                {ceph.MDS{State: ceph.MDSActive}, true},
		"active, and not heard": {ceph.MDS{State: ceph.MDSActive, Laggy: true}, false},
		"follows an active one": {ceph.MDS{State: ceph.MDSStandbyReplay}, true},
		"takes over":            {ceph.MDS{State: "up:reconnect"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tc.shown.Name = "myfs-a"
			m := cephupgrade.Cluster{Filesystems: ceph.Filesystems{Filesystems: []ceph.Filesystem{{Name: "myfs", MDS: []ceph.MDS{tc.shown}}}}}
			if got := facts.Serves(&m, ceph.Daemon{Type: ceph.TypeMDS, ID: "myfs-a"}); got != tc.want {
				t.Errorf("it serves: %t", got)
			}
		})
	}
}

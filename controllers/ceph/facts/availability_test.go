package facts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
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
	now := time.Now()
	counts := func(running, lost bool) []lifecycle.Member {
		return []lifecycle.Member{{Name: "osd.3", Running: running, Lost: lost, Serving: transitions.No}}
	}
	pod := func(status string, age time.Duration) *corev1.Pod {
		out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-age))}}
		if status != "" {
			out.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: status}}
		}
		return out
	}
	ending := pod("", time.Hour)
	ending.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Minute)}
	ending.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
	terminating := ending.DeepCopy()
	terminating.DeletionTimestamp.Time = now
	prepares := func(state corev1.ContainerState) *corev1.Pod {
		out := pod("", time.Hour)
		out.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: state}}
		out.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}}
		return out
	}
	preparing := prepares(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-time.Hour))}})
	prepared := func(ago time.Duration) *corev1.Pod {
		return prepares(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(-ago))}})
	}
	restarting := pod("", time.Hour)
	restarting.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now)}}}}
	fresh, allowed := ceph.OSD{Number: 3, New: true}, record.FormatAllowed
	for name, tc := range map[string]struct {
		format   record.Format
		shown    ceph.OSD
		selected ceph.Daemon
		pod      *corev1.Pod
		have     *appsv1.Deployment
		want     []lifecycle.Member
	}{
		"it does not start":                         {format: allowed, shown: fresh, pod: pod("Unschedulable", 0), have: replicas(1)},
		"it is selected itself":                     {format: allowed, shown: fresh, pod: pod("Unschedulable", 0), have: replicas(1), selected: osd, want: counts(true, false)},
		"it was in once":                            {format: allowed, shown: ceph.OSD{Number: 3}, pod: pod("Unschedulable", 0), have: replicas(1), want: counts(true, false)},
		"it has served, by the record":              {format: record.FormatDone, shown: fresh, pod: pod("Unschedulable", 0), have: replicas(1), want: counts(true, false)},
		"nothing says why it is not up yet":         {format: allowed, shown: fresh, pod: pod("", time.Minute), have: replicas(1), want: counts(false, false)},
		"its volume is not attached":                {format: allowed, shown: fresh, pod: pod("", 2*time.Minute), have: replicas(1)},
		"its data is being made for long":           {format: allowed, shown: fresh, pod: preparing, have: replicas(1), want: counts(false, false)},
		"its data was just made":                    {format: allowed, shown: fresh, pod: prepared(time.Minute), have: replicas(1), want: counts(false, false)},
		"its data was made, and nothing follows":    {format: allowed, shown: fresh, pod: prepared(2 * time.Minute), have: replicas(1)},
		"its process ended, and starts again":       {format: allowed, shown: fresh, pod: restarting, have: replicas(1), want: counts(false, false)},
		"nor is that of one that was in":            {format: allowed, shown: ceph.OSD{Number: 3}, pod: pod("", 2*time.Minute), have: replicas(1), want: counts(false, false)},
		"an administrator scaled it to zero":        {format: allowed, shown: fresh, have: replicas(0)},
		"also if it was in":                         {format: allowed, shown: ceph.OSD{Number: 3}, have: replicas(0), want: counts(false, true)},
		"its pod does not end":                      {format: allowed, shown: fresh, pod: ending, have: replicas(1)},
		"the pod of one that was in does not end":   {format: allowed, shown: ceph.OSD{Number: 3}, pod: ending, have: replicas(1), want: counts(false, true)},
		"the pod of one that was in ends":           {format: allowed, shown: ceph.OSD{Number: 3}, pod: terminating, have: replicas(1), want: counts(false, false)},
		"its Deployment is refused":                 {format: allowed, shown: fresh},
		"its Deployment is refused, and it is next": {format: allowed, shown: fresh, selected: osd, want: counts(false, true)},
		"the Deployment of one that was in is so":   {format: allowed, shown: ceph.OSD{Number: 3}, want: counts(false, true)},
		"the Deployment of one that served is, too": {format: record.FormatDone, shown: fresh, want: counts(false, true)},
	} {
		t.Run(name, func(t *testing.T) {
			s := &observation.Snapshot{
				Record:   &record.Record{Daemons: map[string]record.Daemon{"osd.3": {Reference: "ceph:16", Format: tc.format}}},
				Declared: []daemons.Daemon{{Name: osd}}, Deployments: map[ceph.Daemon]*appsv1.Deployment{}, Pods: map[ceph.Daemon]*corev1.Pod{}, Selected: tc.selected, Now: now,
				Cluster: transitions.Known(cephupgrade.Cluster{OSDs: ceph.OSDMap{OSDs: []ceph.OSD{tc.shown}}}, now),
			}
			if tc.pod != nil {
				s.Pods[osd] = tc.pod
			}
			if tc.have != nil {
				s.Deployments[osd] = tc.have
			}
			if diff := cmp.Diff(tc.want, facts.Availability(&cephv1.Cluster{}, s).Members); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// replicas is a Deployment with the number of them.
func replicas(n int32) *appsv1.Deployment {
	out := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &n}}
	out.Spec.Template.Spec.Containers = []corev1.Container{{Image: "ceph:16"}}
	return out
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

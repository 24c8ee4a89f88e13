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
	"github.com/detent-dev/detent/transitions"
)

// problem is nil without a message.
func problem(reason transitions.Reason, message string) *transitions.Problem {
	if message == "" {
		return nil
	}
	return &transitions.Problem{Reason: reason, Message: message}
}

// TestTrouble is why the pod of a daemon does not start.
func TestTrouble(t *testing.T) {
	waits := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}}
	}
	scheduled := func(status corev1.ConditionStatus, reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: status, Reason: reason, Message: message}}}
	}
	ended := waits("CrashLoopBackOff")
	ended.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Message: " unable to read magic\n"}
	crashed := func(waiting, reason string, code int32) corev1.PodStatus {
		out := waits(waiting)
		out.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}
		return out
	}
	again := func(state corev1.ContainerState, started bool) corev1.ContainerStatus {
		out := *ended.ContainerStatuses[0].DeepCopy()
		out.State, out.Started = state, &started
		return out
	}
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	succeeded := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	initial := func(c corev1.ContainerStatus) corev1.PodStatus {
		return corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{c}}
	}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		reason transitions.Reason
		want   string
	}{
		"nothing":                                                {corev1.PodStatus{}, "", ""},
		"its containers are being made":                          {waits("ContainerCreating"), "", ""},
		"its image cannot be pulled":                             {waits("ImagePullBackOff"), "ImagePullBackOff", "ImagePullBackOff"},
		"its container ended with a text":                        {ended, facts.ReasonContainerFailed, "unable to read magic"},
		"its container crashed without a text":                   {crashed("CrashLoopBackOff", "Error", 139), "CrashLoopBackOff", "CrashLoopBackOff: it ended with exit code 139 (Error): see its log"},
		"its container was killed for its memory":                {crashed("CrashLoopBackOff", "OOMKilled", 137), facts.ReasonOutOfMemory, "OOMKilled: it needs more memory than its limit in spec.resources, or than its node has"},
		"its image is gone since its container crashed":          {crashed("ImagePullBackOff", "Error", 1), "ImagePullBackOff", "ImagePullBackOff"},
		"an init container that ended with a text runs again":    {initial(again(runs, true)), facts.ReasonContainerFailed, "unable to read magic"},
		"an init container that ended with a text has succeeded": {initial(again(succeeded, false)), "", ""},
		"its container ended with a text and has not started":    {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{again(runs, false)}}, facts.ReasonContainerFailed, "unable to read magic"},
		"its container ended with a text and has started":        {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{again(runs, true)}}, "", ""},
		"it is bound to a node":                                  {scheduled(corev1.ConditionTrue, "", ""), "", ""},
		"no node has room for it": {
			scheduled(corev1.ConditionFalse, "Unschedulable", "0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."),
			"Unschedulable", "Unschedulable: Insufficient memory",
		},
		"nodes are excluded for several reasons": {
			scheduled(corev1.ConditionFalse, "Unschedulable", "0/12 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 11 node(s) didn't match Pod's node affinity/selector."),
			"Unschedulable", "Unschedulable: node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, node(s) didn't match Pod's node affinity/selector",
		},
		"it is held back": {scheduled(corev1.ConditionFalse, "SchedulingGated", ""), "SchedulingGated", "SchedulingGated"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(problem(tc.reason, tc.want), facts.Trouble(&corev1.Pod{Status: tc.status})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if got := facts.Trouble(nil); got != nil {
		t.Errorf("without a pod: %+v", got)
	}
}

// TestRefused is why the API server refuses the pod of a daemon, which has none then.
func TestRefused(t *testing.T) {
	const message = `pods "ceph-mon-a-5d8f7c6b9-x2vqk" is forbidden: exceeded quota: small, requested: memory=1Gi, limited: memory=512Mi`
	mon := ceph.Daemon{Type: ceph.TypeMon, ID: "a"}
	failure := func(status corev1.ConditionStatus, message string) appsv1.DeploymentStatus {
		return appsv1.DeploymentStatus{ObservedGeneration: 2, Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable"},
			{Type: appsv1.DeploymentReplicaFailure, Status: status, Reason: "FailedCreate", Message: message},
		}}
	}
	evicted := corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}
	earlier := failure(corev1.ConditionTrue, message)
	earlier.ObservedGeneration = 1
	for name, tc := range map[string]struct {
		status appsv1.DeploymentStatus
		pod    *corev1.Pod
		want   string
	}{
		"by a quota":                     {failure(corev1.ConditionTrue, message), nil, "FailedCreate: exceeded quota: small, requested: memory=1Gi, limited: memory=512Mi"},
		"by a webhook":                   {failure(corev1.ConditionTrue, `admission webhook "images" denied the request: not signed`), nil, `FailedCreate: admission webhook "images" denied the request: not signed`},
		"while the one from before ends": {failure(corev1.ConditionTrue, message), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}, "FailedCreate: exceeded quota: small, requested: memory=1Gi, limited: memory=512Mi"},
		"not any more":                   {failure(corev1.ConditionFalse, message), nil, ""},
		"the one of another template":    {earlier, nil, ""},
		"it has a pod":                   {failure(corev1.ConditionTrue, message), &corev1.Pod{}, ""},
		"it has one that was evicted":    {failure(corev1.ConditionTrue, message), &corev1.Pod{Status: evicted}, "FailedCreate: exceeded quota: small, requested: memory=1Gi, limited: memory=512Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &observation.Snapshot{
				Record:      &record.Record{Daemons: map[string]record.Daemon{"mon.a": {Reference: "ceph:16"}}},
				Deployments: map[ceph.Daemon]*appsv1.Deployment{mon: {ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: tc.status}},
				Pods:        map[ceph.Daemon]*corev1.Pod{mon: tc.pod},
			}
			s.Deployments[mon].Spec.Template.Spec.Containers = []corev1.Container{{Image: "ceph:16"}}
			want := problem("FailedCreate", tc.want)
			if diff := cmp.Diff([]*transitions.Problem{want, want}, []*transitions.Problem{facts.Why(s, mon), facts.Daemons(s)[0].Trouble}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestUnpulled says that no container of a pod has ever run, and none can.
func TestUnpulled(t *testing.T) {
	waits := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}
	made := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}
	ran := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	again := waits
	again.LastTerminationState = ran.State
	runs := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	for name, tc := range map[string]struct {
		first, main corev1.ContainerStatus
		want        bool
	}{
		"the image of the first container cannot be pulled": {waits, made, true},
		"the image cannot be pulled":                        {corev1.ContainerStatus{}, waits, true},
		"its containers are being made":                     {made, made, false},
		"a container has ended":                             {ran, waits, false},
		"a container ran before":                            {corev1.ContainerStatus{}, again, false},
		"a container runs":                                  {runs, waits, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{tc.first}, ContainerStatuses: []corev1.ContainerStatus{tc.main}}}
			if got := facts.Unpulled(p); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// TestWhyADaemonHasNoPod names what an administrator has to do.
func TestWhyADaemonHasNoPod(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	deleted := func(before time.Duration) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "before", DeletionTimestamp: &metav1.Time{Time: now.Add(-before)}}}
	}
	evicted := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory. "}}
	for name, tc := range map[string]struct {
		of       ceph.Type
		replicas int32
		pod      *corev1.Pod
		reason   transitions.Reason
		want     string
	}{
		"it is about to start":             {of: ceph.TypeMgr, replicas: 1},
		"it was scaled to zero":            {of: ceph.TypeMgr, reason: facts.ReasonScaledToZero, want: "the Deployment one has 0 replicas: kubectl scale -n rook-ceph deployment one --replicas=1"},
		"the upgrade stops it":             {of: ceph.TypeMDS},
		"its pod ends":                     {of: ceph.TypeOSD, replicas: 1, pod: deleted(-10 * time.Second)},
		"its pod has just passed its time": {of: ceph.TypeOSD, replicas: 1, pod: deleted(10 * time.Second)},
		"its pod was evicted":              {of: ceph.TypeOSD, replicas: 1, pod: evicted, reason: "Evicted", want: "Evicted: The node was low on resource: memory."},
		"it was scaled after an eviction":  {of: ceph.TypeMgr, pod: evicted, reason: facts.ReasonScaledToZero, want: "the Deployment one has 0 replicas: kubectl scale -n rook-ceph deployment one --replicas=1"},
		"its pod does not end":             {of: ceph.TypeOSD, replicas: 1, pod: deleted(time.Minute), reason: facts.ReasonPodNotEnding, want: "the pod before does not end: if its node is down for good, delete it with --force"},
	} {
		t.Run(name, func(t *testing.T) {
			one := ceph.Daemon{Type: tc.of, ID: "a"}
			s := &observation.Snapshot{Now: now, Pods: map[ceph.Daemon]*corev1.Pod{one: tc.pod}, Deployments: map[ceph.Daemon]*appsv1.Deployment{
				one: {ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "one"}, Spec: appsv1.DeploymentSpec{Replicas: &tc.replicas}},
			}}
			if diff := cmp.Diff(problem(tc.reason, tc.want), facts.Why(s, one)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

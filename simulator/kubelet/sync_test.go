package kubelet_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/simulator/kubelet"
)

func TestPodsSyncLifecycles(t *testing.T) {
	tests := map[string]struct {
		given func(*stage)
		until int64
		want  []string
	}{
		"a pod that comes up": {
			until: 20_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=running kafka=PodInitializing",
				"1501 Running format=exit0 kafka=running",
				"4501 Running Ready format=exit0 kafka=running",
			},
		},
		"without a probe a pod is ready as soon as its program is": {
			given: func(s *stage) { s.pod.Spec.Containers[0].ReadinessProbe = nil },
			until: 20_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=running kafka=PodInitializing",
				"1501 Running Ready format=exit0 kafka=running",
			},
		},
		"without init containers": {
			given: func(s *stage) { s.pod.Spec.InitContainers = nil },
			until: 5_000,
			want:  []string{"201 Pending kafka=ContainerCreating", "1001 Running kafka=running", "4001 Running Ready kafka=running"},
		},
		"an image that cannot be pulled": {
			given: func(s *stage) { s.host.badImages = map[string]bool{"kafka:1": true} },
			until: 20_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=ErrImagePull kafka=PodInitializing",
				"3001 Pending format=ImagePullBackOff kafka=PodInitializing",
				"13001 Pending format=ErrImagePull kafka=PodInitializing",
				"15001 Pending format=ImagePullBackOff kafka=PodInitializing",
			},
		},
		"an image of the main container alone": {
			given: func(s *stage) {
				s.host.badImages = map[string]bool{"kafka:2": true}
				s.pod.Spec.Containers[0].Image = "kafka:2"
			},
			until: 2_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=PodInitializing kafka=ErrImagePull",
			},
		},
		"a pod that never becomes ready": {
			given: func(s *stage) { s.host.notReady = true },
			until: 600_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=running kafka=PodInitializing",
				"1501 Running format=exit0 kafka=running",
			},
		},
		"a crash loop backs off further each time": {
			given: func(s *stage) { s.host.exits = []int64{2000, 2000, 2000, 2000, 2000, 2000, 2000} },
			until: 60_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=running kafka=PodInitializing",
				"1501 Running format=exit0 kafka=running",
				"3501 Running format=exit0 kafka=exit1",
				"4501 Running format=exit0 kafka=running again x1",
				"6501 Running format=exit0 kafka=CrashLoopBackOff x1",
				"16501 Running format=exit0 kafka=running again x2",
				"18501 Running format=exit0 kafka=CrashLoopBackOff x2",
				"38501 Running format=exit0 kafka=running again x3",
				"40501 Running format=exit0 kafka=CrashLoopBackOff x3",
			},
		},
		"an init container that fails": {
			given: func(s *stage) {
				s.host.initEnds = []kubelet.End{{Code: 64, Words: "storage lost"}, {Code: 64, Words: "storage lost"}, {}}
			},
			until: 20_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=running kafka=PodInitializing",
				"1501 Pending format=exit64 kafka=PodInitializing",
				"2501 Pending format=running again x1 kafka=PodInitializing",
				"3001 Pending format=CrashLoopBackOff x1 kafka=PodInitializing",
				"13001 Pending format=running again x2 kafka=PodInitializing",
				"13501 Running format=exit0 kafka=running",
				"16501 Running Ready format=exit0 kafka=running",
			},
		},
		"a program that ends at once": {
			given: func(s *stage) { s.host.startEnds = []kubelet.End{{Code: 1, Words: "no configuration"}, {}} },
			until: 10_000,
			want: []string{
				"201 Pending format=PodInitializing kafka=PodInitializing",
				"1001 Pending format=running kafka=PodInitializing",
				"1501 Running format=exit0 kafka=exit1",
				"2501 Running format=exit0 kafka=running again x1",
				"5501 Running Ready format=exit0 kafka=running again x1",
			},
		},
		"a claim that does not exist": {
			given: func(s *stage) { s.mounts.Unclaimed = "data-0" },
			until: 5_000,
			want:  []string{"201 Pending Unschedulable"},
		},
		"no node that takes pods": {
			given: func(s *stage) { s.nodes = []kubelet.Node{{Name: "a", Unschedulable: true}} },
			until: 5_000,
			want:  []string{"201 Pending Unschedulable"},
		},
		"a ConfigMap that does not exist": {
			given: func(s *stage) { s.mounts.Missing = `configmap "orders-brokers-3" not found` },
			until: 60_000,
			want:  []string{"201 Pending format=PodInitializing kafka=PodInitializing"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			if tc.given != nil {
				tc.given(s)
			}
			s.until(tc.until)
			if diff := cmp.Diff(tc.want, s.journal); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsSyncKeepsReadyBelowFailureThreshold(t *testing.T) {
	s := newStage(t).until(5_000)
	s.host.notReady = true
	s.until(9_000)
	if !isReady(s.pod) {
		t.Error("one miss made the pod unready")
	}
	s.until(20_000)
	if isReady(s.pod) {
		t.Error("three misses in a row left the pod ready")
	}
	s.host.notReady = false
	s.until(30_000)
	if !isReady(s.pod) {
		t.Error("the pod did not become ready again")
	}
}

func isReady(pod *corev1.Pod) bool {
	return condition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func TestPodsSyncDeletion(t *testing.T) {
	tests := map[string]struct {
		before    int64
		grace     int64
		wantAfter int64
		wantCalls []string
	}{
		"a running pod stops first":                 {before: 10_000, grace: 60, wantAfter: 2000, wantCalls: []string{"init", "start u1", "stop u1", "kill u1"}},
		"but no longer than its grace period":       {before: 10_000, grace: 1, wantAfter: 1000, wantCalls: []string{"init", "start u1", "stop u1", "kill u1"}},
		"a pod whose containers wait goes at once":  {before: 700, grace: 60, wantAfter: 0, wantCalls: nil},
		"and so does one that is being initialized": {before: 1_200, grace: 60, wantAfter: 0, wantCalls: nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t).until(tc.before)
			s.delete(tc.grace).until(60_000)
			if got := s.now - tc.before; got != tc.wantAfter {
				t.Errorf("removed after %d ms, want %d", got, tc.wantAfter)
			}
			if diff := cmp.Diff(tc.wantCalls, s.host.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if s.pod.Status.Phase != corev1.PodFailed {
				t.Errorf("phase %s before the removal, want Failed", s.pod.Status.Phase)
			}
		})
	}
}

func TestPodsSyncRemovesPodWithFinalizersOnce(t *testing.T) {
	s := newStage(t).until(10_000)
	s.delete(60).until(20_000)
	none := int64(0)
	s.pod.DeletionGracePeriodSeconds = &none // what the removal made of it
	if s.now += 5_000; s.look().Remove {
		t.Error("the pod is removed again although only finalizers hold it")
	}
}

func TestPodsSyncKillsOlderPodOfSameName(t *testing.T) {
	s := newStage(t).until(10_000)
	s.pod = newStage(t).pod
	s.pod.UID = "u2"
	s.until(30_000)
	want := []string{"init", "start u1", "kill u1", "init", "start u2"}
	if diff := cmp.Diff(want, s.host.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestPodsGoneKills(t *testing.T) {
	s := newStage(t).until(10_000)
	name := types.NamespacedName{Namespace: "prod", Name: "orders-brokers-3"}
	s.pods.Gone(s.host, name, s.now)
	if diff := cmp.Diff([]string{"init", "start u1", "kill u1"}, s.host.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if _, known := s.pods.Find(name); known {
		t.Error("the pod is still known")
	}
}

func TestPodsSyncSpreadsGroup(t *testing.T) {
	s := newStage(t)
	nodes := map[string]string{}
	for _, name := range []string{"x-1", "x-2", "x-3", "x-4"} {
		s.pod = newStage(t).pod
		s.pod.Name, s.pod.UID = name, types.UID(name)
		s.now = 1
		s.until(1_000)
		nodes[name] = s.pod.Spec.NodeName
	}
	want := map[string]string{"x-1": "a", "x-2": "b", "x-3": "a", "x-4": "b"}
	if diff := cmp.Diff(want, nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestPodsSyncStatus(t *testing.T) {
	s := newStage(t)
	s.host.exits = []int64{2000}
	s.until(10_000)
	at := func(ms int64) metav1.Time {
		return metav1.NewTime(epoch.Add(time.Duration(ms) * time.Millisecond).Truncate(time.Second))
	}
	yes := true
	no := false
	status := s.pod.Status
	want := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: status.HostIP, HostIPs: status.HostIPs, PodIP: status.PodIP, PodIPs: status.PodIPs,
		StartTime: new(at(201)),
		Conditions: []corev1.PodCondition{
			{Type: "Foreign", Status: corev1.ConditionTrue},
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at(201)},
			{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue, LastTransitionTime: at(1001)},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: at(1501)},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: at(7501)},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(7501)},
		},
		InitContainerStatuses: []corev1.ContainerStatus{{
			Name: "format", Image: "kafka:1", ImageID: "simulated://kafka:1", Ready: true, Started: &no, ContainerID: status.InitContainerStatuses[0].ContainerID,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: at(1001), FinishedAt: at(1001), ContainerID: status.InitContainerStatuses[0].ContainerID}},
		}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "kafka", Image: "kafka:1", ImageID: "simulated://kafka:1", Ready: true, Started: &yes, RestartCount: 1, ContainerID: status.ContainerStatuses[0].ContainerID,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(4501)}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 1, Reason: "Error", Message: "last words", StartedAt: at(1501), FinishedAt: at(3501),
				ContainerID: status.ContainerStatuses[0].LastTerminationState.Terminated.ContainerID,
			}},
		}},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if status.ContainerStatuses[0].ContainerID == status.ContainerStatuses[0].LastTerminationState.Terminated.ContainerID {
		t.Error("two runs have one container id")
	}
}

func TestPodsSyncMessages(t *testing.T) {
	s := newStage(t)
	s.host.exits = []int64{2000, 2000}
	s.until(7_000)
	got := s.pod.Status.ContainerStatuses[0].State.Waiting.Message
	if want := "back-off 10s restarting failed container=kafka pod=orders-brokers-3_prod(u1)"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got, want := condition(s.pod, corev1.PodReady).Message, "containers with unready status: [kafka]"; got != want {
		t.Errorf("ready message %q, want %q", got, want)
	}

	s = newStage(t)
	s.host.badImages = map[string]bool{"kafka:1": true}
	s.until(5_000)
	if got, want := s.pod.Status.InitContainerStatuses[0].State.Waiting.Message, `Back-off pulling image "kafka:1": ErrImagePull: kafka:1: not found`; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestPodsSyncRepeatedWritesNothing(t *testing.T) {
	s := newStage(t).until(10_000)
	for range 100 {
		s.now += 1000
		if out := s.look(); out.Status != nil {
			t.Fatalf("at %d the status is written again: %s", s.now, cmp.Diff(s.pod.Status, *out.Status))
		}
	}
}

func TestPodsCloneIsIndependent(t *testing.T) {
	s := newStage(t).until(2_000)
	clone := s.pods.Clone()
	before := clone.All()[0]
	s.until(30_000)
	if diff := cmp.Diff(before, clone.All()[0]); diff != "" {
		t.Errorf("the clone moved (-before +after):\n%s", diff)
	}
}

func TestTimeline(t *testing.T) {
	line := kubelet.Timeline{Epoch: epoch, Speed: 10}
	if got := line.Milliseconds(epoch.Add(time.Second)); got != 10_000 {
		t.Errorf("a second is %d ms at tenfold speed", got)
	}
	if got := line.Time(10_000); !got.Equal(epoch.Add(time.Second)) {
		t.Errorf("10 s have passed at %s", got)
	}
	if got := (kubelet.Timeline{}).Wall(1500); got != 1500*time.Millisecond {
		t.Errorf("1.5 s take %s at no declared speed", got)
	}
}

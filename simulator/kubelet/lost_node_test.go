package kubelet_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/detent-dev/detent/simulator/kubelet"
)

// loseKubelet loses the kubelet of the only node, or restores it.
func (s *stage) loseKubelet(lost bool) *stage {
	s.nodes = []kubelet.Node{{Name: "a", Lost: lost}}
	return s
}

func TestPodsSyncUnreadyAfterFailureThreshold(t *testing.T) {
	s := newStage(t).until(10_000) // probed now, and then every 5 s
	s.host.notReady = true
	s.until(30_000)
	s.host.notReady = false
	s.until(40_000)
	want := []string{
		"4501 Running Ready format=exit0 kafka=running",
		"25000 Running format=exit0 kafka=running",
		"35000 Running Ready format=exit0 kafka=running",
	}
	if diff := cmp.Diff(want, s.journal[len(s.journal)-3:]); diff != "" {
		t.Errorf("what the pod looked like (-want +got):\n%s", diff)
	}
	if s.pod.Status.ContainerStatuses[0].RestartCount != 0 || s.host.running != "u1" {
		t.Error("the process was restarted although only its probe failed")
	}
}

func TestPodsAgeShowsEarlierStartUntilExit(t *testing.T) {
	s := newStage(t).until(10_000)
	s.host.exits = []int64{20_000}
	s.pods.Age(types.NamespacedName{Namespace: "prod", Name: "orders-brokers-3"}, time.Hour)
	s.until(11_000)
	startedAt := func() metav1.Time { return s.pod.Status.ContainerStatuses[0].State.Running.StartedAt }
	if diff := cmp.Diff(metav1.NewTime(epoch.Add(-time.Hour+time.Second)), startedAt()); diff != "" {
		t.Errorf("start of an aged process (-want +got):\n%s", diff)
	}
	s.until(30_000)
	if diff := cmp.Diff(metav1.NewTime(epoch.Add(23*time.Second)), startedAt()); diff != "" {
		t.Errorf("start of the process after it (-want +got):\n%s", diff)
	}
}

func TestLoseNodeKeepsProcessesRunning(t *testing.T) {
	s := newStage(t).loseKubelet(false).until(10_000)
	before := s.pod.Status.DeepCopy()
	s.loseKubelet(true).until(30_000)
	want := before.DeepCopy()
	for i := range want.Conditions {
		if want.Conditions[i].Type == corev1.PodReady {
			want.Conditions[i].Status, want.Conditions[i].LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(epoch.Add(10*time.Second))
		}
	}
	if diff := cmp.Diff(*want, s.pod.Status); diff != "" {
		t.Errorf("status of a pod whose kubelet is lost (-want +got):\n%s", diff)
	}
	s.loseKubelet(false).until(31_000)
	if diff := cmp.Diff(corev1.ConditionTrue, condition(s.pod, corev1.PodReady).Status); diff != "" {
		t.Errorf("Ready after the kubelet came back (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"init", "start u1"}, s.host.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestLoseNodeStartsStopsAndBindsNoPod(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*stage)
		want  []string
	}{
		"a pod that is to go stays":             {func(s *stage) { s.until(10_000).delete(30).loseKubelet(true) }, []string{"init", "start u1"}},
		"a pod that is being created waits":     {func(s *stage) { s.until(500).loseKubelet(true) }, nil},
		"a pod without a node is not bound":     {func(s *stage) { s.loseKubelet(true) }, nil},
		"a process that exits keeps its status": {func(s *stage) { s.host.exits = []int64{20_000}; s.until(10_000).loseKubelet(true) }, []string{"init", "start u1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t).loseKubelet(false)
			c.given(s)
			s.until(120_000)
			if s.removed {
				t.Error("the pod is removed")
			}
			if diff := cmp.Diff(c.want, s.host.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoseNodeAndRestoreNode(t *testing.T) {
	c := fake.NewClientBuilder().WithStatusSubresource(&corev1.Node{}).Build()
	if err := kubelet.CreateNodes(t.Context(), c, epoch, "a"); err != nil {
		t.Fatal(err)
	}
	ready := func() corev1.NodeCondition {
		node := &corev1.Node{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "a"}, node); err != nil {
			t.Fatal(err)
		}
		for _, one := range node.Status.Conditions {
			if one.Type == corev1.NodeReady {
				return one
			}
		}
		return corev1.NodeCondition{}
	}
	ignore := cmpopts.IgnoreFields(corev1.NodeCondition{}, "Message")
	if err := kubelet.LoseNode(t.Context(), c, "a", epoch.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lost := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown",
		LastHeartbeatTime: metav1.NewTime(epoch), LastTransitionTime: metav1.NewTime(epoch.Add(time.Minute)),
	}
	if diff := cmp.Diff(lost, ready(), ignore); diff != "" {
		t.Errorf("a lost node (-want +got):\n%s", diff)
	}
	if err := kubelet.RestoreNode(t.Context(), c, "a", epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	restored := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: metav1.NewTime(epoch.Add(time.Hour)), LastTransitionTime: metav1.NewTime(epoch.Add(time.Hour)),
	}
	if diff := cmp.Diff(restored, ready(), ignore); diff != "" {
		t.Errorf("a restored node (-want +got):\n%s", diff)
	}
	if err := kubelet.LoseNode(t.Context(), c, "b", epoch); err == nil {
		t.Error("a node that does not exist was lost")
	}
}

func TestPodsSyncKeepsNodeSetByOthers(t *testing.T) {
	s := newStage(t).loseKubelet(false).until(10_000)
	s.pods.Gone(s.host, types.NamespacedName{Namespace: "prod", Name: "orders-brokers-3"}, s.now)
	s.pod = newStage(t).pod
	s.pod.UID, s.pod.Spec.NodeName = "u2", "elsewhere" // a node that nothing is known of is not lost
	s.until(30_000)
	if s.host.running != "u2" {
		t.Error("the pod does not run")
	}
}

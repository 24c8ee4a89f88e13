package observation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

// hosts are Node objects by name; reading another one fails.
type hosts struct {
	client.Reader
	ready map[string]corev1.ConditionStatus
	err   error
	asked []string
}

func (h *hosts) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	h.asked = append(h.asked, key.Name)
	if h.err != nil {
		return h.err
	}
	status, found := h.ready[key.Name]
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, key.Name)
	}
	if node, ok := object.(*corev1.Node); ok {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	}
	return nil
}

func hosted(host string, ready, containerReady bool) *corev1.Pod {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return &corev1.Pod{
		Spec: corev1.PodSpec{NodeName: host},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: status}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: containerKafka, Ready: containerReady}},
		},
	}
}

func TestKubeletLost(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"its kubelet reports":                        {pod: hosted("alive", false, false)},
		"its host is not ready":                      {pod: hosted("silent", false, false), want: true},
		"its host is gone":                           {pod: hosted("gone", false, false), want: true},
		"another than its kubelet marked it unready": {pod: hosted("alive", false, true), want: true},
		"it has no host yet":                         {pod: hosted("", false, false)},
		"it is gone":                                 {},
	} {
		t.Run(name, func(t *testing.T) {
			k := kubelets{byHost: map[string]bool{}, reader: &hosts{ready: map[string]corev1.ConditionStatus{"alive": corev1.ConditionTrue, "silent": corev1.ConditionUnknown}}}
			if got, err := k.lost(t.Context(), tc.pod); err != nil || got != tc.want {
				t.Errorf("lost is %v, %v; want %v", got, err, tc.want)
			}
		})
	}
	t.Run("hosts cannot be read", func(t *testing.T) {
		denied := errors.New("nodes is forbidden")
		k := kubelets{byHost: map[string]bool{}, reader: &hosts{err: denied}}
		if _, err := k.lost(t.Context(), hosted("alive", false, false)); !errors.Is(err, denied) {
			t.Errorf("error %v, want one of %v", err, denied)
		}
	})
	t.Run("a host is read once", func(t *testing.T) {
		h := &hosts{ready: map[string]corev1.ConditionStatus{"alive": corev1.ConditionTrue}}
		k := kubelets{byHost: map[string]bool{}, reader: h}
		for range 3 {
			if _, err := k.lost(t.Context(), hosted("alive", false, false)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"alive"}, h.asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestPodFactsOfTheProcess(t *testing.T) {
	made := metav1.NewTime(noon.Add(-time.Hour))
	lapsed := metav1.NewTime(noon.Add(-time.Minute))
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: made}}
	restarted := status(waiting("CrashLoopBackOff", ""), terminated(1, "Error", ""))
	restarted.RestartCount = 1
	type shows struct {
		Unready      time.Time
		NeverStarted bool
	}
	for name, tc := range map[string]struct {
		ready  *corev1.PodCondition
		status []corev1.ContainerStatus
		phase  corev1.PodPhase
		want   shows
	}{
		"ready":                  {ready: &corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: lapsed}, status: []corev1.ContainerStatus{status(running, corev1.ContainerState{})}},
		"readiness lapsed":       {ready: &corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: lapsed}, status: []corev1.ContainerStatus{status(running, corev1.ContainerState{})}, want: shows{Unready: lapsed.Time}},
		"not placed yet":         {phase: corev1.PodPending, want: shows{Unready: made.Time, NeverStarted: true}},
		"image cannot be pulled": {phase: corev1.PodPending, status: []corev1.ContainerStatus{status(waiting("ErrImagePull", ""), corev1.ContainerState{})}, want: shows{Unready: made.Time, NeverStarted: true}},
		"crash loop":             {phase: corev1.PodRunning, status: []corev1.ContainerStatus{restarted}, want: shows{Unready: made.Time}},
		"status unreadable":      {phase: corev1.PodRunning, want: shows{Unready: made.Time}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: made}, Status: corev1.PodStatus{Phase: tc.phase, ContainerStatuses: tc.status}}
			if tc.ready != nil {
				pod.Status.Conditions = []corev1.PodCondition{*tc.ready}
			}
			p := podFacts(pod, noon)
			if diff := cmp.Diff(tc.want, shows{p.UnreadySince, p.NeverStarted}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestKubeletsAreReadOnlyWhenNeeded(t *testing.T) {
	both := Roles{Controller: true, Broker: true}
	for name, tc := range map[string]struct {
		member roll.Membership
		ago    time.Duration
		want   []string
	}{
		"a restart that takes less than a session": {ago: 8 * time.Second},
		"silent for a session":                     {ago: 9 * time.Second, want: []string{"alive"}},
		"it serves in both roles":                  {ago: time.Hour, member: roll.Membership{Controller: true, Broker: true}},
		"it serves in one role":                    {ago: time.Hour, member: roll.Membership{Controller: true}, want: []string{"alive"}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := hosted("alive", false, false)
			pod.Name = "c-p-1"
			v := &Snapshot{Now: noon, Nodes: []Node{{ID: 1, PodName: pod.Name, RolesRunning: both, Pod: Pod{Exists: true, UnreadySince: noon.Add(-tc.ago)}}}}
			v.Objects.Pods = []*corev1.Pod{pod}
			h := &hosts{ready: map[string]corev1.ConditionStatus{"alive": corev1.ConditionTrue}}
			m := memberReadings{members: roll.Members{1: tc.member}, at: noon}
			if got := m.fact(t.Context(), h, &kafkav1beta2.Kafka{}, v); !got.Asked() {
				t.Errorf("members %s, want them to be asked for", got)
			}
			if diff := cmp.Diff(tc.want, h.asked); diff != "" {
				t.Errorf("hosts asked for (-want +got):\n%s", diff)
			}
		})
	}
}

package kubelet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/simulator/kubelet"
)

// fakeHost runs programs with scripted results.
type fakeHost struct {
	badImages map[string]bool
	initEnds  []kubelet.End // one per run, the last one for ever
	startEnds []kubelet.End
	exits     []int64 // how long each run lasts; a run beyond them does not end
	notReady  bool
	startedAt int64
	runs      int
	running   types.UID
	calls     []string
}

func (h *fakeHost) Pull(_ *corev1.Pod, image string) string {
	if h.badImages[image] {
		return image + ": not found"
	}
	return ""
}

func next(ends []kubelet.End, i int) kubelet.End {
	if len(ends) == 0 {
		return kubelet.End{}
	}
	return ends[min(i, len(ends)-1)]
}

func (h *fakeHost) Init(*corev1.Pod, kubelet.Mounts, int64) kubelet.End {
	h.calls = append(h.calls, "init")
	return next(h.initEnds, len(h.calls)-1)
}

func (h *fakeHost) Start(pod *corev1.Pod, _ kubelet.Mounts, now int64) kubelet.End {
	h.calls = append(h.calls, "start "+string(pod.UID))
	end := next(h.startEnds, h.runs)
	h.runs++
	if end.Code == 0 {
		h.running, h.startedAt = pod.UID, now
	}
	return end
}

func (h *fakeHost) Look(_ kubelet.Pod, now int64) kubelet.Process {
	if h.runs <= len(h.exits) && now >= h.startedAt+h.exits[h.runs-1] {
		return kubelet.Process{Exited: true, End: kubelet.End{Code: 1, Words: "last words"}}
	}
	return kubelet.Process{Ready: !h.notReady}
}

func (h *fakeHost) Stop(pod kubelet.Pod, _ int64) {
	h.calls = append(h.calls, "stop "+string(pod.UID))
}

func (h *fakeHost) Kill(pod kubelet.Pod, _ int64) {
	if h.running == pod.UID {
		h.calls = append(h.calls, "kill "+string(pod.UID))
		h.running = ""
	}
}

// stage is the API server of one pod: it shows the pod what was written and records its status.
type stage struct {
	t       *testing.T
	host    *fakeHost
	pods    kubelet.Pods
	pod     *corev1.Pod
	mounts  kubelet.Mounts
	nodes   []kubelet.Node
	now     int64
	removed bool
	journal []string
	events  []string
}

var epoch = time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC)

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{
		t: t, host: &fakeHost{}, now: 1,
		pods:  kubelet.Pods{Delays: kubelet.Delays{Schedule: 200, Create: 800, Init: 500, Stop: 2000, Probe: 1000}},
		nodes: []kubelet.Node{{Name: "a"}, {Name: "b"}},
		pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "orders-brokers-3", UID: "u1", Labels: map[string]string{"strimzi.io/cluster": "orders"}},
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Name: "format", Image: "kafka:1"}},
				Containers: []corev1.Container{{
					Name: "kafka", Image: "kafka:1", TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
					ReadinessProbe: &corev1.Probe{InitialDelaySeconds: 3, PeriodSeconds: 5},
				}},
			},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: "Foreign", Status: corev1.ConditionTrue}}},
		},
	}
}

// look syncs once and applies what is to be written.
func (s *stage) look() kubelet.Outcome {
	s.t.Helper()
	out := s.pods.Sync(s.host, kubelet.Sight{Pod: s.pod, Mounts: s.mounts, Nodes: s.nodes, Timeline: kubelet.Timeline{Epoch: epoch}, Now: s.now})
	for _, e := range out.Events {
		s.events = append(s.events, e.Reason)
	}
	if out.Status != nil {
		s.pod.Status = *out.Status
		if line := describe(s.pod); len(s.journal) == 0 || !strings.HasSuffix(s.journal[len(s.journal)-1], " "+line) {
			s.journal = append(s.journal, fmt.Sprintf("%d %s", s.now, line))
		}
	}
	if out.Bind != "" {
		s.pod.Spec.NodeName = out.Bind
	}
	s.removed = out.Remove
	return out
}

// until lets time pass, and syncs whenever Outcome.Next is due.
func (s *stage) until(end int64) *stage {
	s.t.Helper()
	for range 10_000 {
		next := s.look().Next
		switch {
		case s.removed || s.now >= end:
			return s
		case s.pod.Spec.NodeName != "" && s.pod.Status.StartTime == nil:
			continue // the binding is seen at once
		case next == 0 || next > end:
			s.now = end
		default:
			s.now = max(next, s.now)
		}
	}
	s.t.Fatalf("time does not advance at %d", s.now)
	return s
}

// describe summarizes a pod: phase, readiness, restarts and why a container does not run.
func describe(pod *corev1.Pod) string {
	words := []string{string(pod.Status.Phase)}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			words = append(words, "Ready")
		}
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			words = append(words, c.Reason)
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		words = append(words, c.Name+"="+stateOf(c))
		if c.RestartCount > 0 {
			words = append(words, fmt.Sprintf("x%d", c.RestartCount))
		}
	}
	return strings.Join(words, " ")
}

func stateOf(c corev1.ContainerStatus) string {
	switch {
	case c.State.Waiting != nil:
		return c.State.Waiting.Reason
	case c.State.Terminated != nil:
		return fmt.Sprintf("exit%d", c.State.Terminated.ExitCode)
	case c.State.Running != nil && c.LastTerminationState.Terminated != nil:
		return "running again"
	case c.State.Running != nil:
		return "running"
	default:
		return "nothing"
	}
}

func (s *stage) delete(grace int64) *stage {
	at := metav1.NewTime(epoch)
	s.pod.DeletionTimestamp, s.pod.DeletionGracePeriodSeconds = &at, &grace
	return s
}

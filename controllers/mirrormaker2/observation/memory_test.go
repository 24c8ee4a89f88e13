package observation

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/transitions"
)

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// TestWatchQuiet checks from when a worker counts as quiet: it has answered without tasks for the longest commit, and time in which it may
// have been frozen does not count.
func TestWatchQuiet(t *testing.T) {
	const process, most = "0.a", 30 * time.Second
	for name, c := range map[string]struct {
		// answers of the worker, in seconds after the connector was seen as stopped.
		answers []int
		tasks   map[int]int
		// failed are answers before which it failed to answer.
		failed []int
		// longest commit in seconds; zero for 20.
		longest int
		// moved is when the offsets were seen to change; zero for never.
		moved int
		want  bool
	}{
		"it answers all the time":                               {answers: []int{0, 5, 10, 15, 20, 25}, want: true},
		"not for long enough":                                   {answers: []int{0, 5, 10, 15, 20}},
		"it answered once, and may be frozen since":             {answers: []int{0}},
		"it was frozen before it had time, and continues":       {answers: []int{0, 5, 65}},
		"it was frozen, and has had time since":                 {answers: []int{0, 65, 70, 75, 80, 85, 90}, want: true},
		"it failed to answer in between, again and again":       {answers: []int{0, 15, 30, 45, 60}, failed: []int{15, 30, 45, 60}},
		"it failed to answer once, and has had time since":      {answers: []int{0, 15, 20, 25, 30, 35, 40}, failed: []int{15}, want: true},
		"it commits faster than it is asked":                    {answers: []int{0, 5, 10}, longest: 3, want: true},
		"it commits faster, and may have been frozen":           {answers: []int{0, 5}, longest: 3},
		"it was frozen for a time that the poll does not show":  {answers: []int{0, 15, 20, 25}},
		"it had time in addition to such a pause":               {answers: []int{0, 15, 20, 25, 30, 35}, want: true},
		"a task started in between":                             {answers: []int{0, 5, 10, 15, 20, 25}, tasks: map[int]int{10: 1}},
		"the offsets changed, by what a task committed at last": {answers: []int{0, 5, 10, 15, 20, 25}, moved: 15},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatch()
			w.saw(true, noon)
			w.sawDocument("{}", noon)
			longest, last := 20*time.Second, 0
			if c.longest > 0 {
				longest = time.Duration(c.longest) * time.Second
			}
			one := w.of(process, noon)
			for _, second := range c.answers {
				at := noon.Add(time.Duration(second) * time.Second)
				one.failed = slices.Contains(c.failed, second)
				w.sawWorker(one, c.tasks[second], at, most)
				last = second
			}
			if c.moved > 0 {
				w.sawDocument(`{"offsets":[]}`, noon.Add(time.Duration(c.moved)*time.Second))
			}
			w.last = noon.Add(time.Duration(max(last, 30)) * time.Second) // Connect itself answers
			if got := w.quiet(one, longest); got != c.want {
				t.Errorf("quiet: %v, want %v", got, c.want)
			}
		})
	}
}

// TestWorkerSilent checks when a process must be restarted, and when its answers are only too far apart.
func TestWorkerSilent(t *testing.T) {
	const most = 30 * time.Second
	for name, c := range map[string]struct {
		answers      []int
		failed       bool
		want, sparse bool
	}{
		"it failed to answer":                          {failed: true, want: true},
		"it answered long ago, and failed since":       {answers: []int{0}, failed: true, want: true},
		"its question waits for others":                {},
		"it answered long ago, and its question waits": {answers: []int{0}},
		"it failed a short time ago":                   {answers: []int{0, 25, 50, 75, 100}, failed: true},
		"its answers are far apart":                    {answers: []int{0, 35, 70}, sparse: true},
		"its answers were far apart":                   {answers: []int{0, 35, 40}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatch()
			w.saw(true, noon)
			one := w.of("0.a", noon)
			for _, second := range c.answers {
				w.sawWorker(one, 0, noon.Add(time.Duration(second)*time.Second), most)
			}
			one.failed = c.failed
			if got := one.silent(noon.Add(2*time.Minute), 2*time.Minute); got != c.want {
				t.Errorf("silent: %v, want %v", got, c.want)
			}
			if one.sparse != c.sparse {
				t.Errorf("sparse: %v, want %v", one.sparse, c.sparse)
			}
		})
	}
}

// TestCollectorLost checks when a process whose pod is gone counts as ended.
func TestCollectorLost(t *testing.T) {
	ready := func(status corev1.ConditionStatus, since time.Duration, taints ...corev1.Taint) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Spec: corev1.NodeSpec{Taints: taints},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(since))}}},
		}
	}
	for name, c := range map[string]struct {
		node *corev1.Node
		// after is the time since the pod is gone.
		after time.Duration
		want  bool
		// reason of the doubt, and a part of what the status says.
		reason transitions.Reason
		doubt  string
	}{
		"its kubelet is alive, for a short time":            {node: ready(corev1.ConditionTrue, -time.Hour), after: time.Minute},
		"its kubelet is alive, for long enough":             {node: ready(corev1.ConditionTrue, -time.Hour), after: absence, want: true},
		"its kubelet is not alive":                          {node: ready(corev1.ConditionUnknown, 0), after: time.Hour, reason: ReasonNodeNotReady, doubt: "give the Node the taint node.kubernetes.io/out-of-service"},
		"its kubelet has just returned after a long time":   {node: ready(corev1.ConditionTrue, time.Hour), after: time.Hour + time.Second},
		"its kubelet has returned, and had time to end it":  {node: ready(corev1.ConditionTrue, time.Hour), after: time.Hour + absence, want: true},
		"its node is gone":                                  {want: true},
		"its node is out of service, as an admin has taken": {node: ready(corev1.ConditionUnknown, 0, corev1.Taint{Key: corev1.TaintNodeOutOfService}), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := k8sruntime.NewScheme()
			if err := corev1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			s := store.New(scheme, noon)
			if c.node != nil {
				if err := s.Put(c.node); err != nil {
					t.Fatal(err)
				}
			}
			var hosts client.Reader = s.Client()
			collector := &Collector{Hosts: hosts}
			p := Process{Pod: "c-0", PodUID: "u", Node: "node-1"}
			lost := func(at time.Time) (bool, *transitions.Problem) {
				return collector.lost(context.Background(), "1", p, &Snapshot{Now: at, Limits: limits(0), Rendered: flushing(t, "1000")})
			}
			lost(noon)
			got, doubt := lost(noon.Add(c.after))
			if got != c.want {
				t.Errorf("ended: %v, want %v", got, c.want)
			}
			if (doubt != nil) != (c.reason != "") || doubt != nil && (doubt.Reason != c.reason || !strings.Contains(doubt.Message, c.doubt)) {
				t.Errorf("the doubt is %+v, want %s with %q", doubt, c.reason, c.doubt)
			}
		})
	}
}

// TestCollectorMemory checks that a saved memory is a copy, and that a process that starts has none.
func TestCollectorMemory(t *testing.T) {
	c := &Collector{}
	m := c.Memory()
	start := m.Save().AppendCanonical(nil, noon)
	c.memory.absent("1", "0.a", noon)
	w := newWatch()
	w.saw(true, noon)
	w.sawWorker(w.of("0.a", noon), 0, noon, time.Minute)
	c.memory.of("1").watches["a"] = w
	saved := m.Save()
	want := saved.AppendCanonical(nil, noon)
	w.sawWorker(w.of("0.a", noon), 1, noon, time.Minute)
	if got := saved.AppendCanonical(nil, noon); !bytes.Equal(got, want) {
		t.Error("a later answer changes what was saved")
	}
	m.Restore(saved)
	if got := m.Save().AppendCanonical(nil, noon); !bytes.Equal(got, want) {
		t.Error("what was saved is not restored")
	}
	m.Restore(nil)
	if got := m.Save().AppendCanonical(nil, noon); !bytes.Equal(got, start) {
		t.Error("a process that starts remembers something")
	}
}

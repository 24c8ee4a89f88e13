package kafka

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/kafka/restarting"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

const (
	setBroker = "my-cluster-broker"
	podBroker = "my-cluster-broker-0"
	setSingle = "my-cluster-dual-role"
	podSingle = "my-cluster-dual-role-0"
)

// versionOf the pod, or what there is instead.
func (r *rig) versionOf(pod string) string {
	p := &corev1.Pod{}
	switch err := r.get(p, pod); {
	case apierrors.IsNotFound(err):
		return "gone"
	case err != nil:
		return err.Error()
	}
	return p.Annotations["strimzi.io/kafka-version"]
}

func (r *rig) marked(set string) bool {
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, set))
	return restarting.On(s)
}

// hand puts the node into the hand of the version change, or takes it out.
func (r *rig) hand(state string, id int32) {
	r.t.Helper()
	k := r.cluster()
	k.Status.Lifecycles = []lifecyclev1.Lifecycle{{Name: "version", State: state, Data: map[string]string{"node": fmt.Sprint(id)}}}
	r.must(r.client.Status().Update(r.t.Context(), k))
}

// lose deletes a pod as a node failure does.
func (r *rig) losePod(pod string) {
	r.t.Helper()
	p := &corev1.Pod{}
	if err := r.get(p, pod); err == nil {
		r.must(r.client.Delete(r.t.Context(), p))
	}
}

func TestRestart(t *testing.T) {
	r := separate(t)
	r.settle()
	before := r.entry(setBroker, podBroker)
	r.hand("RestartingNode", 0)
	r.written()
	r.must(r.restart(0, "4.2.0"))
	got := r.written()
	want := []string{"update StrimziPodSet my-cluster-broker", "create-eviction Pod my-cluster-broker-0", "update StrimziPodSet my-cluster-broker"}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("writes %v, want %v", got, want)
	}
	if r.marked(setBroker) || r.entry(setBroker, podBroker) == before {
		t.Errorf("marked %v, the entry is as before: %v", r.marked(setBroker), r.entry(setBroker, podBroker) == before)
	}
	r.settle()
	if v := r.versionOf(podBroker); v != "4.2.0" {
		t.Errorf("version %s", v)
	}
	if v := r.versionOf("my-cluster-broker-1"); v != "4.1.1" {
		t.Errorf("version of another node is %s", v)
	}
	r.written()
	r.must(r.restart(0, "4.2.0"))
	if got := r.written(); len(got) > 0 {
		t.Errorf("a second restart writes %v", got)
	}
}

// Configuration changes with the pod: the running pod keeps its own next to the new one, which is pruned when no pod mounts it.
func TestRestartAddsTheConfiguration(t *testing.T) {
	r := separate(t)
	r.settle()
	k := r.cluster()
	k.Spec.Kafka.Config["queued.max.requests"] = jsonOf("16")
	r.must(r.client.Update(t.Context(), k))
	r.settle()
	keys := func() int {
		m := &corev1.ConfigMap{}
		r.must(r.get(m, podBroker))
		n := 0
		for key := range m.Data {
			if strings.HasPrefix(key, "server-") {
				n++
			}
		}
		return n
	}
	if keys() != 1 {
		t.Errorf("%d configurations before the restart, want 1", keys())
	}
	r.must(r.restart(0, "4.1.1"))
	if keys() != 2 {
		t.Errorf("%d configurations during the restart, want 2", keys())
	}
	r.settle()
	if keys() != 1 {
		t.Errorf("%d configurations after the restart, want 1", keys())
	}
	if n := r.snapshot(false).Node(0); !n.Pod.Ready || n.Pod.Revision != n.Entry.Revision {
		t.Errorf("node %+v", n)
	}
}

// What only brokers read makes no controller outdated. The controller's next restart, for another reason, writes it.
func TestRestartOfAControllerIsNotCausedByWhatBrokersRead(t *testing.T) {
	r := separate(t)
	r.settle()
	const controller, set = "my-cluster-controller-3", "my-cluster-controller"
	file := func() string {
		m := &corev1.ConfigMap{}
		r.must(r.get(m, controller))
		return strings.Join(slices.Collect(maps.Values(m.Data)), "")
	}
	change := func(name, value string) {
		k := r.cluster()
		k.Spec.Kafka.Config[name] = jsonOf(value)
		r.must(r.client.Update(t.Context(), k))
		r.settle() // which fails if something is written in every pass
	}
	change("offsets.topic.num.partitions", "24")
	if diff := cmp.Diff([]int32{0, 1, 2}, r.outdated()); diff != "" || strings.Contains(file(), "offsets.topic.num.partitions") {
		t.Errorf("outdated nodes (-want +got):\n%s\nfile of the controller:\n%s", diff, file())
	}
	change("queued.max.requests", "16")
	r.must(r.restart(3, "4.1.1"))
	r.settle()
	if diff := cmp.Diff([]int32{0, 1, 2, 4, 5}, r.outdated()); diff != "" || !strings.Contains(file(), "offsets.topic.num.partitions=24") {
		t.Errorf("outdated nodes after the restart (-want +got):\n%s\nfile of the controller:\n%s", diff, file())
	}
	if r.marked(set) {
		t.Error("the set is still marked")
	}
}

// The process dies before, or just after, each of the writes of a restart. Every continuation ends correctly.
func TestRestartInterrupted(t *testing.T) {
	const writes = 4 // configuration, mark, eviction, switch
	after := map[string]struct {
		run  func(*rig)
		want string
		// evictions at most.
		evictions int
	}{
		"and goes on": {want: "4.2.0", evictions: 1, run: func(r *rig) {
			r.must(r.restart(0, "4.2.0"))
		}},
		"and goes on after the sets were looked at": {want: "4.2.0", evictions: 1, run: func(r *rig) {
			r.must(r.podSets())
			r.must(r.restart(0, "4.2.0"))
		}},
		"and the pod is lost, then it goes on": {want: "4.2.0", evictions: 1, run: func(r *rig) {
			r.losePod(podSingle)
			r.must(r.podSets())
			if err := r.restart(0, "4.2.0"); err != nil {
				r.t.Error(err)
			}
		}},
		"and the change is taken back, then the pod is lost": {want: "4.1.1", evictions: 1, run: func(r *rig) {
			r.hand("Checking", 0)
			r.must(r.repair())
			r.losePod(podSingle)
		}},
		"and the pod is lost, then the change is taken back": {want: "4.1.1", evictions: 1, run: func(r *rig) {
			r.losePod(podSingle)
			r.must(r.podSets())
			r.hand("Checking", 0)
			r.must(r.repair())
		}},
		"and the cluster is paused": {want: "4.1.1", evictions: 1, run: func(r *rig) {
			k := r.cluster()
			k.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"}
			r.must(r.client.Update(r.t.Context(), k))
			r.must(r.repair())
			if r.marked(setSingle) {
				r.t.Error("paused, the mark still holds the pod back")
			}
			r.losePod(podSingle)
		}},
		"and nobody goes on": {want: "4.1.1", evictions: 1, run: func(r *rig) {
			r.losePod(podSingle)
			r.must(r.podSets())
			r.clock.Step(restarting.Limit)
		}},
	}
	for name, next := range after {
		for cut := range writes {
			for _, answered := range []bool{false, true} {
				t.Run(fmt.Sprintf("write %d, done %v, %s", cut, answered, name), func(t *testing.T) {
					r := single(t)
					r.settle()
					k := r.cluster()
					k.Spec.Kafka.Config["queued.max.requests"] = jsonOf("16")
					r.must(r.client.Update(t.Context(), k))
					r.hand("RestartingNode", 0)
					r.written()
					n := 0
					at := func(string) bool { n++; return n == cut+1 }
					if answered {
						r.lose = at
					} else {
						r.fail = at
					}
					if err := r.restart(0, "4.2.0"); !errors.Is(err, errInjected) {
						t.Fatalf("error %v, want the injected one", err)
					}
					r.fail, r.lose = nil, nil
					// A new process knows nothing of what the old one wrote.
					r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
					next.run(r)
					switched := strings.Contains(r.entry(setSingle, podSingle), `"4.2.0"`)
					want := next.want
					if cut == writes-1 && answered {
						want = "4.2.0" // the entry was switched: the restart is over
					}
					if switched != (want == "4.2.0") {
						t.Errorf("the entry was switched: %v, want version %s", switched, want)
					}
					// From here on no lifecycle restarts a node.
					r.hand("AwaitingReady", 0)
					r.settle()
					if got := r.versionOf(podSingle); got != want {
						t.Errorf("the pod comes back as %s, want %s", got, want)
					}
					if r.marked(setSingle) {
						t.Error("the mark is still there")
					}
					evictions := 0
					for _, w := range r.written() {
						if strings.HasPrefix(w, "create-eviction") {
							evictions++
						}
					}
					if evictions > next.evictions {
						t.Errorf("%d evictions, want at most %d", evictions, next.evictions)
					}
				})
			}
		}
	}
}

// While a pod is being restarted no other pod is created in its place, so that it is replaced once and not twice.
func TestRestartMarkPreventsReplacement(t *testing.T) {
	r := separate(t)
	r.settle()
	r.hand("RestartingNode", 0)
	n := 0
	r.fail = func(string) bool { n++; return n == 3 } // the switch, after mark and eviction
	if err := r.restart(0, "4.2.0"); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	r.fail = nil
	r.must(r.podSets())
	r.must(r.repair())
	r.must(r.podSets())
	if v := r.versionOf(podBroker); v != "gone" {
		t.Fatalf("version %s while the restart has selected it", v)
	}
	r.clock.Step(restarting.Limit + time.Second)
	r.must(r.podSets())
	if v := r.versionOf(podBroker); v != "4.1.1" {
		t.Errorf("version %s after the mark has run out, want the one it last ran", v)
	}
}

func TestRestartWaits(t *testing.T) {
	t.Run("for its entry", func(t *testing.T) {
		r := separate(t)
		r.settle()
		r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
		if err := r.restart(0, "4.2.0"); !errors.Is(err, lifecycle.ErrWait) {
			t.Errorf("error %v, want ErrWait", err)
		}
	})
	t.Run("for an eviction that is refused", func(t *testing.T) {
		r := separate(t)
		r.settle()
		r.hand("RestartingNode", 0)
		r.client = refusing{r.client}
		r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
		for range 3 {
			if err := r.restart(0, "4.2.0"); !errors.Is(err, lifecycle.ErrWait) {
				t.Fatalf("error %v, want ErrWait", err)
			}
		}
		if v := r.versionOf(podBroker); v != "4.1.1" || strings.Contains(r.entry(setBroker, podBroker), "4.2.0") {
			t.Errorf("version %s, and the entry was switched", v)
		}
		marks := 0
		for _, w := range r.written() {
			if w == "update StrimziPodSet "+setBroker {
				marks++
			}
		}
		if marks > 2 { // one when the cluster was made
			t.Errorf("the set was written %d times while waiting", marks)
		}
	})
	t.Run("for a budget that allows nothing, without writing", func(t *testing.T) {
		r := separate(t)
		r.settle()
		b := &policyv1.PodDisruptionBudget{}
		r.must(r.get(b, "my-cluster-kafka"))
		b.Generation, b.Status.ObservedGeneration = 1, 1
		r.must(r.client.Update(t.Context(), b))
		r.must(r.get(b, "my-cluster-kafka"))
		b.Status.ObservedGeneration = b.Generation
		r.must(r.client.Status().Update(t.Context(), b))
		r.written()
		if err := r.restart(0, "4.2.0"); !errors.Is(err, lifecycle.ErrWait) {
			t.Errorf("error %v, want ErrWait", err)
		}
		if got := r.written(); len(got) > 0 {
			t.Errorf("writes %v", got)
		}
	})
}

// A version that no table knows comes with the image that runs it.
func TestRestartOnAnUnknownVersion(t *testing.T) {
	r := separate(t)
	r.version = "9.9.9-acme"
	k := r.cluster()
	k.Spec.Kafka.Images = map[string]kafkav1beta2.ImageReference{"9.9.9-acme": "example.com/acme:9"}
	r.must(r.client.Update(t.Context(), k))
	r.settle()
	k = r.cluster()
	k.Spec.Kafka.Images = nil
	k.Spec.Kafka.Config["queued.max.requests"] = jsonOf("16")
	r.must(r.client.Update(t.Context(), k))
	r.settle()
	r.must(r.restart(0, "9.9.9-acme"))
	r.settle()
	p := &corev1.Pod{}
	r.must(r.get(p, podBroker))
	if p.Spec.Containers[0].Image != "example.com/acme:9" {
		t.Errorf("image %s", p.Spec.Containers[0].Image)
	}
}

package kafka

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// first is the position of the first write that begins so.
func first(t *testing.T, writes []string, prefix string) int {
	t.Helper()
	i := slices.IndexFunc(writes, func(w string) bool { return strings.HasPrefix(w, prefix) })
	if i < 0 {
		t.Fatalf("nothing was written that begins with %q:\n%s", prefix, strings.Join(writes, "\n"))
	}
	return i
}

func last(writes []string, holds string) int {
	at := -1
	for i, w := range writes {
		if strings.Contains(w, holds) {
			at = i
		}
	}
	return at
}

func TestApplyUpstreamExamplesComeToRest(t *testing.T) {
	files, err := filepath.Glob(upstream + "*/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d example files (%v), want at least 10", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			r := newRig(t, manifests(t, file)...)
			r.settle()
			v := r.snapshot(false)
			replicas := 0
			for _, pool := range v.Objects.Pools {
				replicas += int(pool.Spec.Replicas)
				if len(pool.Status.NodeIDs) != int(pool.Spec.Replicas) || pool.Status.ClusterID != v.Identity.ID || pool.Status.Replicas != pool.Spec.Replicas {
					t.Errorf("pool %s has status %+v", pool.Name, pool.Status)
				}
			}
			if len(v.Nodes) != replicas || len(v.Defects) > 0 {
				t.Fatalf("%d nodes, want %d; defects %v", len(v.Nodes), replicas, v.Defects)
			}
			for i := range v.Nodes {
				n := &v.Nodes[i]
				desired, err := v.Desired(n, "4.1.1")
				if err != nil {
					t.Fatal(err)
				}
				if !n.Wanted || !n.Recorded || !n.Pod.Ready || n.Record.Version != "4.1.1" || n.Revision() != desired || n.Entry.Revision != desired {
					t.Errorf("node %d is %+v, desired revision %s", n.ID, n, desired)
				}
			}
			r.written()
			r.settle()
			if writes := r.written(); len(writes) > 0 {
				t.Errorf("writes at rest:\n%s", strings.Join(writes, "\n"))
			}
		})
	}
}

// What is remembered is written before what it speaks of.
func TestApplyOrderOfTheFirstWrites(t *testing.T) {
	r := separate(t)
	r.settle()
	writes := r.written()
	order := []int{
		last(writes, "update-status KafkaNodePool"), // ids first
		first(t, writes, "create ConfigMap my-cluster-broker-0-record"),
		first(t, writes, "create PersistentVolumeClaim data-0-my-cluster-broker-0"),
		first(t, writes, "create StrimziPodSet my-cluster-broker"),
		first(t, writes, "create Pod my-cluster-broker-0"),
	}
	for _, w := range writes {
		if strings.HasPrefix(w, "create ConfigMap") && strings.HasSuffix(w, "-record") && slices.Index(writes, w) > first(t, writes, "create PersistentVolumeClaim") {
			t.Errorf("%s came after the first claim", w)
		}
		if strings.HasPrefix(w, "create PersistentVolumeClaim") && slices.Index(writes, w) > first(t, writes, "create StrimziPodSet") {
			t.Errorf("%s came after the first entry", w)
		}
	}
	// Statuses of pools are written again when nodes become ready; the first ones count.
	order[0] = first(t, writes, "update-status KafkaNodePool broker")
	if !slices.IsSorted(order) {
		t.Errorf("order of writes %v:\n%s", order, strings.Join(writes, "\n"))
	}
}

// Ids are given over all pools on one number line, and committed before anything is made.
func TestApplyCommitsNodeIDsFirst(t *testing.T) {
	r := separate(t)
	r.must(r.pass())
	if diff := cmp.Diff([]string{"update-status KafkaNodePool broker", "update-status KafkaNodePool controller"}, r.written()); diff != "" {
		t.Errorf("writes of the first pass (-want +got):\n%s", diff)
	}
	v := r.snapshot(false)
	if diff := cmp.Diff([]int32{0, 1, 2}, v.Pool("broker").Status.NodeIDs); diff != "" {
		t.Errorf("ids of broker (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{3, 4, 5}, v.Pool("controller").Status.NodeIDs); diff != "" {
		t.Errorf("ids of controller (-want +got):\n%s", diff)
	}
}

// No node is created before the ids of all are committed: a cluster must not start with half of its voters.
func TestApplyCreatesNoNodeBeforeAllIDsAreCommitted(t *testing.T) {
	r := separate(t)
	r.fail = func(write string) bool { return write == "update-status KafkaNodePool controller" }
	for range 3 {
		if err := r.pass(); !errors.Is(err, errInjected) {
			t.Fatalf("error %v, want the injected one", err)
		}
	}
	for _, w := range r.written() {
		if w != "update-status KafkaNodePool broker" && !strings.HasPrefix(w, "create Service") && !strings.HasPrefix(w, "create PodDisruptionBudget") {
			t.Errorf("%s", w)
		}
	}
	r.fail = nil
	r.settle()
	if v := r.snapshot(false); len(v.Nodes) != 6 {
		t.Errorf("%d nodes, want 6", len(v.Nodes))
	}
}

// Ids are given on the newest pools there are: an older snapshot of one would give its ids to another.
func TestApplyAssignsNoIDFromAStaleCache(t *testing.T) {
	r := separate(t)
	k, v := r.cluster(), r.snapshot(false)
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "controller"))
	pool.Status.NodeIDs = []int32{0, 1, 2}
	r.must(r.client.Status().Update(t.Context(), pool))
	r.written()
	err := r.effects.Apply(t.Context(), k, v, r.children.Writer(k, nil), "4.1.1")
	if !errors.Is(err, lifecycle.ErrStale) {
		t.Errorf("error %v, want ErrStale", err)
	}
	if writes := r.written(); len(writes) > 0 {
		t.Errorf("writes %v", writes)
	}
}

func TestApplyCreatesNoNodeOfAnUncertainCluster(t *testing.T) {
	for name, inFlight := range map[string]struct {
		change  func(*rig)
		version string
	}{
		"two pools with one id": {version: "4.1.1", change: func(r *rig) {
			for _, name := range []string{"broker", "controller"} {
				pool := &kafkav1beta2.KafkaNodePool{}
				r.must(r.get(pool, name))
				pool.Status.NodeIDs = []int32{0, 1, 2}
				r.must(r.client.Status().Update(t.Context(), pool))
			}
		}},
		"two cluster ids": {version: "4.1.1", change: func(r *rig) {
			for i, name := range []string{"broker", "controller"} {
				pool := &kafkav1beta2.KafkaNodePool{}
				r.must(r.get(pool, name))
				pool.Status.ClusterID = string(rune('a' + i))
				r.must(r.client.Status().Update(t.Context(), pool))
			}
		}},
		"no version yet": {version: "", change: func(*rig) {}},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.version = inFlight.version
			inFlight.change(r)
			r.settle()
			for _, w := range r.written() {
				if strings.Contains(w, "StrimziPodSet") || strings.HasPrefix(w, "create Pod ") {
					t.Errorf("%s", w)
				}
				if inFlight.version != "" && (strings.Contains(w, "-record") || strings.Contains(w, "PersistentVolumeClaim")) {
					t.Errorf("%s", w)
				}
			}
			v := r.snapshot(false)
			if inFlight.version != "" && v.IDs.Refusal == nil && v.Identity.Mismatch == nil {
				t.Error("the snapshot knows of no doubt")
			}
		})
	}
}

// Only a restart replaces the entries of existing nodes.
func TestApplyReplacesNoEntry(t *testing.T) {
	r := separate(t)
	r.settle()
	before := r.entry("my-cluster-broker", "my-cluster-broker-0")
	k := r.cluster()
	k.Spec.Kafka.Version = "4.2.0"
	k.Spec.Kafka.Image = "example.com/kafka:new"
	delete(k.Spec.Kafka.Config, "min.insync.replicas")
	r.must(r.client.Update(t.Context(), k))
	r.version = "4.2.0"
	r.settle()
	if after := r.entry("my-cluster-broker", "my-cluster-broker-0"); after != before {
		t.Errorf("the entry was switched:\n%s", cmp.Diff(before, after))
	}
	v := r.snapshot(false)
	desired, err := v.Desired(v.Node(0), "4.1.1")
	if err != nil || desired == v.Node(0).Revision() {
		t.Errorf("desired revision %s (%v) is the one of before", desired, err)
	}
}

func TestApplyAddsNodesAndRemovesNone(t *testing.T) {
	r := separate(t)
	r.settle()
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "broker"))
	pool.Spec.Replicas = 4
	r.must(r.client.Update(t.Context(), pool))
	r.settle()
	v := r.snapshot(false)
	if n := v.Node(6); n == nil || !n.Pod.Ready || n.Pool != "broker" {
		t.Fatalf("node 6 is %+v", n)
	}
	r.must(r.get(pool, "broker"))
	pool.Spec.Replicas = 2
	r.must(r.client.Update(t.Context(), pool))
	r.written()
	r.settle()
	for _, w := range r.written() {
		if strings.HasPrefix(w, "delete") {
			t.Errorf("%s", w)
		}
	}
	v = r.snapshot(false)
	if len(v.Nodes) != 7 || v.Node(2).Wanted || v.Node(6).Wanted || !v.Node(0).Wanted || !v.Node(1).Wanted {
		t.Errorf("nodes %+v", v.Nodes)
	}
	if diff := cmp.Diff([]int32{0, 1, 2, 6}, v.Pool("broker").Status.NodeIDs); diff != "" {
		t.Errorf("ids of broker (-want +got):\n%s", diff)
	}
}

// The controllers of a cluster that was started stay as they are.
func TestApplyDoesNotScaleControllers(t *testing.T) {
	r := separate(t)
	r.settle()
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "controller"))
	pool.Spec.Replicas = 5
	r.must(r.client.Update(t.Context(), pool))
	r.settle()
	v := r.snapshot(false)
	if len(v.Nodes) != 6 {
		t.Errorf("%d nodes, want 6", len(v.Nodes))
	}
	if len(v.IDs.Warnings) != 1 || v.IDs.Warnings[0].Reason != "ReplicasCannotChange" {
		t.Errorf("warnings %+v", v.IDs.Warnings)
	}
}

func TestApplyExpandsClaimsAndNeverShrinksThem(t *testing.T) {
	r := separate(t)
	r.settle()
	for _, size := range []string{"200Gi", "100Gi"} {
		pool := &kafkav1beta2.KafkaNodePool{}
		r.must(r.get(pool, "broker"))
		pool.Spec.Storage.Volumes[0].Size = size
		r.must(r.client.Update(t.Context(), pool))
		r.settle()
		claim := &corev1.PersistentVolumeClaim{}
		r.must(r.get(claim, "data-0-my-cluster-broker-0"))
		if got := claim.Spec.Resources.Requests.Storage().String(); got != "200Gi" {
			t.Errorf("with %s wanted, the claim asks for %s, want 200Gi", size, got)
		}
	}
}

// Drift of the shared objects is corrected; what others have added stays.
func TestApplyCorrectsDrift(t *testing.T) {
	r := separate(t)
	r.settle()
	s := &corev1.Service{}
	r.must(r.get(s, "my-cluster-kafka-bootstrap"))
	want := s.DeepCopy()
	s.Spec.Selector = map[string]string{"app": "other"}
	s.Spec.Ports = s.Spec.Ports[:1]
	delete(s.Labels, "app.kubernetes.io/name")
	s.Labels["team"] = "orders"
	s.Spec.ClusterIP = "10.0.0.1"
	r.must(r.client.Update(t.Context(), s))
	r.settle()
	r.must(r.get(s, "my-cluster-kafka-bootstrap"))
	if diff := cmp.Diff(want.Spec.Selector, s.Spec.Selector); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	if len(s.Spec.Ports) != len(want.Spec.Ports) || s.Labels["app.kubernetes.io/name"] != "kafka" {
		t.Errorf("service %+v", s)
	}
	if s.Labels["team"] != "orders" || s.Spec.ClusterIP != "10.0.0.1" {
		t.Error("what others have set is gone")
	}
}

// Before anything of a cluster was started, its controllers follow the spec like all else. A voter that is not started would keep the quorum
// from a leader.
func TestControllersFollowTheSpecBeforeTheStart(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*world)
		bound  bool
	}{
		"the pool gets another name": {change: func(w *world) {
			w.remove(&kafkav1beta2.KafkaNodePool{}, "controllers")
			w.must(w.client.Create(t.Context(), declaredPool("renamed", 1, roleController)))
		}},
		"the pool gets fewer nodes": {change: func(w *world) {
			w.edit("controllers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 1 })
		}},
		"the pool gets fewer nodes, whose claims are bound": {bound: true, change: func(w *world) {
			w.edit("controllers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 1 })
		}},
		"both pools get fewer nodes": {change: func(w *world) {
			w.edit("controllers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 1 })
			w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 1 })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(declared(t, func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version = "4.3.1" },
				declaredPool("controllers", 3, roleController), declaredPool("brokers", 3, roleBroker)))
			w.unsupported(true)
			w.run(10)
			before := w.claims()
			if len(before) != 6 || len(w.pods()) > 0 {
				t.Fatalf("%d claims and %d pods of a cluster that waits, want 6 and none", len(before), len(w.pods()))
			}
			if tc.bound {
				var claims corev1.PersistentVolumeClaimList
				w.must(w.client.List(t.Context(), &claims))
				for i := range claims.Items {
					claims.Items[i].Spec.VolumeName = "volume-of-" + claims.Items[i].Name
					w.must(w.client.Update(t.Context(), &claims.Items[i]))
				}
			}
			tc.change(w)
			w.run(10)
			w.unsupported(false)
			w.rest(80)
			running := w.nodes(labels.ControllerRole, "true")
			if len(running) != 1 {
				t.Errorf("controllers %v, want one", running)
			}
			if diff := cmp.Diff(running, w.voters()); diff != "" {
				t.Errorf("voters (-controllers that run +voters):\n%s", diff)
			}
			if got := w.warnings(); len(got) > 0 {
				t.Errorf("warnings %v", got)
			}
			if left := len(w.claims()) == len(before); left != tc.bound {
				t.Errorf("claims %v", w.claims())
			}
			if got := w.cluster().Status.NodeIDs; len(got) != len(w.pods()) {
				t.Errorf("node ids in the status %v of %d nodes", got, len(w.pods()))
			}
		})
	}
}

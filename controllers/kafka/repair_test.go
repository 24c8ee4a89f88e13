package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// changed makes everything that a node is made of differ from what runs.
func (r *rig) changed() {
	r.t.Helper()
	k := r.cluster()
	k.Spec.Kafka.Version = "4.2.0"
	k.Spec.Kafka.Image = "example.com/kafka:new"
	k.Spec.Kafka.Config["queued.max.requests"] = jsonOf("16")
	r.must(r.client.Update(r.t.Context(), k))
	r.version = "4.2.0"
}

// What is lost comes back exactly as it last ran, although something else is wanted by now, and although the version that runs is
// one that no table knows.
func TestRepairRestoresLostObjects(t *testing.T) {
	lost := map[string]func(*rig){
		"a pod":                  func(r *rig) { r.losePod(podBroker) },
		"its set":                func(r *rig) { r.remove(&corev1beta2.StrimziPodSet{}, setBroker) },
		"its entry":              func(r *rig) { r.dropEntry(setBroker, podBroker) },
		"its record":             func(r *rig) { r.remove(&corev1.ConfigMap{}, podBroker+"-record") },
		"the status of its pool": func(r *rig) { r.wipePool("broker") },
		"every status":           func(r *rig) { r.wipe() },
		"set and record": func(r *rig) {
			r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
			r.remove(&corev1.ConfigMap{}, podBroker+"-record")
		},
		"set, record and every status": func(r *rig) {
			r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
			r.remove(&corev1.ConfigMap{}, podBroker+"-record")
			r.wipe()
		},
	}
	for name, lose := range lost {
		for _, version := range []string{"4.1.1", "9.9.9-acme"} {
			t.Run(name+" at "+version, func(t *testing.T) {
				r := separate(t)
				r.version = version
				k := r.cluster()
				k.Spec.Kafka.Image = "example.com/kafka:old"
				r.must(r.client.Update(t.Context(), k))
				r.settle()
				wantEntry, wantRecord := r.entry(setBroker, podBroker), r.record(podBroker)
				wantPod := &corev1.Pod{}
				r.must(r.get(wantPod, podBroker))
				r.changed()
				lose(r)
				r.settle()
				if diff := cmp.Diff(wantEntry, r.entry(setBroker, podBroker)); diff != "" {
					t.Errorf("entry (-want +got):\n%s", diff)
				}
				pod := &corev1.Pod{}
				r.must(r.get(pod, podBroker))
				if diff := cmp.Diff(wantPod.Spec, pod.Spec); diff != "" {
					t.Errorf("pod (-want +got):\n%s", diff)
				}
				got := r.record(podBroker)
				if got.Version != wantRecord.Version || got.ClusterID != wantRecord.ClusterID {
					t.Errorf("record %+v, want %+v", got, wantRecord)
				}
				if strings.Contains(name, "record") && got.Format != record.FormatDone {
					t.Errorf("storage that exists may be formatted: %+v", got)
				}
				v := r.snapshot(false)
				for _, pool := range v.Objects.Pools {
					if len(pool.Status.NodeIDs) != 3 {
						t.Errorf("ids of %s are %v", pool.Name, pool.Status.NodeIDs)
					}
				}
				for _, w := range r.written() {
					if strings.HasPrefix(w, "delete") && name != "a pod" && !strings.Contains(w, "StrimziPodSet") && !strings.Contains(w, "-record") {
						t.Errorf("%s", w)
					}
				}
			})
		}
	}
}

// The pool of a set is known by its name. Its label is restored, and a set never has two entries of a pod.
func TestRepairRestoresThePoolOfASet(t *testing.T) {
	again := func(s *corev1beta2.StrimziPodSet) { s.Spec.Pods = append(s.Spec.Pods, s.Spec.Pods...) }
	for name, edit := range map[string]func(*corev1beta2.StrimziPodSet){
		"the label is missing":         func(s *corev1beta2.StrimziPodSet) { delete(s.Labels, labels.Pool) },
		"the label is of another pool": func(s *corev1beta2.StrimziPodSet) { s.Labels[labels.Pool] = "controller" },
		"every entry is there twice":   again,
		"label missing, entries twice": func(s *corev1beta2.StrimziPodSet) {
			delete(s.Labels, labels.Pool)
			again(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			want, s := &corev1beta2.StrimziPodSet{}, &corev1beta2.StrimziPodSet{}
			r.must(r.get(want, setBroker))
			r.must(r.get(s, setBroker))
			edit(s)
			r.must(r.client.Update(t.Context(), s))
			r.written()
			r.settle()
			r.must(r.get(s, setBroker))
			if diff := cmp.Diff(want.Labels, s.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Spec, s.Spec); diff != "" {
				t.Errorf("%d entries (-want +got):\n%s", len(s.Spec.Pods), diff)
			}
			if writes := strings.Join(r.written(), "\n"); strings.Count(writes, "update ") != 1 {
				t.Errorf("writes:\n%s\nwant one of the set", writes)
			}
			if v := r.snapshot(false); len(v.Defects) > 0 {
				t.Errorf("defects %v", v.Defects)
			}
		})
	}
}

func (r *rig) wipePool(name string) {
	r.t.Helper()
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, name))
	pool.Status = kafkav1beta2.KafkaNodePoolStatus{}
	r.must(r.client.Status().Update(r.t.Context(), pool))
}

// wipe empties every status there is.
func (r *rig) wipe() {
	r.t.Helper()
	r.wipePool("broker")
	r.wipePool("controller")
	k := r.cluster()
	k.Status = kafkav1beta2.KafkaStatus{}
	r.must(r.client.Status().Update(r.t.Context(), k))
	var sets corev1beta2.StrimziPodSetList
	r.must(r.client.List(r.t.Context(), &sets))
	for i := range sets.Items {
		sets.Items[i].Status = corev1beta2.StrimziPodSetStatus{}
		r.must(r.client.Status().Update(r.t.Context(), &sets.Items[i]))
	}
}

// Paused, a cluster is still repaired; nothing new is made of it.
func TestRepairWhilePaused(t *testing.T) {
	r := separate(t)
	r.settle()
	before := r.entry(setBroker, podBroker)
	r.changed()
	k := r.cluster()
	k.Annotations = map[string]string{labels.Pause: "true"}
	r.must(r.client.Update(t.Context(), k))
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	r.remove(&corev1.Service{}, "my-cluster-kafka-brokers")
	r.remove(&policyv1.PodDisruptionBudget{}, "my-cluster-kafka")
	r.remove(&corev1.ServiceAccount{}, "my-cluster-kafka")
	r.remove(&corev1.ConfigMap{}, podBroker)
	for range 3 {
		r.must(r.repair())
		r.clock.Step(time.Second)
	}
	if diff := cmp.Diff(before, r.entry(setBroker, podBroker)); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	for name, o := range map[string]client.Object{
		"my-cluster-kafka-brokers": &corev1.Service{}, "my-cluster-kafka": &policyv1.PodDisruptionBudget{}, podBroker: &corev1.ConfigMap{},
	} {
		r.must(r.get(o, name))
	}
	r.must(r.get(&corev1.ServiceAccount{}, "my-cluster-kafka"))
}

// A ConfigMap that is lost comes back with every key that is mounted.
func TestRepairReplacesLostConfiguration(t *testing.T) {
	r := separate(t)
	r.settle()
	want := &corev1.ConfigMap{}
	r.must(r.get(want, podBroker))
	r.changed()
	r.remove(&corev1.ConfigMap{}, podBroker)
	r.settle()
	got := &corev1.ConfigMap{}
	r.must(r.get(got, podBroker))
	for key := range want.Data {
		if got.Data[key] == "" {
			t.Errorf("key %s is missing", key)
		}
	}
}

// What someone writes into the ConfigMap of a node would take effect with its next pod, although nobody declared it.
func TestRepairRestoresEditedConfiguration(t *testing.T) {
	edit := func(content string) string {
		return strings.ReplaceAll(content, "min.insync.replicas=2", "min.insync.replicas=1")
	}
	for name, tc := range map[string]struct {
		change func(*rig, *corev1.ConfigMap)
		// left is true if the edited content stays.
		left bool
	}{
		"as declared":                      {},
		"while a change of the spec waits": {change: func(r *rig, _ *corev1.ConfigMap) { r.changed() }},
		"written by an older operator":     {left: true, change: func(_ *rig, m *corev1.ConfigMap) { m.Annotations = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			m := &corev1.ConfigMap{}
			r.must(r.get(m, podBroker))
			if tc.change != nil {
				tc.change(r, m)
			}
			edited := 0
			for key, content := range m.Data {
				if m.Data[key] = edit(content); m.Data[key] != content {
					edited++
				}
			}
			if edited == 0 {
				t.Fatal("there is nothing to edit")
			}
			r.must(r.client.Update(t.Context(), m))
			revision := r.entry(setBroker, podBroker)
			r.written()
			r.settle()
			got := &corev1.ConfigMap{}
			r.must(r.get(got, podBroker))
			for key, content := range got.Data {
				if left := strings.Contains(content, "min.insync.replicas=1"); left != tc.left && strings.HasPrefix(key, "server-") {
					t.Errorf("key %s has what was edited: %v, want %v", key, left, tc.left)
				}
			}
			if writes := r.written(); len(writes) > 1 || tc.left && len(writes) > 0 {
				t.Errorf("writes %v, want one at most, and none to an object of an older operator", writes)
			}
			if r.entry(setBroker, podBroker) != revision {
				t.Error("the entry was changed")
			}
		})
	}
}

// Everything but claims and records is deleted and applied again: the nodes come back with their ids, on their disks.
func TestRepairAfterDeleteAndApply(t *testing.T) {
	for name, keepRecords := range map[string]bool{"with records": true, "claims alone": false} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.registered()
			r.settle()
			identity := r.snapshot(false).Identity.ID
			r.deleteAllBut(keepRecords)
			for _, o := range manifests(t, upstream+"v1beta2/kafka-persistent.yaml") {
				o.SetUID(types.UID("second-" + string(o.GetUID())))
				r.must(r.client.Create(t.Context(), o))
			}
			r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
			r.settle()
			v := r.snapshot(false)
			if v.Identity.ID != identity || v.Identity.Mismatch != nil {
				t.Errorf("identity %+v, want %s", v.Identity, identity)
			}
			if len(v.Nodes) != 6 {
				t.Fatalf("%d nodes, want 6", len(v.Nodes))
			}
			for i := range v.Nodes {
				if n := &v.Nodes[i]; n.Record.Format != record.FormatDone || !n.Pod.Ready || n.Record.Resource != r.cluster().UID {
					t.Errorf("node %d: %+v", n.ID, n)
				}
			}
			if v.Node(0).Pool != "broker" || v.Node(3).Pool != "controller" {
				t.Error("the ids have moved to other pools")
			}
		})
	}
}

// Records of a cluster whose disks went with it do not keep the next one of its name from being formatted.
func TestRepairAfterDeleteWithClaimsAndApply(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	r.deleteAllBut(true)
	r.must(r.client.DeleteAllOf(t.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace("default")))
	*r.kafka = kafkaSide{}
	for _, o := range manifests(t, upstream+"v1beta2/kafka-persistent.yaml") {
		o.SetUID(types.UID("second-" + string(o.GetUID())))
		r.must(r.client.Create(t.Context(), o))
	}
	r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
	r.settle()
	if got := r.record(podBroker); got.Format != record.FormatAllowed || got.Version != "4.1.1" {
		t.Errorf("record %+v", got)
	}
	// The same resource whose disks vanish is another matter: they were lost.
	r.must(r.get(&corev1.PersistentVolumeClaim{}, "data-0-my-cluster-broker-0"))
}

// deleteAllBut deletes the cluster as a user does, and all that it owns as the garbage collector does.
func (r *rig) deleteAllBut(records bool) {
	r.t.Helper()
	for _, o := range []client.Object{
		&kafkav1beta2.Kafka{}, &kafkav1beta2.KafkaNodePool{}, &corev1beta2.StrimziPodSet{}, &corev1.Pod{}, &corev1.Service{},
		&corev1.ServiceAccount{}, &policyv1.PodDisruptionBudget{}, &appsv1.Deployment{},
	} {
		r.must(r.client.DeleteAllOf(r.t.Context(), o, client.InNamespace("default")))
	}
	var maps corev1.ConfigMapList
	r.must(r.client.List(r.t.Context(), &maps))
	for i := range maps.Items {
		if !records || maps.Items[i].Labels[labels.Record] == "" {
			r.must(r.client.Delete(r.t.Context(), &maps.Items[i]))
		}
	}
}

// A record with parts that a user broke is rewritten from its readable parts.
func TestRepairRewritesABrokenRecord(t *testing.T) {
	r := separate(t)
	r.settle()
	m := &corev1.ConfigMap{}
	r.must(r.get(m, podBroker+"-record"))
	m.Data[record.KeyFormat], m.Data[record.KeyID] = "please", "seven"
	r.must(r.client.Update(t.Context(), m))
	if v := r.snapshot(false); len(v.Defects) != 1 || !strings.Contains(v.Defects[0], podBroker+"-record") {
		t.Errorf("defects %v", v.Defects)
	}
	r.settle()
	if got := r.record(podBroker); got.Format != record.FormatDone || got.ID != 0 || got.Version != "4.1.1" {
		t.Errorf("record %+v", got)
	}
}

package kafka

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
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

// While no pod runs, a set without its pods is created from the records, at the version that was last started.
func TestRepairRestoresSetAndPodsFromRecords(t *testing.T) {
	r := separate(t)
	r.settle()
	r.changed()
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	for _, pod := range []string{"my-cluster-broker-0", "my-cluster-broker-1", "my-cluster-broker-2"} {
		r.losePod(pod)
	}
	r.settle()
	for _, pod := range []string{"my-cluster-broker-0", "my-cluster-broker-1", "my-cluster-broker-2"} {
		if v := r.versionOf(pod); v != "4.1.1" {
			t.Errorf("%s comes back as %s, want 4.1.1", pod, v)
		}
	}
}

func (r *rig) dropEntry(set, pod string) {
	r.t.Helper()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, set))
	var kept []corev1beta2.PodEntry
	for _, e := range s.Spec.Pods {
		if p, err := e.Pod(); err != nil || p.Name != pod {
			kept = append(kept, e)
		}
	}
	s.Spec.Pods = kept
	r.must(r.client.Update(r.t.Context(), s))
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

// editEntry changes the image of the pod's entry.
func (r *rig) editEntry(set, pod string, also func(*corev1.Pod)) {
	r.t.Helper()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, set))
	for i := range s.Spec.Pods {
		p, err := s.Spec.Pods[i].Pod()
		r.must(err)
		if p.Name != pod {
			continue
		}
		p.Spec.Containers[0].Image = "example.com/kafka:edited"
		if also != nil {
			also(p)
		}
		s.Spec.Pods[i], err = corev1beta2.NewPodEntry(p)
		r.must(err)
	}
	r.must(r.client.Update(r.t.Context(), s))
}

// No pod is created from an entry that someone has edited, and the entry is restored as the operator wrote it, else as the pod runs.
func TestRepairRestoresEditedEntries(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*rig)
		also   func(*corev1.Pod)
		// left is true if the edited entry stays, none if no pod runs, and warned if a warning names it.
		left, none, warned bool
	}{
		"as declared":                            {},
		"with its revision":                      {also: func(p *corev1.Pod) { p.Annotations[labels.Revision] = "edited" }},
		"with its version":                       {also: func(p *corev1.Pod) { p.Annotations[labels.KafkaVersion] = "4.2.0" }},
		"while a change of the spec waits":       {change: func(r *rig) { r.changed() }},
		"when the pod is lost":                   {change: func(r *rig) { r.losePod(podBroker) }},
		"when the pod is lost in a changed spec": {change: func(r *rig) { r.changed(); r.losePod(podBroker) }, left: true, none: true, warned: true},
		"of an older operator": {left: true, change: func(r *rig) {
			s := &corev1beta2.StrimziPodSet{}
			r.must(r.get(s, setBroker))
			delete(s.Annotations, labels.ContentHashes)
			r.must(r.client.Update(r.t.Context(), s))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			was := &corev1.Pod{}
			r.must(r.get(was, podBroker))
			r.editEntry(setBroker, podBroker, tc.also)
			if tc.change != nil {
				tc.change(r)
			}
			r.must(r.podSets())
			r.settleWaiting()
			entry := r.entry(setBroker, podBroker)
			if left := strings.Contains(entry, "example.com/kafka:edited"); left != tc.left {
				t.Errorf("the edited entry stays: %v, want %v: %s", left, tc.left, entry)
			}
			pod := &corev1.Pod{}
			switch err := r.get(pod, podBroker); {
			case tc.none != (err != nil):
				t.Errorf("the pod: %v, want none: %v", err, tc.none)
			case err == nil && pod.Spec.Containers[0].Image != was.Spec.Containers[0].Image:
				t.Errorf("the pod runs %s", pod.Spec.Containers[0].Image)
			}
			if n := r.snapshot(false).Node(0); n.Entry.Edited != tc.none {
				t.Errorf("entry %+v", n.Entry)
			}
			warned := slices.Contains(r.warnings(), "EntryEdited")
			if warned != tc.warned {
				t.Errorf("a warning: %v, want %v", warned, tc.warned)
			}
			if !tc.none {
				return
			}
			r.dropEntry(setBroker, podBroker) // as the warning says
			r.settle()
			if v := r.versionOf(podBroker); v != "4.1.1" {
				t.Errorf("version %s, want the one that ran", v)
			}
		})
	}
}

// settleWaiting is settle with controllers that may wait all the time.
func (r *rig) settleWaiting() {
	r.t.Helper()
	for range 10 {
		for _, step := range []func() error{r.pass, r.podSets} {
			if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !errors.Is(err, lifecycle.ErrWait) && !apierrors.IsConflict(err) {
				r.t.Fatal(err)
			}
		}
		r.kubelet()
		r.clock.Step(time.Second)
	}
	r.again = 0
}

// What a webhook makes of an entry is no edit, and is not overwritten repeatedly.
func TestRepairLeavesEntriesOfAWebhook(t *testing.T) {
	r := separate(t)
	r.webhook = func(o client.Object) {
		set, is := o.(*corev1beta2.StrimziPodSet)
		for i := 0; is && i < len(set.Spec.Pods); i++ {
			pod, err := set.Spec.Pods[i].Pod()
			r.must(err)
			pod.Spec.Containers[0].Image = "mirror.example/kafka:4.1.1"
			set.Spec.Pods[i], err = corev1beta2.NewPodEntry(pod)
			r.must(err)
		}
	}
	r.settle()
	if !strings.Contains(r.entry(setBroker, podBroker), "mirror.example") {
		t.Fatal("the webhook has changed nothing")
	}
	if v := r.snapshot(false); !v.Node(0).Pod.Ready || v.Node(0).Entry.Edited {
		t.Errorf("node %+v", v.Node(0))
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

// Pods of another operator's set are adopted: judged by their version, annotated, not restarted.
func TestRepairAdoptsPods(t *testing.T) {
	r := separate(t)
	r.settle()
	var maps corev1.ConfigMapList
	r.must(r.client.List(t.Context(), &maps, client.HasLabels{labels.Record}))
	for i := range maps.Items {
		r.must(r.client.Delete(t.Context(), &maps.Items[i]))
	}
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	for _, pod := range r.pods() {
		delete(pod.Annotations, labels.Revision)
		delete(pod.Annotations, labels.SnapshotInterval)
		pod.OwnerReferences = nil
		r.must(r.client.Update(t.Context(), &pod))
	}
	before := map[string]types.UID{}
	for _, pod := range r.pods() {
		before[pod.Name] = pod.UID
	}
	r.settle()
	v := r.snapshot(false)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		desired, err := v.Desired(n, "4.1.1")
		r.must(err)
		if n.Pod.UID != before[n.PodName] || n.Pod.Revision != desired || n.Entry.Revision != desired {
			t.Errorf("node %d: %+v, desired %s", n.ID, n, desired)
		}
		interval := record.DefaultSnapshotInterval
		if n.Pool == "controller" {
			interval = 10 * time.Minute // its entry is left, and says more than an annotation that is gone
		}
		if n.Record.Version != "4.1.1" || n.Record.Format != record.FormatDone || n.Record.SnapshotInterval != interval {
			t.Errorf("record of node %d: %+v", n.ID, n.Record)
		}
	}
	for _, pod := range r.pods() {
		if metav1.GetControllerOf(&pod) == nil {
			t.Errorf("%s belongs to nobody", pod.Name)
		}
	}
}

// A pod with an unknown version is unchanged: the user has to set the version with which it was started.
func TestRepairLeavesPodsWithoutAVersion(t *testing.T) {
	r := separate(t)
	r.settle()
	r.remove(&corev1.ConfigMap{}, podBroker+"-record")
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	pod := &corev1.Pod{}
	r.must(r.get(pod, podBroker))
	pod.Annotations = nil
	r.must(r.client.Update(t.Context(), pod))
	r.settle()
	if n := r.snapshot(false).Node(0); n.Recorded || n.Entry.Exists || n.Pod.Revision != "" {
		t.Errorf("node %+v", n)
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

// A set that the resource before has left behind is taken over with its pods.
func TestRepairAdoptsSetsOfAnEarlierResource(t *testing.T) {
	r := separate(t)
	r.settle()
	k, s := r.cluster(), &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, setBroker))
	owners := s.OwnerReferences
	r.remove(k, k.Name)
	r.must(r.get(s, setBroker))
	s.OwnerReferences = owners
	r.must(r.client.Update(t.Context(), s))
	again := k.DeepCopy()
	again.ResourceVersion = ""
	again.Status = kafkav1beta2.KafkaStatus{Status: lifecyclev1.Status{}}
	r.must(r.client.Create(t.Context(), again))
	r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
	r.settle()
	r.must(r.get(s, setBroker))
	if owner := metav1.GetControllerOf(s); owner == nil || owner.UID != again.UID || len(s.OwnerReferences) != 1 {
		t.Errorf("owners %+v", s.OwnerReferences)
	}
}

// applyAgain creates the cluster and its pools again, as another resource of the same name.
func (r *rig) applyAgain() {
	r.t.Helper()
	for _, o := range manifests(r.t, upstream+"v1beta2/kafka-persistent.yaml") {
		o.SetUID(types.UID("second-" + string(o.GetUID())))
		r.must(r.client.Create(r.t.Context(), o))
	}
	r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
}

// A claim that is missing in the cache because a user has removed its labels still exists.
func TestRecordAdoptionOfClaimsWithoutLabels(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	r.deleteAllBut(true)
	var claims corev1.PersistentVolumeClaimList
	r.must(r.client.List(t.Context(), &claims))
	for i := range claims.Items {
		claims.Items[i].Labels = nil
		r.must(r.client.Update(t.Context(), &claims.Items[i]))
	}
	*r.kafka = kafkaSide{}
	r.applyAgain()
	for range 3 {
		r.must(r.repair())
		r.clock.Step(time.Second)
	}
	if got := r.record(podBroker); got.Format != record.FormatDone || got.Version != "4.1.1" {
		t.Errorf("the record has begun anew: %+v", got)
	}
	for range 5 { // ids and records are committed first
		if err := r.pass(); err != nil && strings.Contains(err.Error(), "lacks the label") {
			return
		}
		r.clock.Step(time.Second)
	}
	t.Error("nobody says that a claim lacks its labels")
}

// While the pods of the resource before are on their way out, the next one waits: their claims may go with them.
func TestRecordAdoptionWhilePodsTerminate(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	for _, pod := range r.pods() {
		pod.Finalizers = []string{"test/kubelet"}
		r.must(r.client.Update(t.Context(), &pod))
	}
	r.deleteAllBut(true)
	r.must(r.client.DeleteAllOf(t.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace("default")))
	*r.kafka = kafkaSide{}
	first := r.record(podBroker).Resource
	r.applyAgain()
	r.settleWaiting()
	if err := r.pass(); err == nil || !strings.Contains(err.Error(), "Pod my-cluster-broker-0 is being deleted, and is kept by its finalizers test/kubelet: not possible yet") {
		t.Errorf("the wait is for %v", err)
	}
	if got := r.record(podBroker); got.Resource != first || got.Format != record.FormatDone {
		t.Errorf("record %+v, want it to stay the earlier one's", got)
	}
	if v := r.snapshot(false); len(v.Objects.Claims)+len(v.Objects.PodSets) > 0 {
		t.Errorf("%d claims and %d sets are made meanwhile", len(v.Objects.Claims), len(v.Objects.PodSets))
	}
	for _, pod := range r.pods() {
		pod.Finalizers = nil
		r.must(r.client.Update(t.Context(), &pod))
	}
	r.settle()
	if got := r.record(podBroker); got.Resource == first || got.Format != record.FormatAllowed {
		t.Errorf("record %+v, want it to begin anew", got)
	}
	r.must(r.get(&corev1.PersistentVolumeClaim{}, "data-0-my-cluster-broker-0"))
}

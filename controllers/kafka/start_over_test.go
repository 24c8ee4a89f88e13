package kafka

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// voters are the ids in the quorum that each running node was started with, which must be the same for all.
func (w *world) voters() []int32 {
	w.t.Helper()
	lists := map[string]bool{}
	for _, pod := range w.pods() {
		m := &corev1.ConfigMap{}
		w.must(w.get(m, pod.Name))
		for _, key := range observation.ConfigKeys(&pod.Spec, pod.Name) {
			for line := range strings.Lines(m.Data[key]) {
				if value, is := strings.CutPrefix(line, "controller.quorum.voters="); is {
					lists[strings.TrimSpace(value)] = true
				}
			}
		}
	}
	if len(lists) != 1 {
		w.t.Fatalf("the nodes were started with the voters %v, want one list", lists)
	}
	var ids []int32
	for list := range lists {
		for voter := range strings.SplitSeq(list, ",") {
			text, _, _ := strings.Cut(voter, "@")
			id, err := strconv.ParseInt(text, 10, 32)
			w.must(err)
			ids = append(ids, int32(id))
		}
	}
	slices.Sort(ids)
	return ids
}

// records are the names of the ConfigMaps with records.
func (w *world) recordNames() []string {
	w.t.Helper()
	var list corev1.ConfigMapList
	w.must(w.client.List(w.t.Context(), &list, client.MatchingLabels{labels.Record: labels.RecordNode}))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// deleteAll deletes everything of the cluster but the records.
func (w *world) deleteAll() {
	w.t.Helper()
	var records corev1.ConfigMapList
	w.must(w.client.List(w.t.Context(), &records, client.MatchingLabels{labels.Record: labels.RecordNode}))
	for _, o := range []client.Object{
		&kafkav1beta2.Kafka{}, &kafkav1beta2.KafkaNodePool{}, &corev1beta2.StrimziPodSet{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.PersistentVolumeClaim{},
	} {
		w.must(w.client.DeleteAllOf(w.t.Context(), o, client.InNamespace(w.key.Namespace)))
	}
	for i := range records.Items {
		records.Items[i].ResourceVersion = ""
		if err := w.client.Create(w.t.Context(), &records.Items[i]); err != nil {
			w.t.Fatal(err)
		}
	}
	w.children = lifecycle.NewChildren(w.client, w.client, w.clock)
	clear(w.registered)
}

// A cluster whose disks were deleted with it starts with the nodes that it declares now: a voter that nothing runs any more would keep the
// quorum from a leader.
func TestStartOverHasTheVotersOfItsPools(t *testing.T) {
	both := []kafkav1beta2.NodeRole{roleController, roleBroker}
	for name, tc := range map[string]struct {
		before, after []*kafkav1beta2.KafkaNodePool
		voters        int
	}{
		"separate pools after one of nodes with both roles": {
			before: []*kafkav1beta2.KafkaNodePool{declaredPool("dual-role", 3, both...)},
			after:  []*kafkav1beta2.KafkaNodePool{declaredPool("controller", 3, roleController), declaredPool("broker", 3, roleBroker)},
			voters: 3,
		},
		"three nodes of a pool after five": {
			before: []*kafkav1beta2.KafkaNodePool{declaredPool("dual-role", 5, both...)},
			after:  []*kafkav1beta2.KafkaNodePool{declaredPool("dual-role", 3, both...)},
			voters: 3,
		},
		"five nodes of a pool after three": {
			before: []*kafkav1beta2.KafkaNodePool{declaredPool("dual-role", 3, both...)},
			after:  []*kafkav1beta2.KafkaNodePool{declaredPool("dual-role", 5, both...)},
			voters: 5,
		},
		"the same pools": {
			before: []*kafkav1beta2.KafkaNodePool{declaredPool("controller", 3, roleController), declaredPool("broker", 3, roleBroker)},
			after:  []*kafkav1beta2.KafkaNodePool{declaredPool("controller", 3, roleController), declaredPool("broker", 3, roleBroker)},
			voters: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, nil, tc.before...)
			k := w.cluster()
			w.deleteAll()
			again := &kafkav1beta2.Kafka{ObjectMeta: k.ObjectMeta, Spec: k.Spec}
			again.UID, again.ResourceVersion, again.Finalizers = types.UID("second-"+string(k.UID)), "", nil
			w.must(w.client.Create(t.Context(), again))
			for _, p := range tc.after {
				p.UID = types.UID("second-" + string(p.UID))
				w.must(w.client.Create(t.Context(), p))
			}
			w.rest(80)
			running := w.nodes(labels.ControllerRole, "true")
			if len(running) != tc.voters {
				t.Errorf("controllers %v, want %d", running, tc.voters)
			}
			if diff := cmp.Diff(running, w.voters()); diff != "" {
				t.Errorf("voters (-controllers that run +voters):\n%s", diff)
			}
			var want []string
			for _, pod := range w.pods() {
				want = append(want, pod.Name+"-record")
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, w.recordNames()); diff != "" {
				t.Errorf("records (-pods +records):\n%s", diff)
			}
		})
	}
}

// A claim of which a controller of another kind is the owner is not deleted with an earlier Kafka, and is adopted.
func TestStartOverAdoptsClaimsOfAnotherController(t *testing.T) {
	for name, tc := range map[string]struct {
		owner  metav1.OwnerReference
		awaits string
	}{
		"a DataVolume":     {owner: metav1.OwnerReference{APIVersion: "cdi.kubevirt.io/v1beta1", Kind: "DataVolume"}},
		"an earlier Kafka": {owner: metav1.OwnerReference{APIVersion: "kafka.strimzi.io/v1beta2", Kind: "Kafka"}, awaits: "PersistentVolumeClaim data-0-my-cluster-broker-0 is owned by it and still exists"},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.registered()
			r.settle()
			r.deleteAllBut(true)
			claim, yes := &corev1.PersistentVolumeClaim{}, true
			r.must(r.get(claim, "data-0-my-cluster-broker-0"))
			tc.owner.Name, tc.owner.UID, tc.owner.Controller = "owner", "uid-of-the-owner", &yes
			claim.OwnerReferences = []metav1.OwnerReference{tc.owner}
			r.must(r.client.Update(t.Context(), claim))
			r.applyAgain()
			r.settleWaiting()
			err := r.pass()
			if tc.awaits != "" {
				if err == nil || !strings.Contains(err.Error(), tc.awaits) {
					t.Errorf("the wait is for %v, want %s", err, tc.awaits)
				}
				return
			}
			if n := r.snapshot(false).Node(0); err != nil || !n.Pod.Ready || n.Record.Resource != r.cluster().UID {
				t.Errorf("node %+v: %v", n, err)
			}
		})
	}
}

package observation

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// recordMap is the ConfigMap of the record of a node.
func recordMap(id int32, version string) *corev1.ConfigMap {
	r := record.Record{ID: id, Pool: "p", Version: version, Levels: map[string]record.Level{"metadata.version": {Highest: 27, Finalized: 27}}}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: record.Name(PodName("c", "p", id)), Labels: map[string]string{labels.Pool: "p", labels.Record: labels.RecordNode},
		},
		Data: r.Encode(),
	}
}

// A kept record is never that of other data, whatever was decoded before.
func TestDecodedRecordsFollowTheirData(t *testing.T) {
	edited := recordMap(1, "4.1.1")
	edited.Data[record.KeyVersion] = "4.2.0"
	broken := recordMap(0, "4.1.1")
	broken.Data[record.KeyLevels] = "{"
	longer := recordMap(0, "4.1.1")
	longer.Data["more"] = ""
	steps := [][]*corev1.ConfigMap{
		{recordMap(0, "4.1.1"), recordMap(1, "4.1.1"), recordMap(2, "4.1.1")},
		{recordMap(0, "4.1.1"), edited, recordMap(2, "4.1.1")},
		{recordMap(1, "4.1.1"), recordMap(2, "4.1.1")},
		{broken, recordMap(2, "4.1.1")},
		{longer, recordMap(2, "4.2.0")},
		{},
		{recordMap(2, "4.2.0")},
	}
	var kept []keptRecord
	for step, configMaps := range steps {
		v := &Snapshot{Objects: Objects{ConfigMaps: configMaps}}
		d := deriver{kafka: &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, snapshot: v, records: kept}
		d.fromConfigMaps()
		kept = d.records
		fresh := deriver{kafka: d.kafka, snapshot: &Snapshot{Objects: v.Objects}}
		fresh.fromConfigMaps()
		if diff := cmp.Diff(fresh.nodes, d.nodes, cmp.AllowUnexported(Node{}, Entry{})); diff != "" {
			t.Errorf("step %d: nodes (-without memory +with it):\n%s", step, diff)
		}
		if diff := cmp.Diff(fresh.snapshot.Defects, v.Defects); diff != "" {
			t.Errorf("step %d: defects (-without memory +with it):\n%s", step, diff)
		}
	}
}

func TestDecodedRecordsOfAMapThatIsModified(t *testing.T) {
	m := recordMap(0, "4.1.1")
	kept := decoded(nil, 0, m)
	if again := decoded(kept, 0, m); &again[0] != &kept[0] {
		t.Error("equal data was decoded again")
	}
	m.Data[record.KeyVersion] = "4.2.0"
	if got := decoded(kept, 0, m)[0].record.Version; got != "4.2.0" {
		t.Errorf("version %q after the map was modified, want 4.2.0", got)
	}
}

func TestEndpointOfFollowsTheNodes(t *testing.T) {
	kafka := func(uid, name string) *kafkav1beta2.Kafka {
		return &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)}}
	}
	both, broker := Roles{Broker: true, Controller: true}, Roles{Broker: true}
	nodes := []Node{{ID: 0, PodName: "c-p-0", RolesRunning: both}, {ID: 1, PodName: "c-p-1", RolesRunning: broker}}
	kept := endpointOf(kafka("u", "c"), nodes, nil)
	if again := endpointOf(kafka("u", "c"), nodes, kept); again != kept {
		t.Error("the endpoint of equal nodes was computed again")
	}
	for name, tc := range map[string]struct {
		kafka *kafkav1beta2.Kafka
		nodes []Node
	}{
		"another role":           {kafka("u", "c"), []Node{nodes[0], {ID: 1, PodName: "c-p-1", RolesRunning: both}}},
		"another pod":            {kafka("u", "c"), []Node{nodes[0], {ID: 1, PodName: "c-q-1", RolesRunning: broker}}},
		"another id":             {kafka("u", "c"), []Node{nodes[0], {ID: 2, PodName: "c-p-1", RolesRunning: broker}}},
		"one more node":          {kafka("u", "c"), append(nodes[:2:2], Node{ID: 2, PodName: "c-p-2", RolesRunning: broker})},
		"a node was removed":     {kafka("u", "c"), nodes[:1]},
		"a pod was deleted":      {kafka("u", "c"), []Node{nodes[0], {ID: 1, PodName: "c-p-1"}}},
		"another resource":       {kafka("v", "c"), nodes},
		"a resource of its name": {kafka("u", "d"), nodes},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(endpointWith(tc.kafka, tc.nodes), endpointOf(tc.kafka, tc.nodes, kept).endpoint); diff != "" {
				t.Errorf("endpoint (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectionsOfAnotherCluster(t *testing.T) {
	kafka := func(namespace, name string) *kafkav1beta2.Kafka {
		return &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	kept := selectionsOf(kafka("ns", "c"), nil)
	if selectionsOf(kafka("ns", "c"), kept) != kept {
		t.Error("the options of one cluster were made again")
	}
	for _, other := range []*kafkav1beta2.Kafka{kafka("ns", "d"), kafka("other", "c")} {
		var o client.ListOptions
		o.ApplyOptions(selectionsOf(other, kept).nodes)
		want := map[string]string{labels.Cluster: other.Name, labels.Kind: labels.KindKafka, labels.Name: labels.KafkaName(other.Name)}
		requirements, _ := o.LabelSelector.Requirements()
		got := map[string]string{}
		for i := range requirements {
			got[requirements[i].Key()] = requirements[i].Values().List()[0]
		}
		if o.Namespace != other.Namespace || !maps.Equal(got, want) {
			t.Errorf("the lists of %s/%s are of namespace %s and of %v", other.Namespace, other.Name, o.Namespace, got)
		}
	}
}

func TestRolesListed(t *testing.T) {
	for _, roles := range []Roles{{}, {Broker: true}, {Controller: true}, {Controller: true, Broker: true}} {
		for _, list := range [][]kafkav1beta2.NodeRole{
			nil, {"broker"}, {"controller"}, {"controller", "broker"}, {"broker", "controller"}, {"broker", "broker"}, {"controller", "broker", "x"}, {"x"},
		} {
			want := cmp.Equal(append([]kafkav1beta2.NodeRole{}, roles.List()...), append([]kafkav1beta2.NodeRole{}, list...))
			if got := roles.Listed(list); got != want {
				t.Errorf("%+v.Listed(%v) = %v, want %v", roles, list, got, want)
			}
		}
	}
}

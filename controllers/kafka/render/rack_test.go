package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// inZones gives a cluster racks by zone.
func inZones(in Input) Input {
	in.Spec.Kafka.Rack = &kafkav1beta2.Rack{TopologyKey: "zone"}
	return in
}

func TestEntryRackPlacement(t *testing.T) {
	exists := func(key string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpExists}
	}
	const required = "requiredDuringSchedulingIgnoredDuringExecution"
	for name, tc := range map[string]struct {
		template  string
		wantTerms []corev1.NodeSelectorTerm
		wantKeys  []string // of the topology spread
		wantApart bool
	}{
		"without a template":       {wantTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{exists("zone")}}}, wantKeys: []string{"zone"}, wantApart: true},
		"with an empty affinity":   {template: "{pod: {affinity: {}}}", wantTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{exists("zone")}}}, wantKeys: []string{"zone"}},
		"with a spread of its own": {template: "{pod: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: row, whenUnsatisfiable: DoNotSchedule}]}}", wantTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{exists("zone")}}}, wantKeys: []string{"row"}},
		"with an affinity to nodes": {
			template: "{pod: {affinity: {nodeAffinity: {" + required + ": {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}, {matchExpressions: [{key: flash, operator: Exists}]}]}}}}}",
			wantTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{exists("disk"), exists("zone")}},
				{MatchExpressions: []corev1.NodeSelectorRequirement{exists("flash"), exists("zone")}},
			},
			wantKeys: []string{"zone"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := broker(t, inZones(templates(t, tc.template, "")))
			if diff := cmp.Diff(tc.wantTerms, pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			var keys []string
			for i := range pod.Spec.TopologySpreadConstraints {
				keys = append(keys, pod.Spec.TopologySpreadConstraints[i].TopologyKey)
			}
			if diff := cmp.Diff(tc.wantKeys, keys); diff != "" {
				t.Errorf("spread (-want +got):\n%s", diff)
			}
			if got := pod.Spec.Affinity.PodAntiAffinity != nil; got != tc.wantApart {
				t.Errorf("prefers other nodes than its pool: %v, want %v", got, tc.wantApart)
			}
		})
	}
}

// The rack is read when the broker starts: it is in no file that was rendered before, and the pod needs no token to read it.
func TestEntryRackIsReadFromThePod(t *testing.T) {
	plain, pod := broker(t, templates(t, "", "")), broker(t, inZones(templates(t, "", "")))
	if diff := cmp.Diff(map[string]string{"detent.dev/rack-topology-key": "zone"}, added(plain.Annotations, pod.Annotations)); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	var waits []string
	for i := range pod.Spec.InitContainers {
		waits = append(waits, pod.Spec.InitContainers[i].Name)
	}
	if diff := cmp.Diff([]string{FormatContainer, RackContainer}, waits); diff != "" {
		t.Errorf("init containers (-want +got):\n%s", diff)
	}
	want := []string{"/bin/sh", "-c", `exec /opt/kafka/bin/kafka-server-start.sh /etc/detent/config/server.properties --override "broker.rack=$(cat /etc/detent/rack/rack)"`}
	if diff := cmp.Diff(want, pod.Spec.Containers[0].Command); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "rack" })
	if i < 0 {
		t.Fatal("the pod has no volume with its rack")
	}
	if diff := cmp.Diff("metadata.annotations['detent.dev/rack']", pod.Spec.Volumes[i].DownwardAPI.Items[0].FieldRef.FieldPath); diff != "" {
		t.Errorf("rack (-want +got):\n%s", diff)
	}
	if *pod.Spec.AutomountServiceAccountToken {
		t.Error("the pod has a token of the API server")
	}
}

// Racks concern replicas of partitions: a pure controller has none.
func TestEntryRackLeavesControllers(t *testing.T) {
	in := templates(t, "", "")
	i := slices.IndexFunc(in.Nodes, func(n Node) bool { return !n.Broker })
	entry := func(in Input) string {
		e, err := New(in).Entry(in.Nodes[i].ID, "4.1.1")
		if err != nil {
			t.Fatal(err)
		}
		return e.Revision
	}
	before := entry(in)
	if diff := cmp.Diff(before, entry(inZones(in))); diff != "" {
		t.Errorf("revision of a controller (-want +got):\n%s", diff)
	}
}

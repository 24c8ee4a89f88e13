package mirrormaker2_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/simulator/connect"
)

// TestKindCreatesWorkersAndConnectors checks that a new resource settles with two workers and its connectors, and that nothing is written
// at rest.
func TestKindCreatesWorkersAndConnectors(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	want := []string{"POST /connectors", "POST /connectors", "POST /connectors"}
	if diff := cmp.Diff(want, r.writes); diff != "" {
		t.Error(diff)
	}
	for range 30 {
		r.step()
	}
	r.apiWrites = nil
	for range 60 {
		r.step()
	}
	if len(r.apiWrites) > 0 || len(r.writes) > 3 {
		t.Errorf("at rest it writes %v and %v", r.apiWrites, r.writes)
	}
	if got := len(r.get().Status.Connectors); got != 3 {
		t.Errorf("the status has %d connectors", got)
	}
}

// TestKindListsOffsets checks the ConfigMap of a list, byte by byte.
func TestKindListsOffsets(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.connect.Produce("orders", 1)
	for range 20 {
		r.step()
	}
	r.annotate("list", source)
	r.until("that the annotations are removed", func() bool { return len(r.get().Annotations) == 0 })
	got := r.configMap("my-mm2-offsets")
	want := map[string]string{"east-kafka--west-kafka.MirrorSourceConnector.json": `{
  "offsets": [
    {
      "partition": {
        "cluster": "east-kafka",
        "partition": 0,
        "topic": "orders"
      },
      "offset": {
        "offset": 0
      }
    },
    {
      "partition": {
        "cluster": "east-kafka",
        "partition": 1,
        "topic": "orders"
      },
      "offset": {
        "offset": 0
      }
    }
  ]
}
`}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Error(diff)
	}
	o := got.OwnerReferences
	if len(o) != 1 || o[0].APIVersion != "kafka.strimzi.io/v1beta2" || o[0].Kind != "KafkaMirrorMaker2" || o[0].Name != "my-mm2" || *o[0].Controller || *o[0].BlockOwnerDeletion {
		t.Errorf("owners %+v", o)
	}
	r.until("that all is settled", r.settled)
}

// TestKindListsOffsetsAgain checks that a request for a list that is set again at once shows the offsets of that time.
func TestKindListsOffsetsAgain(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	for _, tc := range []struct {
		records int64
		want    string
	}{{1, `"offset": 0`}, {4, `"offset": 4`}} {
		r.connect.Produce("orders", tc.records)
		for range 20 {
			r.step()
		}
		r.annotate("list", source)
		r.until("that the annotations are removed", r.unannotated)
		if got := r.configMap("my-mm2-offsets").Data["east-kafka--west-kafka.MirrorSourceConnector.json"]; strings.Count(got, tc.want) != 2 {
			t.Errorf("listed %s, want %s of both partitions", got, tc.want)
		}
	}
}

// TestKindAltersOffsets checks that a connector is stopped and its offsets are altered by one edit, once, and that records are replayed
// after it was resumed.
func TestKindAltersOffsets(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.connect.Produce("orders", 100)
	for range 20 {
		r.step()
	}
	r.annotate("list", source)
	r.until("that the annotations are removed", func() bool { return len(r.get().Annotations) == 0 })
	list := r.configMap("my-mm2-offsets")
	list.Data["east-kafka--west-kafka.MirrorSourceConnector.json"] = `{"offsets":[{"partition":{"cluster":"east-kafka","partition":0,"topic":"orders"},"offset":{"offset":9}}]}`
	r.must(r.client.Update(t.Context(), list))
	r.edit(state(kafkav1beta2.ConnectorStopped))
	r.annotate("alter", source)
	r.until("that the annotations are removed", func() bool { return len(r.get().Annotations) == 0 })
	if diff := cmp.Diff([]string{"PATCH /connectors/" + source + "/offsets"}, r.changes()); diff != "" {
		t.Error(diff)
	}
	r.edit(state(kafkav1beta2.ConnectorRunning))
	r.until("that it runs", r.settled)
	for range 20 {
		r.step()
	}
	if got, want := r.connect.Mirrored(source), int64(200+90); got != want {
		t.Errorf("mirrored %d records, want %d", got, want)
	}
}

// altered is a body that replays the first partition from its tenth record.
const altered = `{"offsets":[{"partition":{"cluster":"east-kafka","partition":0,"topic":"orders"},"offset":{"offset":9}}]}`

// body returns the ConfigMap of an alter of the source connector.
func body(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "my-mm2-offsets", Namespace: "default"}, Data: map[string]string{"east-kafka--west-kafka.MirrorSourceConnector.json": text, "mine": "kept"}}
}

// stopped returns a rig whose source connector was stopped after it had mirrored 200 records.
func stopped(t *testing.T, objects ...client.Object) *rig {
	t.Helper()
	r := newRig(t, objects...)
	r.until("that all is settled", r.settled)
	r.connect.Produce("orders", 100)
	for range 20 {
		r.step()
	}
	r.edit(state(kafkav1beta2.ConnectorStopped))
	r.until("that it is stopped", func() bool {
		return r.settled() && strings.Contains(string(r.get().Status.Connectors[2].Raw), "STOPPED")
	})
	return r
}

func (r *rig) unannotated() bool { return len(r.get().Annotations) == 0 }

// TestKindSurvivesRestarts checks that a change has its effect once although a new operator starts, and the status is lost, after any
// number of steps.
func TestKindSurvivesRestarts(t *testing.T) {
	for _, operation := range []string{"alter", "reset"} {
		for at := range 12 {
			t.Run(fmt.Sprintf("%s, after %d steps", operation, at*4), func(t *testing.T) {
				r := stopped(t, body(altered))
				r.annotate(operation, source)
				for range at * 4 {
					r.step()
				}
				r.start()
				m := r.get()
				m.Status = kafkav1beta2.KafkaMirrorMaker2Status{}
				r.must(r.client.Status().Update(t.Context(), m))
				r.until("that the annotations are removed", r.unannotated)
				if got := r.changes(); len(got) != 1 {
					t.Errorf("%v", got)
				}
			})
		}
	}
}

// TestKindSendsChangesOnce checks that a change whose answer is lost, late or refused has its effect once.
func TestKindSendsChangesOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		fault connect.FaultKind
		want  int
	}{
		"the request is lost":              {connect.LoseRequest, 2},
		"the answer is lost":               {connect.LoseAnswer, 1},
		"no answer":                        {connect.Hang, 2},
		"no answer, and executed":          {connect.HangApplied, 1},
		"Connect times out":                {connect.TimeOut, 2},
		"Connect times out, and executed":  {connect.TimeOutApplied, 1},
		"Connect times out, then executes": {connect.TimeOutLater, 1},
		"a rebalance":                      {connect.Conflict, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := stopped(t, body(altered))
			r.connect.Faults = []connect.Fault{{Method: "PATCH", Suffix: "/offsets", Kind: tc.fault}}
			r.annotate("alter", source)
			r.until("that the annotations are removed", r.unannotated)
			if got := len(r.changes()); got != tc.want {
				t.Errorf("%d requests, want %d", got, tc.want)
			}
			r.edit(state(kafkav1beta2.ConnectorRunning))
			r.until("that it runs", r.settled)
			for range 20 {
				r.step()
			}
			if got := r.connect.Mirrored(source); got != 290 {
				t.Errorf("mirrored %d records", got)
			}
		})
	}
}

// TestKindRestoresOffsets checks that an alter from the kept offsets restores them.
func TestKindRestoresOffsets(t *testing.T) {
	r := stopped(t, body(altered))
	r.annotate("reset", source)
	r.until("that the annotations are removed", r.unannotated)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Mirrors[0].SourceConnector.AlterOffsets.FromConfigMap.Name = "my-mm2-offsets-before"
	})
	r.annotate("alter", source)
	r.until("that the annotations are removed", r.unannotated)
	r.edit(state(kafkav1beta2.ConnectorRunning))
	r.until("that it runs", r.settled)
	for range 20 {
		r.step()
	}
	if got := r.connect.Mirrored(source); got != 200 {
		t.Errorf("mirrored %d records: some were replayed or skipped", got)
	}
	if got := r.changes(); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// TestKindListsAllConnectors checks a request for all connectors, and that an existing ConfigMap keeps what else it holds.
func TestKindListsAllConnectors(t *testing.T) {
	r := newRig(t, body("{}"))
	r.until("that all is settled", r.settled)
	r.annotate("list", "*")
	r.until("that the annotations are removed", r.unannotated)
	got := r.configMap("my-mm2-offsets")
	none := "{\n  \"offsets\": []\n}\n"
	want := map[string]string{
		"east-kafka--west-kafka.MirrorSourceConnector.json": none, "east-kafka--west-kafka.MirrorCheckpointConnector.json": none,
		"east-kafka--west-kafka.MirrorHeartbeatConnector.json": none, "mine": "kept",
	}
	if diff := cmp.Diff(want, got.Data); diff != "" || len(got.OwnerReferences) > 0 || len(got.Labels) > 0 {
		t.Error(diff, got.OwnerReferences, got.Labels)
	}
}

// TestKindWarns checks bad input: a warning that names the connector and says what to do, annotations that stay, and other work that goes
// on.
func TestKindWarns(t *testing.T) {
	huge := `{"offsets":[` + strings.Repeat(" ", 2<<20) + `]}`
	for name, tc := range map[string]struct {
		annotations map[string]string
		objects     []client.Object
		edit        func(m *kafkav1beta2.KafkaMirrorMaker2)
		reason      string
		want        []string
	}{
		"only the operation":   {annotations: requests("list", ""), reason: "ManageOffsets", want: []string{"missing annotation strimzi.io/mirrormaker-connector", source}},
		"only the connector":   {annotations: requests("", source), reason: "ManageOffsets", want: []string{"missing annotation strimzi.io/connector-offsets", source}},
		"an empty operation":   {annotations: map[string]string{"strimzi.io/connector-offsets": "", "strimzi.io/mirrormaker-connector": source}, reason: "ManageOffsets", want: []string{"empty annotation strimzi.io/connector-offsets", "list, alter or reset", source}},
		"no connector":         {annotations: map[string]string{"strimzi.io/connector-offsets": "list", "strimzi.io/mirrormaker-connector": " "}, reason: "ManageOffsets", want: []string{"empty annotation strimzi.io/mirrormaker-connector", source}},
		"an unknown operation": {annotations: requests("delete", source), reason: "ManageOffsets", want: []string{`"delete"`, "list, alter or reset", source}},
		"an unknown connector": {annotations: requests("list", "east->west.Typo"), reason: "ListOffsets", want: []string{"east->west.Typo", source, heartbeat}},
		"a missing property":   {annotations: requests("list", checkpoint), edit: func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].CheckpointConnector.ListOffsets = nil }, reason: "ListOffsets", want: []string{"Failed to list the connector offsets for " + checkpoint + " due to missing property listOffsets in KafkaMirrorMaker2 CR."}},
		"a missing ConfigMap":  {annotations: requests("alter", source), edit: state(kafkav1beta2.ConnectorStopped), reason: "AlterOffsets", want: []string{source, "missing ConfigMap my-mm2-offsets"}},
		"a missing entry": {annotations: requests("alter", checkpoint), objects: []client.Object{body(altered)}, edit: func(m *kafkav1beta2.KafkaMirrorMaker2) {
			m.Spec.Mirrors[0].CheckpointConnector.State = kafkav1beta2.ConnectorStopped
		}, reason: "AlterOffsets", want: []string{checkpoint, "missing entry"}},
		"broken JSON":           {annotations: requests("alter", source), objects: []client.Object{body(`{"offsets":`)}, edit: state(kafkav1beta2.ConnectorStopped), reason: "AlterOffsets", want: []string{source, "not valid JSON"}},
		"text after the JSON":   {annotations: requests("alter", source), objects: []client.Object{body(altered + "x")}, edit: state(kafkav1beta2.ConnectorStopped), reason: "AlterOffsets", want: []string{source, "not valid JSON"}},
		"an empty list":         {annotations: requests("alter", source), objects: []client.Object{body(`[]`)}, edit: state(kafkav1beta2.ConnectorStopped), reason: "AlterOffsets", want: []string{source, "answered 500"}},
		"no offsets":            {annotations: requests("alter", source), objects: []client.Object{body(`{"offsets":[]}`)}, edit: state(kafkav1beta2.ConnectorStopped), reason: "AlterOffsets", want: []string{source, "Partitions / offsets need to be provided for an alter offsets request"}},
		"2 MiB":                 {annotations: requests("alter", source), objects: []client.Object{body(huge)}, edit: state(kafkav1beta2.ConnectorStopped), reason: "AlterOffsets", want: []string{source, "at most 1048576"}},
		"a connector that runs": {annotations: requests("reset", source), reason: "ResetOffsets", want: []string{"Failed to reset the connector offsets for " + source, "not being stopped"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.objects...)
			r.until("that all is settled", r.settled)
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				m.Annotations = tc.annotations
				if tc.edit != nil {
					tc.edit(m)
				}
			})
			r.until("the warning", func() bool { return r.warning(tc.reason) != "" })
			for _, part := range tc.want {
				if got := r.warning(tc.reason); !strings.Contains(got, part) {
					t.Errorf("%s lacks %q", got, part)
				}
			}
			for name, value := range tc.annotations {
				if r.get().Annotations[name] != value {
					t.Errorf("annotation %s was removed", name)
				}
			}
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				m.Spec.Mirrors[0].HeartbeatConnector.State = kafkav1beta2.ConnectorPaused
			})
			r.until("that other work goes on", func() bool { return slices.Contains(r.writes, "PUT /connectors/"+heartbeat+"/pause") })
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
			r.until("that the warning ends", func() bool { return r.warning(tc.reason) == "" })
		})
	}
}

func requests(operation, connector string) map[string]string {
	out := map[string]string{}
	if operation != "" {
		out["strimzi.io/connector-offsets"] = operation
	}
	if connector != "" {
		out["strimzi.io/mirrormaker-connector"] = connector
	}
	return out
}

// TestKindChangesConnectors checks that connectors follow the spec.
func TestKindChangesConnectors(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.writes = nil
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		mirror := &m.Spec.Mirrors[0]
		mirror.HeartbeatConnector, mirror.CheckpointConnector.State, mirror.SourceConnector.TasksMax = nil, kafkav1beta2.ConnectorPaused, new(int32(1))
	})
	r.until("that all is settled", func() bool { return r.settled() && len(r.get().Status.Connectors) == 2 })
	slices.Sort(r.writes)
	want := []string{"DELETE /connectors/" + heartbeat, "PUT /connectors/" + checkpoint + "/pause", "PUT /connectors/" + source + "/config"}
	if diff := cmp.Diff(want, r.writes); diff != "" {
		t.Error(diff)
	}
}

// TestKindRestartsConnectors checks the annotations of restarts.
func TestKindRestartsConnectors(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.writes = nil
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Annotations = map[string]string{"strimzi.io/restart-connector": source + ":includeTasks", "strimzi.io/restart-connector-task": checkpoint + ":0"}
	})
	r.until("that the annotations are removed", r.unannotated)
	slices.Sort(r.writes)
	want := []string{"POST /connectors/" + checkpoint + "/tasks/0/restart", "POST /connectors/" + source + "/restart"}
	if diff := cmp.Diff(want, r.writes); diff != "" {
		t.Error(diff)
	}
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Annotations = map[string]string{"strimzi.io/restart-connector": "typo"}
	})
	r.until("the warning", func() bool { return r.warning("RestartConnector") != "" })
}

// TestKindRollsWorkers checks that another version replaces one worker after the other.
func TestKindRollsWorkers(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Version = "4.1.1" })
	least := 2
	r.until("that both workers have the version", func() bool {
		var pods corev1.PodList
		r.must(r.client.List(t.Context(), &pods))
		ready, updated := 0, 0
		for i := range pods.Items {
			if pods.Items[i].Annotations["strimzi.io/kafka-version"] == "4.1.1" {
				updated++
			}
			if len(pods.Items[i].Status.Conditions) > 0 && pods.Items[i].DeletionTimestamp == nil {
				ready++
			}
		}
		least = min(least, ready)
		return updated == 2 && r.settled()
	})
	if least < 1 {
		t.Error("both workers were unavailable at once")
	}
	if got := r.containers; got != 4 {
		t.Errorf("%d workers were started, want 4", got)
	}
}

// TestKindRestartsASilentWorker checks that a worker that is frozen before the stop cannot put old offsets back: it is restarted before
// the offsets are altered.
func TestKindRestartsASilentWorker(t *testing.T) {
	for _, worker := range []int{0, 1} {
		t.Run(fmt.Sprintf("worker %d", worker), func(t *testing.T) {
			r := newRig(t, body(altered))
			r.until("that all is settled", r.settled)
			for range 5 {
				r.connect.Produce("orders", 50)
				r.step()
			}
			r.connect.Produce("orders", 50)
			r.connect.Tick(r.connect.Now + 1)
			r.connect.Freeze(worker)
			r.edit(state(kafkav1beta2.ConnectorStopped))
			r.annotate("alter", source)
			r.until("that the change is sent", func() bool { return len(r.changes()) > 0 })
			r.connect.Thaw(worker)
			r.until("that the annotations are removed", r.unannotated)
			if got := r.changes(); len(got) != 1 || r.containers != 3 {
				t.Errorf("%v, %d workers were started", got, r.containers)
			}
		})
	}
}

package mirrormaker2_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/simulator/connect"
)

// partitions is the number of source partitions that a connector is tested with.
const partitions = 10_000

// large returns a rig whose source connector was stopped after it had mirrored a record of each of n partitions.
func large(t testing.TB, n int) *rig {
	t.Helper()
	r := newRig(t)
	r.connect, r.pace = connect.New(connect.DefaultSettings(), 2, false), 5*time.Second
	r.connect.CreateTopic("orders", n)
	for i := range r.connect.Workers {
		r.connect.Kill(i)
	}
	r.until("that all is settled", r.settled)
	r.connect.Produce("orders", 1)
	for range 5 {
		r.step()
	}
	r.edit(state(kafkav1beta2.ConnectorStopped))
	r.until("that it is stopped", r.settled)
	return r
}

const entry = "east-kafka--west-kafka.MirrorSourceConnector.json"

// TestKindChangesManyPartitions checks that the offsets of 10,000 partitions are listed in one ConfigMap, edited, altered and verified, and
// that the ones from before are kept.
func TestKindChangesManyPartitions(t *testing.T) {
	r := large(t, partitions)
	r.annotate("list", source)
	r.until("that the annotations are removed", r.unannotated)
	list := r.configMap("my-mm2-offsets")
	if got := strings.Count(list.Data[entry], `"offset":0}`); got != partitions {
		t.Fatalf("%d partitions are listed in %d bytes", got, len(list.Data[entry]))
	}
	before := list.Data[entry]
	list.Data[entry] = strings.ReplaceAll(before, `"offset":0}`, `"offset":7}`)
	r.must(r.client.Update(t.Context(), list))
	r.annotate("alter", source)
	r.until("that the annotations are removed", r.unannotated)
	r.annotate("list", source)
	r.until("that the annotations are removed", r.unannotated)
	if got := strings.Count(r.configMap("my-mm2-offsets").Data[entry], `"offset":7}`); got != partitions {
		t.Errorf("%d partitions were altered", got)
	}
	if got := strings.Count(r.configMap("my-mm2-offsets-before").Data[entry], `"offset":0}`); got != partitions {
		t.Errorf("the offsets of %d partitions are kept", got)
	}
	if got := r.changes(); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// BenchmarkManyPartitions is a reconcile that reads and judges the offsets of 10,000 partitions, which are to be reset.
func BenchmarkManyPartitions(b *testing.B) {
	r := large(b, partitions)
	r.annotate("reset", source)
	r.until("that it is awaited", func() bool {
		return strings.Contains(fmt.Sprintf("%+v", r.get().Status.Lifecycles), connectoroffsets.AwaitingStopped)
	})
	var document []byte
	r.answer = func(q *http.Request) *http.Response { // the simulated workers take longer to write them than a reconcile to read them
		if !strings.HasSuffix(q.URL.Path, "/offsets") {
			return nil
		}
		if document == nil {
			answer := r.connect.Handle(0, connect.Request{Method: q.Method, Path: q.URL.Path})
			document = []byte(answer.Body)
		}
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(document))}
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := r.run[0].Reconcile(b.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "my-mm2"}})
		r.must(err)
	}
	if len(document) < partitions*50 || len(r.changes()) > 0 {
		b.Errorf("an answer of %d bytes was read, and %v was sent", len(document), r.changes())
	}
}

// BenchmarkAlterManyPartitions lists the offsets of 10,000 partitions, and alters them to others, which is verified.
func BenchmarkAlterManyPartitions(b *testing.B) {
	r := large(b, partitions)
	b.ReportAllocs()
	done := 0
	for b.Loop() {
		r.annotate("list", source)
		r.until("that they are listed", r.unannotated)
		list := r.configMap("my-mm2-offsets")
		list.Data[entry] = strings.ReplaceAll(list.Data[entry], fmt.Sprintf(`"offset":%d}`, done), fmt.Sprintf(`"offset":%d}`, done+1))
		r.must(r.client.Update(b.Context(), list))
		r.annotate("alter", source)
		r.until("that they are altered", r.unannotated)
		done++
	}
	if got := len(r.changes()); got != done {
		b.Errorf("%d changes were sent, want %d", got, done)
	}
}

// TestKindWarnsOfTooManyPartitions checks that offsets that no ConfigMap can hold are neither listed nor changed.
func TestKindWarnsOfTooManyPartitions(t *testing.T) {
	r := large(t, partitions+partitions/5)
	for operation, reason := range map[string]string{"list": "ListOffsets", "reset": "KeepOffsets"} {
		r.annotate(operation, source)
		r.until("the warning", func() bool { return r.warning(reason) != "" })
		for _, want := range []string{source, "a ConfigMap holds at most 1044480", fmt.Sprintf("Failed to %s", operation)} {
			if got := r.warning(reason); !strings.Contains(got, want) {
				t.Errorf("%s lacks %q", got, want)
			}
		}
		r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
		r.until("that the warning ends", func() bool { return r.warning(reason) == "" })
	}
	if got := r.configMap("my-mm2-offsets"); got != nil {
		t.Errorf("%d bytes were listed", len(got.Data[entry]))
	}
	if got := r.changes(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

package mirrormaker2_test

import (
	"strings"
	"testing"
	"time"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

// TestRequestsLapse checks that a request that waits for longer than its annotation permits is never carried out, and that the resource says so.
func TestRequestsLapse(t *testing.T) {
	r := stopped(t)
	r.connect.Freeze(0)
	r.connect.Freeze(1) // Connect does not answer
	r.pace = 20 * time.Second
	r.annotate("reset", source)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations["detent.dev/offsets-expire-after"] = "10m" })
	r.steps(25)
	if got, want := r.offsetsIn(source), connectoroffsets.AwaitingConnector; got != want {
		t.Fatalf("%s, want %s before it lapses", got, want)
	}
	r.steps(9)
	left := func() int { return len(r.get().Annotations) }
	if got := r.warning("ResetOffsets"); left() != 1 || !strings.Contains(got, "waited for 10m") || !strings.Contains(got, "Connect did not answer") || !strings.Contains(got, "Nothing was sent") {
		t.Errorf("%d annotations and the warning %q, want that it lapsed", left(), got)
	}
	r.connect.Thaw(0)
	r.connect.Thaw(1)
	r.pace = time.Second
	r.reapply("reset") // a tool sets the annotations again
	r.steps(120)
	if got := r.changes(); len(got) > 0 || r.offsetsIn(source) != connectoroffsets.Repeated {
		t.Errorf("sent %v in %s, want nothing in Repeated", got, r.offsetsIn(source))
	}
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
	r.until("that the removal is recorded", func() bool { return r.offsetsIn(source) == connectoroffsets.Idle })
	r.annotate("reset", source)
	r.until("that it is done", r.unannotated)
	if got := r.warning("ResetOffsets"); got != "" {
		t.Errorf("the warning is still %q", got)
	}
}

// TestRefusedRequestsLapse checks that a request that cannot be carried out lapses too, and is not carried out once it could be: its time is
// limited from the beginning, or later.
func TestRefusedRequestsLapse(t *testing.T) {
	for name, later := range map[string]int{"limited from the beginning": 0, "limited later": 3} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.until("that all is settled", r.settled)
			r.pace = 20 * time.Second
			r.annotate("reset", source)
			r.steps(later)
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations["detent.dev/offsets-expire-after"] = "10m" })
			r.steps(25)
			if got, want := r.offsetsIn(source), connectoroffsets.Refusing; got != want {
				t.Fatalf("%s, want %s before it lapses", got, want)
			}
			r.start()
			r.steps(12)
			if got := r.warning("ResetOffsets"); len(r.get().Annotations) != 1 || !strings.Contains(got, "waited for 10m") || !strings.Contains(got, "it could not be carried out as it was") {
				t.Errorf("annotations %v and the warning %q, want that it lapsed", r.get().Annotations, got)
			}
			r.edit(state(kafkav1beta2.ConnectorStopped))
			r.reapply("reset") // a tool sets the annotations again
			r.steps(60)
			if got := r.changes(); len(got) > 0 {
				t.Errorf("sent %v, want nothing", got)
			}
		})
	}
}

// TestRequestsOfUnknownConnectorsLapse names a connector that is not declared beside one that is: once they lapsed, nothing is carried out on
// either, also if the other one is declared.
func TestRequestsOfUnknownConnectorsLapse(t *testing.T) {
	r := newRig(t)
	declared := r.get().Spec.Mirrors[0].HeartbeatConnector
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].HeartbeatConnector = nil })
	r.edit(state(kafkav1beta2.ConnectorStopped))
	r.until("that all is settled", r.settled)
	r.pace = 20 * time.Second
	r.annotate("reset", source+","+heartbeat)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations["detent.dev/offsets-expire-after"] = "10m" })
	r.steps(20)
	if got := r.warning("ResetOffsets"); !strings.Contains(got, "for "+heartbeat+" due to unknown connector") || r.offsetsIn(source) != connectoroffsets.Refusing {
		t.Errorf("the warning is %q in %s, want that the connector is unknown in %s", got, r.offsetsIn(source), connectoroffsets.Refusing)
	}
	r.steps(20)
	if got := r.warning("ResetOffsets"); len(r.get().Annotations) != 1 || !strings.Contains(got, "waited for 10m") {
		t.Errorf("annotations %v and the warning %q, want that the request lapsed", r.get().Annotations, got)
	}
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Mirrors[0].HeartbeatConnector = declared
		m.Spec.Mirrors[0].HeartbeatConnector.State = kafkav1beta2.ConnectorStopped
	})
	r.steps(60)
	if got := r.changes(); len(got) > 0 {
		t.Errorf("sent %v, want nothing", got)
	}
}

// TestRefusedRequestsLapseWhenSetAgain begins another attempt of a refused request: it rests with a time of its own, and lapses.
func TestRefusedRequestsLapseWhenSetAgain(t *testing.T) {
	operation := func(value string) func(*kafkav1beta2.KafkaMirrorMaker2) {
		return func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations["strimzi.io/connector-offsets"] = value }
	}
	for name, again := range map[string]func(r *rig){
		"the status is lost": func(r *rig) {
			m := r.get()
			m.Status = kafkav1beta2.KafkaMirrorMaker2Status{}
			r.must(r.client.Status().Update(t.Context(), m))
		},
		"removed and set at once": func(r *rig) {
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { delete(m.Annotations, "strimzi.io/connector-offsets") })
			r.step()
			r.edit(operation("reset"))
		},
		"misspelt and corrected": func(r *rig) {
			r.edit(operation("purge"))
			r.steps(3)
			r.edit(operation("reset"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.until("that all is settled", r.settled)
			r.annotate("reset", source)
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations["detent.dev/offsets-expire-after"] = "10m" })
			r.steps(20)
			again(r)
			r.steps(20)
			rests := r.get().ResourceVersion
			r.steps(60)
			if got := r.offsetsIn(source); got != connectoroffsets.Refusing || r.get().ResourceVersion != rests {
				t.Errorf("in %s it writes, want that it rests in %s", got, connectoroffsets.Refusing)
			}
			r.pace = 20 * time.Second
			r.steps(40)
			if got := r.warning("ResetOffsets"); !strings.Contains(got, "waited for 10m") {
				t.Errorf("the warning is %q, want that the request lapsed", got)
			}
			r.edit(state(kafkav1beta2.ConnectorStopped))
			r.steps(20)
			if got := r.changes(); len(got) > 0 {
				t.Errorf("sent %v, want nothing", got)
			}
		})
	}
}

// TestRequestsDoNotLapse checks that a request that may wait is carried out, however long it waited the last time it was set, and that an
// invalid limit is shown and limits nothing.
func TestRequestsDoNotLapse(t *testing.T) {
	for name, tc := range map[string]struct {
		limit string
		// want is what the Warning InvalidAnnotation contains.
		want string
	}{
		"a limit":              {limit: "10m"},
		"a limit of no time":   {limit: "0s", want: "offsets-expire-after"},
		"a limit without unit": {limit: "10", want: "offsets-expire-after"},
	} {
		t.Run(name, func(t *testing.T) {
			r := stopped(t)
			limited := func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations["detent.dev/offsets-expire-after"] = tc.limit }
			r.connect.Freeze(0)
			r.connect.Freeze(1)
			r.annotate("reset", source)
			r.edit(limited)
			r.steps(5)
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
			r.steps(5)
			r.clock.Step(time.Hour)
			r.steps(5)
			r.connect.Thaw(0)
			r.connect.Thaw(1)
			r.annotate("reset", source)
			r.edit(limited)
			r.steps(2)
			if got := r.warning("InvalidAnnotation"); !strings.Contains(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("the warning is %q, want one with %q", got, tc.want)
			}
			r.until("that it is done", func() bool { return len(r.get().Annotations) == 1 })
			if got := r.changes(); len(got) != 1 {
				t.Errorf("sent %v, want one change", got)
			}
		})
	}
}

package mirrormaker2_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

// steps reconciles a number of times, a second apart.
func (r *rig) steps(n int) {
	r.t.Helper()
	for range n {
		r.step()
	}
}

// reapply sets the annotations of a request again, as a tool does that has them in a repository.
func (r *rig) reapply(operation string) {
	r.t.Helper()
	r.annotate(operation, source)
	r.until("a repetition", func() bool { return r.offsetsIn(source) == connectoroffsets.Repeated })
}

// TestKindChangesOnceWhileAnnotationsStay checks that a change that is done, or whose effect is not known, is not sent again while its
// annotations are there, whatever happens in between and however long that takes.
func TestKindChangesOnceWhileAnnotationsStay(t *testing.T) {
	const name = "my-mm2-offsets"
	const patience = 320 // seconds, longer than a repetition is recognized by time
	restores := func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Mirrors[0].SourceConnector.AlterOffsets.FromConfigMap.Name = "my-mm2-offsets-before"
	}
	disturb := map[string]func(r *rig, server *refusing){
		"nothing happens": func(*rig, *refusing) {},
		"one read of the ConfigMap fails": func(r *rig, server *refusing) {
			server.refuse = func(verb, of string) error {
				if verb == "get" && of == name {
					return errors.New("etcdserver: request timed out")
				}
				return nil
			}
			r.steps(1)
			server.refuse = nil
		},
		"the connector is resumed and stopped": func(r *rig, _ *refusing) {
			r.edit(state(kafkav1beta2.ConnectorRunning))
			r.steps(patience)
			r.edit(state(kafkav1beta2.ConnectorStopped))
		},
		"the ConfigMap is deleted and created": func(r *rig, _ *refusing) {
			r.must(r.client.Delete(t.Context(), body(altered)))
			r.steps(20)
			r.must(r.client.Create(t.Context(), body(altered)))
		},
		"the annotations are not understood for a time": func(r *rig, _ *refusing) {
			r.annotate("alter", source+",Typo")
			r.steps(patience)
			r.annotate("alter", source)
		},
	}
	begin := map[string]func(r *rig){
		"a restore": func(r *rig) {
			r.annotate("reset", source)
			r.until("that it is reset", r.unannotated)
			r.edit(restores)
			r.annotate("alter", source)
			r.until("that it is restored", r.unannotated)
			r.reapply("alter")
		},
		"an alter": func(r *rig) {
			r.annotate("alter", source)
			r.until("that it is done", r.unannotated)
			r.reapply("alter")
		},
		"an alter whose effect is not known": func(r *rig) {
			r.answer = func(q *http.Request) *http.Response {
				if q.Method != http.MethodPatch {
					return nil
				}
				r.writes = append(r.writes, "PATCH "+q.URL.Path)
				return response(http.StatusOK, `{"message":"altered"}`)
			}
			r.annotate("alter", source)
			r.until("a mismatch", func() bool { return r.offsetsIn(source) == connectoroffsets.Mismatched })
		},
	}
	for request, begin := range begin {
		for event, disturb := range disturb {
			t.Run(request+": "+event, func(t *testing.T) {
				r := stopped(t, body(altered))
				server := &refusing{Client: r.client}
				r.client = server
				r.start()
				begin(r)
				sent := len(r.changes())
				r.steps(patience)
				disturb(r, server)
				r.steps(patience)
				if got := r.changes(); len(got) != sent {
					t.Errorf("%d changes were sent, want %d: %v", len(got), sent, got)
				}
			})
		}
	}
}

// TestKindRepeatsWhatIsMeant checks that a repetition is carried out as its warning says: it is removed, and set again.
func TestKindRepeatsWhatIsMeant(t *testing.T) {
	r := stopped(t)
	r.annotate("reset", source)
	r.until("that it is done", r.unannotated)
	r.reapply("reset")
	r.steps(5)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
	r.until("that the warning is gone", func() bool { return r.warning("Repeated") == "" })
	r.steps(1)
	r.annotate("reset", source)
	r.until("that it is done again", r.unannotated)
	if got := r.changes(); len(got) != 2 {
		t.Errorf("%v were sent, want two changes", got)
	}
}

// TestKindCarriesOutAgainWhatWasRemovedForLong checks that a request is no repetition once nobody has set it again for five minutes.
func TestKindCarriesOutAgainWhatWasRemovedForLong(t *testing.T) {
	r := stopped(t)
	for range 2 {
		r.annotate("reset", source)
		r.until("that it is done", r.unannotated)
		r.steps(400)
	}
	if got := r.changes(); len(got) != 2 {
		t.Errorf("%v were sent, want two changes", got)
	}
}

// TestRepeatedSaysWhatToDo checks that the Warning about a repetition is that of the kind, and not the advice of the machine.
func TestRepeatedSaysWhatToDo(t *testing.T) {
	r := stopped(t)
	r.annotate("reset", source)
	r.until("that it is done", r.unannotated)
	r.reapply("reset")
	r.steps(30)
	if got := r.warning("Repeated"); !strings.Contains(got, "set them again") {
		t.Errorf("the warning is %q, want what to do", got)
	}
}

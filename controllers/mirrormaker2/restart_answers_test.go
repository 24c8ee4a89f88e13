package mirrormaker2_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// TestKindRepeatsARefusedAutomaticRestart checks that an automatic restart that Connect refuses during a rebalance is not counted: it is sent
// again, although the spec permits one.
func TestKindRepeatsARefusedAutomaticRestart(t *testing.T) {
	r := newRig(t)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Mirrors[0].SourceConnector.AutoRestart = &kafkav1beta2.AutoRestart{MaxRestarts: new(int32(1))}
	})
	r.until("that all is settled", r.settled)
	sent, bad := 0, failed(r, source) //nolint:bodyclose // the client closes it
	r.answer = func(q *http.Request) *http.Response {
		if q.Method != http.MethodPost {
			return bad(q)
		}
		sent++
		if sent == 1 {
			return response(http.StatusConflict, `{"error_code":409,"message":"a rebalance is expected"}`)
		}
		return nil
	}
	for range 60 {
		r.stride(5 * time.Second)
	}
	if sent != 2 {
		t.Errorf("sent %d restarts, want one that is refused and one that is carried out", sent)
	}
	if shown := r.get().Status.AutoRestartStatuses; len(shown) != 1 || shown[0].Count != 1 {
		t.Errorf("the status shows %+v, want one restart", shown)
	}
}

// TestKindRestartsWhatIsRequestedMeanwhile checks that the value of an annotation that a user sets while the restart of another value runs is
// carried out too.
func TestKindRestartsWhatIsRequestedMeanwhile(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.writes = nil
	set := func(task string) {
		r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
			m.Annotations = map[string]string{"strimzi.io/restart-connector-task": source + ":" + task}
		})
	}
	replaced := false
	r.answer = func(q *http.Request) *http.Response {
		if strings.HasSuffix(q.URL.Path, "/tasks/0/restart") && !replaced {
			replaced = true
			set("1")
		}
		return nil
	}
	set("0")
	for range 60 {
		r.step()
	}
	want := "POST /connectors/" + source + "/tasks/0/restart POST /connectors/" + source + "/tasks/1/restart"
	if got := strings.Join(r.writes, " "); got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	if left := r.get().Annotations; len(left) > 0 {
		t.Errorf("the annotations %v are left", left)
	}
}

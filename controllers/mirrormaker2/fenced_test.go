package mirrormaker2_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

// TestKindVerifiesWithALostWorker checks that a worker on a node without connection delays the verification of a change only if Connect does
// not fence it, and that the status names it then.
func TestKindVerifiesWithALostWorker(t *testing.T) {
	for name, tc := range map[string]struct {
		fenced bool
		// want is what the status says; empty if the change is verified.
		want string
	}{
		"it is fenced": {fenced: true},
		"it is not fenced, and was lost after the change": {want: "the worker my-mm2-mirrormaker2-1 has not answered since the change"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, body(altered))
			if tc.fenced {
				r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
					m.Spec.Clusters[1].Config = map[string]apiextensionsv1.JSON{"exactly.once.source.support": {Raw: []byte(`"enabled"`)}}
				})
			}
			r.until("that all is settled", r.settled)
			for range 10 {
				r.step()
			}
			r.edit(state(kafkav1beta2.ConnectorStopped))
			r.annotate("alter", source)
			if !tc.fenced { // it would delay the change itself
				r.until("the change", func() bool { return len(r.changes()) == 1 })
			}
			r.loseProcess("1.00000000000000aa", fmt.Sprintf(`{"pod":"my-mm2-mirrormaker2-1","podUID":"gone","container":"c","node":"node-lost","exactlyOnce":%t}`, tc.fenced))
			if tc.want == "" {
				r.until("that it is verified", r.unannotated)
				return
			}
			r.until("the name of the worker", func() bool {
				for _, l := range r.get().Status.Lifecycles {
					if l.State == connectoroffsets.Verifying && len(l.WaitingFor) > 0 && strings.Contains(l.WaitingFor[0].Observed, tc.want) {
						return true
					}
				}
				return false
			})
		})
	}
}

// TestKindAwaitsAProcessThatIsNotFenced checks that a lost worker that was started with exactly-once support delays the change while another
// worker, which may lead, was started without it.
func TestKindAwaitsAProcessThatIsNotFenced(t *testing.T) {
	r := newRig(t, body(altered))
	r.until("that all is settled", r.settled)
	r.steps(10)
	r.loseProcess("1.00000000000000aa", `{"pod":"my-mm2-mirrormaker2-1","podUID":"gone","container":"c","node":"node-lost","exactlyOnce":true}`)
	r.edit(state(kafkav1beta2.ConnectorStopped))
	r.annotate("alter", source)
	r.steps(300)
	if got, want := r.offsetsIn(source), connectoroffsets.AwaitingStopped; got != want || len(r.changes()) > 0 {
		t.Errorf("sent %v in %s, want nothing in %s", r.changes(), got, want)
	}
	const wayOut = "give the Node the taint node.kubernetes.io/out-of-service"
	if !slices.ContainsFunc(r.get().Status.Lifecycles, func(l lifecyclev1.Lifecycle) bool {
		return slices.ContainsFunc(l.WaitingFor, func(w lifecyclev1.WaitingFor) bool { return strings.Contains(w.Observed, wayOut) })
	}) {
		t.Errorf("no lifecycle says %q", wayOut)
	}
}

// loseProcess records a worker process that is on a node without connection.
func (r *rig) loseProcess(process, record string) {
	r.t.Helper()
	recorded := r.configMap("my-mm2-mirrormaker2-processes")
	recorded.Data[process] = record
	r.must(r.client.Update(r.t.Context(), recorded))
	r.must(r.server.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-lost"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}}}))
}

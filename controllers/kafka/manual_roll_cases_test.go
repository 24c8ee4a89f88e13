package kafka

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/test/cases"
)

type rollOutcome struct {
	// Rolls is 1 if a restart was tried.
	Rolls int   `json:"rolls"`
	Pods  names `json:"pods"`
	// Reason is that of a request of a user. Nothing else is a reason in these cases, since the spec does not change.
	Reason    string `json:"reason"`
	Reconcile string `json:"reconcile"`
}

// names are sorted: their order is that of a case's text.
type names []string

func (n *names) UnmarshalJSON(text []byte) error {
	err := json.Unmarshal(text, (*[]string)(n))
	slices.Sort(*n)
	return err
}

func TestNodeRollCasesOfRequests(t *testing.T) {
	type given struct {
		Annotated []string `json:"annotated"`
		Roll      string   `json:"roll"`
	}
	cases.RunStrimzi(t, "manual-roll.yaml", "manual-roll", nil, func(t *testing.T, g given, want rollOutcome) rollOutcome {
		w := started(t, nil, onIDs(declaredPool("controllers", 0, roleController), []int32{0, 1, 2}), onIDs(declaredPool("brokers", 0, roleBroker), []int32{10, 11, 12}))
		before, tried := w.uids(), 0
		if g.Roll == "error" {
			w.rig.fail = func(write string) bool {
				eviction := strings.HasPrefix(write, "create-eviction ")
				if eviction {
					tried = 1
				}
				return eviction
			}
		}
		for _, name := range g.Annotated {
			if pool, isSet := strings.CutPrefix(name, "podset "); isSet {
				w.setAnnotation(&corev1beta2.StrimziPodSet{}, "my-cluster-"+pool, labels.RollingUpdate, "true")
				continue
			}
			w.setAnnotation(&corev1.Pod{}, "my-cluster-"+name, labels.RollingUpdate, "true")
		}
		w.run(80)
		out := rollOutcome{Rolls: tried}
		for pod, uid := range w.uids() {
			if before[pod] != uid {
				out.Rolls, out.Reason = 1, want.Reason
				out.Pods = append(out.Pods, strings.TrimPrefix(pod, "my-cluster-"))
			}
		}
		slices.Sort(out.Pods)
		if want.Reconcile != "" {
			out.Reconcile = w.stillReconciles()
		}
		return out
	})
}

// stillReconciles reports whether a change of the spec that needs no restart is applied.
func (w *world) stillReconciles() string {
	w.t.Helper()
	k := w.cluster()
	k.Spec.Kafka.Listeners = append(k.Spec.Kafka.Listeners, kafkav1beta2.Listener{Name: "more", Port: 9099, Type: kafkav1beta2.ListenerInternal})
	k.Generation++
	w.must(w.client.Update(w.t.Context(), k))
	w.run(10)
	service := &corev1.Service{}
	w.must(w.get(service, "my-cluster-kafka-bootstrap"))
	if slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == 9099 }) {
		return "ok"
	}
	return "the Service has no port 9099"
}

package planning

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/plan"
)

// guarded requests access control, which is not implemented.
func (l *lived) guarded() {
	l.kafka().Spec.Kafka.Authorization = &kafkav1beta2.Opaque{}
	l.kafka().Generation++
}

func restartsOrPods(p *plan.Plan) []string {
	return slices.DeleteFunc(does(p), func(e string) bool { return !strings.HasPrefix(e, "restart-pod ") && !strings.Contains(e, " Pod/") })
}

// A cluster that requests access control would run without it: no node is started or restarted for it, and the status has the
// reason. Running nodes are not stopped, and lost pods are recreated.
func TestMakeStartsNoNodeUnguarded(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster  func(*testing.T) *lived
		change   func(*lived)
		want     []string
		result   plan.Result
		observed string
	}{
		"a new cluster with authorization": {
			cluster: func(t *testing.T) *lived { t.Helper(); return newCluster(t, known) }, change: (*lived).guarded,
			result: plan.Holds, observed: "spec.kafka.authorization",
		},
		"a new cluster with authentication on a listener that is served": {
			cluster: func(t *testing.T) *lived { t.Helper(); return newCluster(t, known) },
			change:  func(l *lived) { l.kafka().Spec.Kafka.Listeners[0].Authentication = &kafkav1beta2.Opaque{} },
			result:  plan.Holds, observed: "spec.kafka.listeners[plain].authentication",
		},
		"a new cluster with authentication on a listener that is not": {
			cluster: func(t *testing.T) *lived { t.Helper(); return newCluster(t, known) },
			change: func(l *lived) {
				k := &l.kafka().Spec.Kafka
				k.Version = "4.2.0"
				k.Listeners = append(k.Listeners, kafkav1beta2.Listener{
					Name: "tls", Port: 9093, Type: kafkav1beta2.ListenerInternal, TLS: true, Authentication: &kafkav1beta2.Opaque{},
				})
			},
			want:   []string{"create Pod/my-cluster-nodes-0", "create Pod/my-cluster-nodes-1", "create Pod/my-cluster-nodes-2"},
			result: plan.Rests,
		},
		"a cluster that runs, and a property that demands restarts": {
			cluster: func(t *testing.T) *lived { t.Helper(); return settled(t, "4.2.0") },
			change: func(l *lived) {
				l.kafka().Spec.Kafka.Config["queued.max.requests"] = apiextensionsv1.JSON{Raw: []byte("48")}
				l.guarded()
			},
			result: plan.Holds, observed: "spec.kafka.authorization",
		},
		"a cluster that runs, and another version": {
			cluster: func(t *testing.T) *lived { t.Helper(); return settled(t, "4.2.0") },
			change:  func(l *lived) { l.want("4.3.1", ""); l.guarded() },
			result:  plan.Holds, observed: "spec.kafka.authorization",
		},
		"a cluster that runs, and a pod that is lost": {
			cluster: func(t *testing.T) *lived { t.Helper(); return settled(t, "4.2.0") },
			change:  func(l *lived) { l.drop("Pod", "my-cluster-nodes-2"); l.guarded() },
			want:    []string{"create Pod/my-cluster-nodes-2"},
			result:  plan.Holds, observed: "spec.kafka.authorization",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := tc.cluster(t)
			tc.change(l)
			p := l.live()
			got := restartsOrPods(p)
			slices.Sort(got)
			if !slices.Equal(got, tc.want) || p.Result != tc.result {
				t.Errorf("%s with %q, want %s with %q:\n%s", p.Result, got, tc.result, tc.want, p.Text(plan.TextOptions{}))
			}
			if lc := lifecycleOf(t, p, "version"); tc.observed != "" && (lc.End != "Refused" || len(lc.WaitingFor) == 0 || !strings.Contains(lc.WaitingFor[0].Observed, tc.observed)) {
				t.Errorf("%s does not say why:\n%s", lc.End, p.Text(plan.TextOptions{}))
			}
		})
	}
}

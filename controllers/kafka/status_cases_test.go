package kafka

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/cases"
)

// statusGiven is the status before a reconcile, and how the reconcile ends.
type statusGiven struct {
	Old *struct {
		Condition                     string `json:"condition"`
		Generation                    int64  `json:"generation"`
		ClusterID                     string `json:"clusterId"`
		KafkaVersion                  string `json:"kafkaVersion"`
		OperatorLastSuccessfulVersion string `json:"operatorLastSuccessfulVersion"`
		KafkaMetadataVersion          string `json:"kafkaMetadataVersion"`
	} `json:"old"`
	Generation int64 `json:"generation"`
	Run        struct {
		Result       string `json:"result"`
		KafkaVersion string `json:"kafkaVersion"`
		Listeners    int    `json:"listeners"`
	} `json:"run"`
}

// statusOutcome is a status. Fields that a case does not have are not compared.
type statusOutcome struct {
	Condition                     string  `json:"condition"`
	Reason                        string  `json:"reason"`
	Message                       *string `json:"message"`
	Generation                    int64   `json:"generation"`
	ClusterID                     string  `json:"clusterId"`
	OperatorLastSuccessfulVersion string  `json:"operatorLastSuccessfulVersion"`
	KafkaVersion                  string  `json:"kafkaVersion"`
	KafkaMetadataVersion          string  `json:"kafkaMetadataVersion"`
	// Updates is the number of writes of the status; 3 stands for more than two.
	Updates   int            `json:"status_updates"`
	AtRest    *int           `json:"status_updates_during_run"`
	First     *statusOutcome `json:"first"`
	Listeners *int           `json:"listeners"`
}

func TestProjectCasesOfTheStatus(t *testing.T) {
	const transitions = "each transition of a lifecycle is a write of its own, so that a crash loses none"
	differences := map[string]cases.Difference[statusOutcome]{
		"failure with an exception that has no message": {
			Want: statusOutcome{Condition: "NotReady", Reason: "AwaitingReady", Message: new("some")}, Page: "0021",
			Why: "the reason is the state that waits, and the message says for what: neither is the class of an error",
		},
		"first sight of a resource": {
			Want: statusOutcome{Updates: 3, First: &statusOutcome{Condition: "NotReady", Reason: "Deciding"}}, Page: "0005", Why: transitions,
		},
		"resource with a status gets no initial status": {Want: statusOutcome{Updates: 3}, Page: "0005", Why: transitions},
	}
	cases.RunStrimzi(t, "status.yaml", "status-outer", differences, func(t *testing.T, g statusGiven, want statusOutcome) statusOutcome {
		w := newWorld(declared(t, func(k *kafkav1beta2.Kafka) { g.apply(k) }, declaredPool("dual", 1, roleController, roleBroker)))
		if g.Run.Result != "" && g.Run.Result != "ok" {
			w.rig.fail = func(write string) bool { return !strings.HasPrefix(write, "update-status Kafka ") }
			w.kafka.features = kafkaclient.Features{} // nothing is finalized yet
		}
		w.step()
		first := w.statusOutcome(&statusOutcome{Condition: "any", Reason: "any"})
		if g.Run.Result == "ok" || want.Updates > 0 {
			w.rest(40)
		} else {
			w.run(20)
		}
		out := w.statusOutcome(&want)
		if want.First != nil {
			out.First = &first
		}
		if want.Updates > 0 {
			out.Updates = min(3, w.statusWrites())
		}
		if want.AtRest != nil {
			w.writes = nil
			w.run(10)
			out.AtRest = new(w.statusWrites())
		}
		return out
	})
}

// apply declares the resource and its status before the reconcile.
func (g *statusGiven) apply(k *kafkav1beta2.Kafka) {
	k.Generation, k.Spec.Kafka.Version = max(g.Generation, 1), g.Run.KafkaVersion
	for i := range g.Run.Listeners {
		k.Spec.Kafka.Listeners = append(k.Spec.Kafka.Listeners, kafkav1beta2.Listener{Name: string(rune('a' + i)), Port: int32(9092 + i), Type: kafkav1beta2.ListenerInternal})
	}
	if g.Old == nil {
		return
	}
	s := &k.Status
	s.ObservedGeneration, s.ClusterID, s.KafkaVersion = g.Old.Generation, g.Old.ClusterID, g.Old.KafkaVersion
	s.OperatorLastSuccessfulVersion, s.KafkaMetadataVersion = g.Old.OperatorLastSuccessfulVersion, g.Old.KafkaMetadataVersion
	ready := metav1.ConditionFalse
	if g.Old.Condition == "Ready" {
		ready = metav1.ConditionTrue
	}
	s.Conditions = []metav1.Condition{{Type: lifecycle.Ready, Status: ready, Reason: "Before", LastTransitionTime: metav1.NewTime(noon)}}
}

func (w *world) statusWrites() int {
	n := 0
	for _, write := range w.writes {
		if strings.HasPrefix(write, "update-status Kafka ") {
			n++
		}
	}
	return n
}

// statusOutcome returns the fields that a case has.
func (w *world) statusOutcome(want *statusOutcome) statusOutcome {
	w.t.Helper()
	var out statusOutcome
	s := &w.cluster().Status
	ready := meta.FindStatusCondition(s.Conditions, lifecycle.Ready)
	if ready == nil {
		return out
	}
	if want.Condition != "" {
		out.Condition = map[bool]string{true: "Ready", false: "NotReady"}[ready.Status == metav1.ConditionTrue]
	}
	if want.Reason != "" {
		out.Reason = ready.Reason
		if want.Condition != "any" && ready.Message != "" {
			out.Message = new("some")
		}
	}
	if want.Generation > 0 {
		out.Generation = s.ObservedGeneration
	}
	only := func(expected, got string) string {
		if expected == "" {
			return ""
		}
		return got
	}
	out.ClusterID, out.KafkaVersion = only(want.ClusterID, s.ClusterID), only(want.KafkaVersion, s.KafkaVersion)
	out.OperatorLastSuccessfulVersion = only(want.OperatorLastSuccessfulVersion, s.OperatorLastSuccessfulVersion)
	out.KafkaMetadataVersion = only(want.KafkaMetadataVersion, s.KafkaMetadataVersion)
	return out
}

// innerGiven is a cluster that is created, with one dual-role node unless a case says otherwise.
type innerGiven struct {
	Replicas        int32                    `json:"replicas"`
	Roles           []kafkav1beta2.NodeRole  `json:"roles"`
	Storage         kafkav1beta2.StorageType `json:"storage"`
	OldKafkaVersion string                   `json:"old_kafkaVersion"`
	SpecVersion     string                   `json:"spec_version"`
	Config          *map[string]any          `json:"config"`
	Listener        string                   `json:"listener"`
	Advertised      map[string]string        `json:"advertised"`
	Preferred       string                   `json:"preferred"`
	PodsOn          []*string                `json:"pods_on"`
}

// addresses of a listener; a case may give their number, which is 0.
type addresses []string

func (a *addresses) UnmarshalJSON(text []byte) error {
	if string(text) == "0" {
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

type innerOutcome struct {
	ClusterID    string        `json:"clusterId"`
	KafkaVersion string        `json:"kafkaVersion"`
	Warnings     []string      `json:"warnings"`
	Addresses    addresses     `json:"addresses"`
	Reconcile    string        `json:"reconcile"`
	Error        cases.Failure `json:"error"`
}

func TestProjectCasesOfANewCluster(t *testing.T) {
	const listeners = "0231"
	unserved := cases.Difference[innerOutcome]{Why: "a listener of this type is not served, and a warning says so", Page: listeners}
	differences := map[string]cases.Difference[innerOutcome]{
		"one dual-role node on ephemeral storage": {
			Want: innerOutcome{ClusterID: "set", KafkaVersion: "4.3.1", Warnings: []string{"KafkaStorage"}}, Page: "0230",
			Why: "one condition per reason lists both roles",
		},
		"version moves to the reconciled one": {
			Want: innerOutcome{KafkaVersion: "4.2.0"}, Page: "0112",
			Why: "a cluster without a version in its spec keeps the one that it had",
		},
		"advertised host overrides win":               unserved,
		"preferred address type":                      unserved,
		"pod without a node name fails the reconcile": unserved,
	}
	cases.RunStrimzi(t, "status.yaml", "status-inner", differences, func(t *testing.T, g innerGiven, want innerOutcome) innerOutcome {
		w := newWorld(g.cluster(t))
		w.kafka.features = kafkaclient.Features{Finalized: map[string]int16{"metadata.version": 27}}
		w.rest(60)
		return w.innerOutcome(&want)
	})
}

func (g *innerGiven) cluster(t *testing.T) *rig {
	t.Helper()
	pool := declaredPool("dual", max(g.Replicas, 1), roleController, roleBroker)
	if g.Roles != nil {
		pool.Spec.Roles = g.Roles
	}
	if g.Storage != "" {
		pool.Spec.Storage = kafkav1beta2.Storage{Type: g.Storage}
	}
	return declared(t, func(k *kafkav1beta2.Kafka) {
		k.Spec.Kafka.Version, k.Status.KafkaVersion = g.SpecVersion, g.OldKafkaVersion
		if g.Config != nil && len(*g.Config) == 0 {
			k.Spec.Kafka.Config = nil
		}
		if g.Listener != "" {
			k.Spec.Kafka.Listeners = []kafkav1beta2.Listener{{Name: "external", Port: 9094, Type: kafkav1beta2.ListenerType(g.Listener)}}
		}
	}, pool)
}

// innerOutcome returns the fields that a case has.
func (w *world) innerOutcome(want *innerOutcome) innerOutcome {
	w.t.Helper()
	var out innerOutcome
	s := &w.cluster().Status
	if want.ClusterID != "" && s.ClusterID != "" {
		out.ClusterID = "set"
	}
	if want.KafkaVersion != "" {
		out.KafkaVersion = s.KafkaVersion
	}
	for _, l := range s.Listeners {
		for _, a := range l.Addresses {
			out.Addresses = append(out.Addresses, a.Host)
		}
	}
	if want.Warnings != nil {
		out.Warnings = w.warnings()
	}
	if want.Reconcile != "" && len(w.errs) == 0 {
		out.Reconcile = "ok"
	}
	slices.Sort(out.Addresses)
	return out
}

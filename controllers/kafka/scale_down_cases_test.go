package kafka

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/cases"
)

// guardGiven is a cluster whose pools change. Fix is whether the other operator reverts a change that it refuses or fails; there is no
// such choice here.
type guardGiven struct {
	Fix   bool    `json:"fix"`
	Skip  bool    `json:"skip"`
	Used  []int32 `json:"used"`
	Pools map[string]struct {
		Replicas int32                   `json:"replicas"`
		IDs      []int32                 `json:"ids"`
		Roles    []kafkav1beta2.NodeRole `json:"roles"`
		Was      []kafkav1beta2.NodeRole `json:"was"`
	} `json:"pools"`
}

// asked is whether Kafka was asked for the replicas of a broker; a case gives a number.
type asked bool

func (a *asked) UnmarshalJSON(text []byte) error {
	var n int
	err := json.Unmarshal(text, &n)
	*a = n > 0
	return err
}

// guardOutcome is what is left when everything was done that can be. Fields that a case does not have are not compared.
type guardOutcome struct {
	Nodes       []int32 `json:"nodes"`
	Removed     []int32 `json:"removed"`
	Brokers     []int32 `json:"brokers"`
	Controllers []int32 `json:"controllers"`
	Demoted     []int32 `json:"used_to_be_brokers"`
	// Warnings is the number of pools with a warning.
	Warnings *int          `json:"warnings"`
	Checks   *asked        `json:"checks"`
	Error    cases.Failure `json:"error"`
}

const guardPage = "0407"

func guardDifferences() map[string]cases.Difference[guardOutcome] {
	yes, no := asked(true), asked(false)
	held := "the rest of the spec is applied while brokers with replicas stay, and a warning names them"
	return map[string]cases.Difference[guardOutcome]{
		"scale down reverted for broker pools but not for controllers": {
			Want: guardOutcome{
				Nodes:   []int32{1000, 1001, 1002, 1003, 2000, 2001, 2002, 2004, 3000, 3001, 3002, 3003, 3004},
				Removed: []int32{1004, 2003}, Warnings: new(3), Checks: &yes,
			},
			Why: "a broker with replicas does not hold up an empty one, and controllers of a static quorum are not removed", Page: guardPage,
		},
		"scale down allowed because the brokers are empty": {
			Want: guardOutcome{
				Nodes:   []int32{1000, 1001, 1002, 2000, 2001, 2002, 3000, 3001, 3002, 3003, 3004},
				Removed: []int32{1003, 1004, 2003, 2004}, Warnings: new(1), Checks: &yes,
			},
			Why: "controllers of a static quorum are not removed, and a warning says so", Page: guardPage,
		},
		"scale down with fixing off is an error":          {Want: guardOutcome{Checks: &yes}, Why: held, Page: guardPage},
		"broker role removal with fixing off is an error": {Want: guardOutcome{Checks: &yes}, Why: held, Page: guardPage},
		"role check skipped by annotation": {
			Want: guardOutcome{Demoted: []int32{3000, 3001, 3002}, Warnings: new(0), Checks: &yes}, Why: "replicas are read, and not judged", Page: guardPage,
		},
		"broker pool turned into controllers reverted": {
			Want: guardOutcome{
				Brokers:     []int32{1000, 1001, 1002, 2000, 2001, 2002, 3000, 3001, 3002},
				Controllers: []int32{3000, 3001, 3002}, Warnings: new(1), Checks: &no,
			},
			Why: "a static quorum gets no new controllers, with or without replicas on the brokers: nothing has to be asked", Page: guardPage,
		},
	}
}

func TestScaleDownCases(t *testing.T) {
	cases.RunStrimzi(t, "scale-down.yaml", "scale-down-guard", guardDifferences(), func(t *testing.T, g guardGiven, want guardOutcome) guardOutcome {
		var pools []*kafkav1beta2.KafkaNodePool
		var before, wereBrokers []int32
		for name, p := range g.Pools {
			if p.IDs == nil {
				pools = append(pools, declaredPool(name, p.Replicas, p.Roles...))
				continue
			}
			pools = append(pools, onIDs(declaredPool(name, 0, p.Was...), p.IDs))
			before = append(before, p.IDs...)
			if slices.Contains(p.Was, roleBroker) {
				wereBrokers = append(wereBrokers, p.IDs...)
			}
		}
		w := started(t, nil, pools...)
		for _, id := range g.Used {
			w.kafka.partitions.Replicas[id] = 3
		}
		if g.Skip {
			w.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", facts.AnnotationSkipCheck, "true")
		}
		w.kafka.asked = nil
		for name, p := range g.Pools {
			if p.IDs != nil {
				w.edit(name, func(pool *kafkav1beta2.KafkaNodePool) { pool.Spec.Replicas, pool.Spec.Roles = p.Replicas, p.Roles })
			}
		}
		w.run(60)
		return w.guardOutcome(before, wereBrokers, want)
	})
}

// guardOutcome returns the fields that a case has.
func (w *world) guardOutcome(before, wereBrokers []int32, want guardOutcome) guardOutcome {
	w.t.Helper()
	var out guardOutcome
	nodes, brokers := w.nodes("", ""), w.nodes(labels.BrokerRole, "true")
	without := func(ids, gone []int32) []int32 {
		left := slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return slices.Contains(gone, id) })
		slices.Sort(left)
		return left
	}
	if want.Nodes != nil {
		out.Nodes, out.Removed = nodes, without(before, nodes)
	}
	if want.Brokers != nil {
		out.Brokers, out.Controllers = brokers, w.nodes(labels.ControllerRole, "true")
	}
	if want.Nodes == nil && !bool(want.Error) {
		out.Demoted = without(wereBrokers, brokers)
	}
	if want.Warnings != nil {
		out.Warnings = new(w.poolsWithWarnings())
	}
	if want.Checks != nil {
		checks := asked(w.asked("log directories") > 0)
		out.Checks = &checks
	}
	return out
}

func (w *world) poolsWithWarnings() int {
	w.t.Helper()
	var list kafkav1beta2.KafkaNodePoolList
	w.must(w.client.List(w.t.Context(), &list))
	n := 0
	for i := range list.Items {
		for _, c := range list.Items[i].Status.Conditions {
			if c.Type == lifecycle.Warning {
				n++
				break
			}
		}
	}
	return n
}

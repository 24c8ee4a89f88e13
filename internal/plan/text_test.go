package plan

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/golden"
)

// upgrade of three nodes, with all that a text may have to show.
func upgrade() *Plan {
	at := func(s int) Offset { return Offset(time.Duration(s) * time.Second) }
	l := Lifecycle{
		Name: "version", Machine: "kafka-version-change", Start: "Settled", End: "Settled", Result: Rests,
		Attempt: &Attempt{ID: "5f2c91", From: "4.0.0", FromKnown: true, To: "4.1.1"},
		Path: []Step{
			{Event: "version-changed", From: "Settled", To: "Checking"},
			{Event: "path-clear", From: "Checking", To: "SelectingNode", At: at(1)},
		},
	}
	o := Object{Kind: "Kafka", Namespace: "default", Name: "my-cluster", Effects: []Effect{
		{System: Kubernetes, Verb: VerbCreate, Target: "ConfigMap/my-cluster-nodes-0-record", At: at(0)},
		{System: Kubernetes, Verb: VerbCreate, Target: "ConfigMap/my-cluster-nodes-1-record", At: at(0)},
		{System: Kubernetes, Verb: VerbCreate, Target: "ConfigMap/my-cluster-nodes-2-record", At: at(0)},
		{System: Kubernetes, Verb: VerbCreate, Target: "Service/my-cluster-kafka-bootstrap", At: at(0)},
	}}
	for node := range 3 {
		begin := 2 + 20*node
		l.Path = append(l.Path,
			Step{Event: "node-selected", From: "SelectingNode", To: "RestartingNode", At: at(begin)},
			Step{Event: "restarted", From: "RestartingNode", To: "AwaitingReady", At: at(begin + 4)},
			Step{Event: "ready", From: "AwaitingReady", To: "AwaitingInSync", At: at(begin + 12)},
			Step{Event: "in-sync", From: "AwaitingInSync", To: "SelectingNode", At: at(begin + 19)},
		)
		o.Effects = append(o.Effects, Effect{System: Kubernetes, Verb: VerbRestartPod, Target: fmt.Sprintf("my-cluster-nodes-%d", node), At: at(begin)})
	}
	l.Path = append(l.Path,
		Step{Event: "all-restarted", From: "SelectingNode", To: "Verifying", At: at(63)},
		Step{Event: "finalize", From: "Verifying", To: "SettingMetadata", OneWay: true, At: at(64)},
		Step{Event: "level-reached", From: "SettingMetadata", To: "Settled", At: at(3725)},
	)
	o.Effects = append(o.Effects, Effect{System: "kafka", Verb: "update-features", words: "ask Kafka for metadata.version 4.1-IV1", Target: "metadata.version=4.1-IV1", At: at(64)})
	o.Lifecycles = []Lifecycle{{Name: "roll", Machine: "node-roll", Start: "Settled", End: "Settled", Result: Rests}, l}
	o.Assumptions = []string{"metadata.version of Kafka my-cluster is 4.0-IV3: the highest that 4.0.0 runs", "no topic has a partition that is not in sync"}
	o.Conditions = []metav1.Condition{
		{Type: "Ready", Status: "True", Reason: "PodsReady"}, {Type: "Stalled", Status: "False", Reason: "WithinDeadline"},
		{Type: "Warning", Status: "True", Reason: "UnusedField", Message: "spec.kafka.rack is not used: every node counts as in the same rack, whatever the labels of its Kubernetes node say"},
	}
	return &Plan{Objects: []Object{o}}
}

func refusedPlan() *Plan {
	return &Plan{Objects: []Object{{
		Kind: "Kafka", Namespace: "a-namespace-with-a-long-name", Name: "a-cluster-with-a-very-long-name-indeed",
		Lifecycles: []Lifecycle{{
			Name: "version", Start: "Checking", End: "Refused", Result: Holds,
			Attempt: &Attempt{From: "5.0.0", To: "4.0.0"},
			Path:    []Step{{Event: "path-forbidden", From: "Checking", To: "Refused"}},
			WaitingFor: []lifecyclev1.WaitingFor{{
				Guard: "path-allowed", Expected: "a supported version that can read every finalized feature level",
				Observed: "metadata.version is at 4.1-IV1 (level 27), and 4.0.0 runs 3.3-IV3 (level 7) to 4.0-IV3 (level 25)",
			}},
		}},
		Conditions: []metav1.Condition{{Type: "Stalled", Status: "True", Reason: "Refused", Message: "version: refused"}},
	}}}
}

func TestPlanText(t *testing.T) {
	cases := map[string]struct {
		plan    *Plan
		options TextOptions
	}{
		"upgrade":       {upgrade(), TextOptions{}},
		"upgrade.ascii": {upgrade(), TextOptions{ASCII: true}},
		"refused":       {refusedPlan(), TextOptions{Width: 70}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.plan.settle()
			got := tc.plan.Text(tc.options)
			golden.Compare(t, filepath.Join("testdata", "text", name+".txt"), got)
			width := max(tc.options.Width, leastText)
			if tc.options.Width == 0 {
				width = textWidth
			}
			for line := range strings.SplitSeq(got, "\n") {
				if columns(line) > width {
					t.Errorf("%d columns: %s", columns(line), line)
				}
				if tc.options.ASCII && len(line) != columns(line) {
					t.Errorf("not ASCII: %s", line)
				}
			}
		})
	}
}

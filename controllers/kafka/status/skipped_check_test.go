package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestSkippedCheck(t *testing.T) {
	stays := observation.Node{ID: 1, PodName: "c-b-1", Wanted: true}
	leaves := observation.Node{ID: 2, PodName: "c-b-2", Recorded: true, Record: record.Record{Leaving: true, Roles: []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}}}
	const (
		skipped = "strimzi.io/skip-broker-scaledown-check=true is set: c-b-2 leave with the replicas that they hold, and partitions without another replica are lost. " +
			"Remove the annotation to keep each broker until it holds no replica"
		outranked = "strimzi.io/skip-broker-scaledown-check=true has no effect while detent.dev/drain=true requests a drain: brokers that leave are removed once they hold no replica. " +
			"Remove one of the annotations"
	)
	for name, tc := range map[string]struct {
		skip, drain string
		node        observation.Node
		want        string
	}{
		"a broker leaves with a check":                           {node: leaves},
		"a broker leaves without a check":                        {node: leaves, skip: "true", want: skipped},
		"the annotation has another value":                       {node: leaves, skip: "false"},
		"no broker leaves":                                       {node: stays, skip: "true"},
		"a broker leaves, and a drain is requested":              {node: leaves, drain: "true"},
		"a broker leaves, and a drain is requested as well":      {node: leaves, skip: "true", drain: "true", want: outranked},
		"no broker leaves yet, and a drain is requested as well": {node: stays, skip: "true", drain: "true", want: outranked},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Annotations = map[string]string{facts.AnnotationSkipCheck: tc.skip, observation.AnnotationDrain: tc.drain}
			v := &observation.Snapshot{Nodes: []observation.Node{tc.node}}
			if diff := cmp.Diff(tc.want, message(skippedCheck(k, v))); diff != "" {
				t.Errorf("warning (-want +got):\n%s", diff)
			}
		})
	}
}

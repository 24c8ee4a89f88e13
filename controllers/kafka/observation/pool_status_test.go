package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestOfPoolStatus(t *testing.T) {
	type status struct {
		IDs       []int32
		ClusterID string
	}
	own := status{IDs: []int32{0, 1}, ClusterID: "mine"}
	for name, tc := range map[string]struct {
		selector string
		want     status
	}{
		"of this cluster":              {selector: "strimzi.io/cluster=c,strimzi.io/kind=Kafka", want: own},
		"of this cluster, by Strimzi":  {selector: "strimzi.io/cluster=c,strimzi.io/name=c-kafka,strimzi.io/kind=Kafka,strimzi.io/pool-name=p", want: own},
		"of another cluster":           {selector: "strimzi.io/cluster=other,strimzi.io/kind=Kafka"},
		"of a cluster that begins so":  {selector: "strimzi.io/cluster=c2,strimzi.io/kind=Kafka"},
		"without a selector":           {want: own},
		"a selector without a cluster": {selector: "app=kafka", want: own},
	} {
		t.Run(name, func(t *testing.T) {
			k, pool := &kafkav1beta2.Kafka{}, &kafkav1beta2.KafkaNodePool{}
			k.Name = "c"
			pool.Status.NodeIDs, pool.Status.ClusterID, pool.Status.LabelSelector = own.IDs, own.ClusterID, tc.selector
			var got status
			got.IDs, got.ClusterID = OfPoolStatus(k, pool)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

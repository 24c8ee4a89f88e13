package status

import (
	"testing"

	apilabels "k8s.io/apimachinery/pkg/labels"

	"github.com/detent-dev/detent/controllers/labels"
)

func TestPoolSelector(t *testing.T) {
	want := apilabels.Set{labels.Cluster: "c", labels.Kind: labels.KindKafka, labels.Name: labels.KafkaName("c"), labels.Pool: "p"}.String()
	if got := poolSelector("c", "p"); got != want {
		t.Errorf("poolSelector = %q, want %q", got, want)
	}
}

package operator

import (
	"testing"

	apilabels "k8s.io/apimachinery/pkg/labels"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func words(s apilabels.Selector) string {
	if s == nil {
		return "everything"
	}
	return s.String()
}

func TestCacheOptionsSelectKafkasAndNotTheirParts(t *testing.T) {
	for name, selector := range map[string]apilabels.Selector{"none": nil, "a team's": apilabels.SelectorFromSet(apilabels.Set{"team": "a"})} {
		t.Run(name, func(t *testing.T) {
			o := CacheOptions([]string{"prod"}, selector)
			kafkas := 0
			for kind, by := range o.ByObject {
				switch kind.(type) {
				case *kafkav1beta2.Kafka:
					kafkas++
					if words(by.Label) != words(selector) {
						t.Errorf("Kafkas are selected by %v, want %v", by.Label, selector)
					}
				case *kafkav1beta2.KafkaNodePool:
					t.Error("pools are selected: a cluster would lack some of its nodes")
				default:
					if by.Label.Matches(apilabels.Set{"team": "a"}) || !by.Label.Matches(apilabels.Set{"strimzi.io/cluster": "orders"}) {
						t.Errorf("%T is selected by %v, want whatever carries the label of a cluster", kind, by.Label)
					}
				}
			}
			if kafkas != 1 || !o.ReaderFailOnMissingInformer {
				t.Errorf("%d entries for Kafka, fails on what is not watched: %v", kafkas, o.ReaderFailOnMissingInformer)
			}
			if _, only := o.DefaultNamespaces["prod"]; !only || len(o.DefaultNamespaces) != 1 {
				t.Errorf("namespaces %v, want prod alone", o.DefaultNamespaces)
			}
		})
	}
}

package operator

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Two managers of one process that serve no metrics run next to each other.
func TestRegistryOfSeveralManagers(t *testing.T) {
	for range 2 {
		if _, err := lifecycle.NewMetrics(registry(Options{MetricsAddress: "0"})); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRegistry(t *testing.T) {
	own := prometheus.NewRegistry()
	if got := registry(Options{Registry: own, MetricsAddress: "0"}); got != prometheus.Registerer(own) {
		t.Error("the given registry is not used")
	}
	if got := registry(Options{MetricsAddress: ":8080"}); got != prometheus.Registerer(metrics.Registry) {
		t.Error("the registry that is served is not used")
	}
}

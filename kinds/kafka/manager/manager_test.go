package manager

import (
	"testing"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// TestSelectedReadsNoKindThatDoesNotRun checks that a pod set of a kind without a cache is left to another manager.
func TestSelectedReadsNoKindThatDoesNotRun(t *testing.T) {
	set := &corev1beta2.StrimziPodSet{}
	set.Labels = map[string]string{labels.Cluster: "my-mm2", labels.Kind: labels.KindMirrorMaker2}
	if got, err := selected(t.Context(), nil, set, []string{labels.KindKafka}); got || err != nil {
		t.Errorf("selected: %v, %v", got, err)
	}
}

//test:norace
package kafkaversion_test

import (
	"slices"
	"testing"

	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll/rolltest"
)

// TestDefinitionTransitions is the specification of the version change: every state, in the order in which users meet them.
func TestDefinitionTransitions(t *testing.T) {
	k := newScenes(t)
	machinetest.Run(t, compiled(t), slices.Concat(
		k.inferred(), k.settled(), k.checking(), k.refused(), k.awaitingSnapshot(), k.firstStart(),
		k.permissions(), rolltest.Rows(k.rolling()),
		k.verifying(), k.awaitingWhatRaises(), k.settingMetadata(), k.metadataRefused(),
	))
}

package kafkaversion_test

import (
	"testing"

	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest"
)

func TestDefinitionVerifies(t *testing.T) {
	domains, err := kafkaversion.Domains()
	if err != nil {
		t.Fatal(err)
	}
	machinetest.Verify(t, compiled(t), domains...)
}

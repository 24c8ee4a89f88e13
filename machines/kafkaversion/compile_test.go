package kafkaversion_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest"
)

func TestDefinitionCompiles(t *testing.T) {
	// Both are accepted: the cheap edge waits until the other guard is answered.
	machinetest.Compiled(t, kafkaversion.Definition(),
		"state AwaitingReady: a costly transition before a cheap one: down-first costs a call and blocks declaration-broken, which costs none: put the cheap edge first or mark it EvenIfUnknown",
	)
}

// BenchmarkCompile is what a manager does once at its start.
func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := machines.Compile(kafkaversion.Definition()); err != nil {
			b.Fatal(err)
		}
	}
}

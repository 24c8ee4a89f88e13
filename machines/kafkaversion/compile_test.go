package kafkaversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
)

func TestDefinitionCompiles(t *testing.T) {
	machine, err := machines.Compile(kafkaversion.Definition())
	if err != nil {
		t.Fatal(err)
	}
	// Both are accepted: the cheap edge waits until the other guard is answered.
	want := []string{
		"state AwaitingSnapshot: node-stuck costs a call and blocks snapshots-taken, which costs none: put the cheap edge first or mark it EvenIfUnknown",
		"state AwaitingReady: down-first costs a call and blocks declaration-broken, which costs none: put the cheap edge first or mark it EvenIfUnknown",
	}
	if diff := cmp.Diff(want, machine.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
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

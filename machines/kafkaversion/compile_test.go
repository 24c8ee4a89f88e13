package kafkaversion_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
)

func TestDefinitionCompiles(t *testing.T) {
	machine, err := machines.Compile(kafkaversion.Definition())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range machine.Warnings() {
		t.Log(w)
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

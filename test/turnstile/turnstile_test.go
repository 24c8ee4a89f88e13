package turnstile_test

import (
	"testing"

	"github.com/detent-dev/detent/test/turnstile"
)

func TestBothMachinesCompile(t *testing.T) {
	if _, err := turnstile.Lifecycles(); err != nil {
		t.Fatal(err)
	}
}

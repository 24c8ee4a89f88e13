package campaign_test

import (
	"testing"

	"go.uber.org/goleak"
)

// After all crashes and failovers no goroutine of an operator is left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

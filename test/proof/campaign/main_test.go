package campaign_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Whatever was killed, crashed and succeeded: in the end nothing of it runs any more.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

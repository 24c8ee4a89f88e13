package observation

import (
	"testing"
	"time"
)

func TestAutoRestartPause(t *testing.T) {
	for count, want := range map[int32]time.Duration{
		0: 0, 1: 2 * time.Minute, 2: 6 * time.Minute, 3: 12 * time.Minute, 7: 56 * time.Minute, 8: time.Hour, 1 << 30: time.Hour,
	} {
		if got := (AutoRestart{Count: count}).Pause(); got != want {
			t.Errorf("after %d restarts it waits %s, want %s", count, got, want)
		}
	}
}

package connector

import (
	"time"

	"github.com/detent-dev/detent/machines/connectoroffsets"
)

const (
	// pause is how long the lifecycle waits before it repeats a request that failed.
	pause = 10 * time.Second
	// settle is how long a request whose outcome is uncertain may still be executed.
	settle = 100 * time.Second
	// stopAgain is after how long a stop that Connect has confirmed is requested again. Each request starts a rebalance.
	stopAgain = 10 * time.Minute
)

// mayRepeat says whether the last command may be sent again.
func mayRepeat(f *Facts, d Data, due Command) (bool, string) {
	wait := pause
	switch {
	case !f.sends(due, d):
		return true, "" // the last one had its effect, or is not needed any more
	case d.Outcome == connectoroffsets.Uncertain:
		wait = settle
	case d.Outcome == connectoroffsets.Confirmed && due == Stop:
		wait = stopAgain
	case d.Outcome == connectoroffsets.Confirmed:
		wait = settle
	}
	return !f.Now.Before(f.Since.Add(wait)), saw(due, f.Failure)
}

// sends reports whether the command that is due is that of the data. A restart that another annotation or value requests is another command.
func (f *Facts) sends(due Command, d Data) bool {
	return due == d.Command && (due != RestartIt && due != RestartTask || f.requests(d))
}

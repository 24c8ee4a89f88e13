//go:build unix && !linux

package child

import "os/exec"

// startTied starts cmd and a watcher that kills it when this process ends.
func startTied(cmd *exec.Cmd) (untie func(), err error) {
	return startWatched(cmd)
}

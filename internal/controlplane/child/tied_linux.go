package child

import (
	"os/exec"
	"syscall"
)

// startTied starts cmd so that the kernel kills it when the calling thread
// ends. The caller has locked that thread and keeps it until the child is
// reaped. A parent that dies between fork and exec is covered too: the child
// compares its parent's id after setting the signal (package syscall).
func startTied(cmd *exec.Cmd) (untie func(), err error) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return func() {}, cmd.Start()
}

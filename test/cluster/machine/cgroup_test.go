package machine

import (
	"os/exec"
	"testing"
)

func TestKillCalledKillsOnlyMatchingProcesses(t *testing.T) {
	start := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "sleep 60; true", "sh"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	dir := t.TempDir()
	ours, other := start("become", dir, "etcd"), start("become", dir+"-other", "etcd")
	if err := KillCalled(t.Context(), "become", dir); err != nil {
		t.Fatal(err)
	}
	if !zombie(ours.Process.Pid) {
		t.Error("it runs on")
	}
	if zombie(other.Process.Pid) {
		t.Error("another one was ended too")
	}
}

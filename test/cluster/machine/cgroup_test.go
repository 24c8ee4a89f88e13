package machine

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// leaderless makes this test binary a process whose first thread ends while another one waits for the end of standard input.
const leaderless = "DETENT_LEADERLESS"

// Only here is it certain that the first thread runs.
func init() { //nolint:gochecknoinits // see above
	if os.Getenv(leaderless) != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(leaderless) == "" {
		os.Exit(m.Run())
	}
	go func() {
		fmt.Println("waits")
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}()
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

func TestZombieHasNoThreadLeft(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), leaderless+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	await(t, "the first thread has exited", func() bool {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		return err == nil && strings.Contains(string(data), ") Z ")
	})
	if zombie(cmd.Process.Pid) {
		t.Error("a process with a thread left counts as exited")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, "the process has exited", func() bool { return zombie(cmd.Process.Pid) })
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	err := Await(t.Context(), what, func() (bool, error) { return is(), nil })
	if err != nil {
		t.Fatal(err)
	}
}

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

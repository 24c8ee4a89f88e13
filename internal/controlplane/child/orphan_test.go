package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentEnv makes the test binary play the parent that is going to be killed.
const parentEnv = "DETENT_CHILD_TEST_PARENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(parentEnv); how != "" {
		playParent(how)
		return
	}
	os.Exit(m.Run())
}

// playParent starts a child, prints its process id and waits to be killed.
func playParent(how string) {
	pid, err := startOrphanToBe(how)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(pid)
	select {}
}

func startOrphanToBe(how string) (int, error) {
	if how == "watched" {
		cmd := exec.CommandContext(context.Background(), "/bin/sleep", "600")
		_, err := startWatched(cmd)
		return cmd.Process.Pid, err
	}
	p, err := Start(Spec{Name: "orphan to be", Path: "/bin/sleep", Args: []string{"600"}, Log: os.DevNull})
	if err != nil {
		return 0, err
	}
	return p.PID(), nil
}

func TestStartTiesTheChildToItsParent(t *testing.T) {
	for _, how := range []string{"tied", "watched"} {
		t.Run(how, func(t *testing.T) {
			parent, pid := startParent(t, how)
			if !running(pid) {
				t.Fatalf("child %d does not run before its parent is killed", pid)
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // "signal: killed" is what was asked for

			deadline := time.After(10 * time.Second)
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for running(pid) {
				select {
				case <-tick.C:
				case <-deadline:
					t.Fatalf("child %d still runs 10 s after its parent was killed", pid)
				}
			}
		})
	}
}

func startParent(t *testing.T, how string) (*exec.Cmd, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), parentEnv+"="+how)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("reading what the parent prints: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the parent printed %q, want a process id", line)
	}
	return cmd, pid
}

// running leaves out zombies: an orphan's new parent may be slow to reap.
func running(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

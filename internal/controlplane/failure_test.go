package controlplane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentEnv makes the test binary play a program that runs a control plane in
// the named directory and is going to be killed.
const parentEnv = "DETENT_CONTROLPLANE_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentEnv); dir != "" {
		playParent(dir)
		return
	}
	os.Exit(m.Run())
}

func playParent(dir string) {
	c, err := Start(context.Background(), Options{Dir: dir})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	for name, pid := range c.PIDs() {
		fmt.Println(name, pid)
	}
	fmt.Println("ready")
	select {}
}

func TestStartSweepsAfterAKilledParent(t *testing.T) {
	realPaths(t)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), parentEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	pids := readPIDs(t, bufio.NewScanner(out))

	sweep(dir)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Fatalf("while it runs, its directory must stay; there is %v (%v)", left, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed" is what was asked for

	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for name, pid := range pids {
		for runs(pid) {
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("%s (%d) still runs 10 s after its parent was killed", name, pid)
			}
		}
	}
	sweep(dir)
	assertEmpty(t, dir)
}

func readPIDs(t *testing.T, lines *bufio.Scanner) map[string]int {
	t.Helper()
	pids := map[string]int{}
	for lines.Scan() {
		if lines.Text() == "ready" {
			break
		}
		var name string
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &name, &pid); err != nil {
			t.Fatalf("the parent printed %q, want a name and a process id", lines.Text())
		}
		pids[name] = pid
	}
	if len(pids) != 3 {
		t.Fatalf("the parent runs %v, want three programs (%v)", pids, lines.Err())
	}
	return pids
}

// runs leaves out zombies: an orphan's new parent may be slow to reap.
func runs(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err != nil || !strings.HasPrefix(state, "Z")
}

func TestStartFailureLeavesNothing(t *testing.T) {
	paths := realPaths(t)
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	noManager := paths
	noManager.ControllerManager = "/nonexistent/kube-controller-manager"

	cases := map[string]struct {
		options Options
		want    []string
	}{
		"the port is taken": {
			// The other program accepts connections and never answers.
			Options{Paths: paths, Port: port, StartTimeout: 10 * time.Second},
			[]string{"kube-apiserver ended by itself (exit status 1)", fmt.Sprintf("port %d on 127.0.0.1 is taken by another program", port)},
		},
		"a program refuses its arguments": {
			Options{Paths: paths, APIServerArgs: []string{"--no-such-flag"}},
			[]string{"kube-apiserver ended by itself", "unknown flag: --no-such-flag"},
		},
		"a program is not there": {
			Options{Paths: noManager},
			[]string{"starting kube-controller-manager (/nonexistent/kube-controller-manager)"},
		},
		"it takes too long": {
			Options{Paths: paths, StartTimeout: time.Second},
			[]string{"waiting for kube-apiserver: not ready after 1s", "its last lines:"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.options.Dir = t.TempDir()
			_, err := Start(t.Context(), tc.options)
			if err == nil {
				t.Fatal("Start gave no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Start() = %v\nwant it to hold %q", err, want)
				}
			}
			assertEmpty(t, tc.options.Dir)
		})
	}
}

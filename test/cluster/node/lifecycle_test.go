//go:build realcluster

package node

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/test/cluster/machine"
)

// These tests start and remove a cluster of this machine, and fail if one is already running. They require root and the
// build tag realcluster; make cluster-test runs them.

func TestMain(m *testing.M) {
	if _, err := os.Stat(Dir); err == nil {
		os.Stderr.WriteString("a cluster runs on this machine; make cluster-down removes it\n")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// program builds the command once per test.
func program(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cluster")
	if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-o", file, "..").CombinedOutput(); err != nil {
		t.Fatalf("building the command: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), file, "down").CombinedOutput(); err != nil {
			t.Errorf("removing the cluster: %v\n%s", err, out)
		}
	})
	return file
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

func picture(t *testing.T) []string {
	t.Helper()
	lines, err := machine.Picture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// lastLine returns the last line of the output of up, which is the kubeconfig.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func up(t *testing.T, program string) (kubectl func(args ...string) string) {
	t.Helper()
	kubeconfig := lastLine(command(t, program, "up", "--repository=../../.."))
	paths, err := controlplane.Binaries(t.Context(), controlplane.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) string {
		t.Helper()
		return command(t, paths.Kubectl, append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	}
}

func TestUpAndDownLeaveNothingBehind(t *testing.T) {
	cluster := program(t)
	command(t, cluster, "up", "--repository=../../..") // installs what is missing
	command(t, cluster, "down")
	before := picture(t)
	for range 3 {
		begun := time.Now()
		kubectl := up(t, cluster)
		t.Logf("up in %s", time.Since(begun))
		exercise(t, kubectl)
		running := whatRuns(t, kubectl)
		up(t, cluster)
		if diff := cmp.Diff(running, whatRuns(t, kubectl)); diff != "" {
			t.Errorf("a second up changed what runs (-before +after):\n%s", diff)
		}
		command(t, cluster, "down")
		if diff := cmp.Diff(before, picture(t)); diff != "" {
			t.Fatalf("left behind (-before +after):\n%s", diff)
		}
	}
	command(t, cluster, "down") // nothing there, and no error
}

// whatRuns returns the components with their process ids and the pods with their restarts.
func whatRuns(t *testing.T, kubectl func(args ...string) string) []string {
	t.Helper()
	names, err := Components().Names()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, name := range names {
		pid, running := Components().PID(name)
		lines = append(lines, fmt.Sprintf("%s %d %t", name, pid, running))
	}
	pods := kubectl("get", "pods", "--all-namespaces", "--output=custom-columns=:metadata.uid,:status.containerStatuses[*].containerID", "--no-headers")
	return append(lines, strings.Split(strings.TrimSpace(pods), "\n")...)
}

// exercise uses the functions of a cluster: names, addresses, volumes, logs, exec.
func exercise(t *testing.T, kubectl func(args ...string) string) {
	t.Helper()
	kubectl("apply", "--filename=testdata/exercise.yaml")
	kubectl("rollout", "status", "--timeout=60s", "deployment/server")
	kubectl("wait", "--for=condition=Ready", "--timeout=60s", "pod/writer")
	for line := range strings.SplitSeq(strings.TrimSpace(kubectl("get", "pods", "--all-namespaces", "--no-headers")), "\n") {
		if !strings.Contains(line, "1/1") {
			t.Errorf("pod is not ready: %s", line)
		}
	}
	if log := kubectl("logs", "--namespace=kube-system", "deployment/dns"); !strings.Contains(log, "CoreDNS-") {
		t.Errorf("the log of DNS is %q", log)
	}
	if out := kubectl("exec", "--namespace=kube-system", "deployment/dns", "--", "/dns", "-version"); !strings.Contains(out, "CoreDNS-") {
		t.Errorf("exec printed %q", out)
	}
	volumes, err := filepath.Glob(filepath.Join(VolumesDir(), "*", "answer"))
	if err != nil || len(volumes) != 1 {
		t.Errorf("volumes with an answer %v (%v), want one", volumes, err)
	}
}

func TestRunRemovesClusterAfterCommand(t *testing.T) {
	cluster := program(t)
	command(t, cluster, "prepare", "--repository=../../..")
	before := picture(t)
	for _, tt := range []struct {
		name, script, want string
	}{
		{"well", "test -s $KUBECONFIG", ""},
		{"with an error", "exit 3", "exit status 3"},
		{"because the whole was asked to end", "kill -TERM $PPID; exec sleep 60", "signal: terminated"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), cluster, "run", "--repository=../../..", "--", "sh", "-c", tt.script).CombinedOutput()
			if (err != nil) != (tt.want != "") || !strings.Contains(string(out), tt.want) || !strings.Contains(string(out), "LEFT BEHIND") {
				t.Errorf("it ended with %v, want %q:\n%s", err, tt.want, out)
			}
			if diff := cmp.Diff(before, picture(t)); diff != "" {
				t.Errorf("left behind (-before +after):\n%s", diff)
			}
		})
	}
}

func TestUpRemovesRemainsOfCrash(t *testing.T) {
	cluster := program(t)
	command(t, cluster, "up", "--repository=../../..")
	command(t, cluster, "down")
	before := picture(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		crash(t, cluster, time.Duration(random.Int64N(int64(9*time.Second))))
	}
	t.Run("down after a crash", func(t *testing.T) {
		command(t, cluster, "down")
		if diff := cmp.Diff(before, picture(t)); diff != "" {
			t.Errorf("left behind (-before +after):\n%s", diff)
		}
	})
	t.Run("up after a component was killed", func(t *testing.T) {
		up(t, cluster)
		if err := Components().Stop(t.Context(), Scheduler, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		kubectl := up(t, cluster)
		kubectl("get", "--raw=/readyz")
		names, err := Components().Names()
		if err != nil || !slices.Contains(names, Scheduler) {
			t.Fatalf("components %q (%v)", names, err)
		}
		if _, running := Components().PID(Scheduler); !running {
			t.Error("the scheduler does not run")
		}
		command(t, cluster, "down")
		if diff := cmp.Diff(before, picture(t)); diff != "" {
			t.Errorf("left behind (-before +after):\n%s", diff)
		}
	})
}

// crash starts a cluster and kills the command some time after its start.
func crash(t *testing.T, program string, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "up", "--repository=../../..")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, begun := make(chan string), make(chan struct{})
	go func() {
		text, once := "", sync.OnceFunc(func() { close(begun) })
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			text += lines.Text() + "\n"
			if strings.Contains(lines.Text(), "image dns") { // the last step before the start
				once()
			}
		}
		once()
		said <- text
	}()
	<-begun
	select {
	case <-time.After(after):
	case <-t.Context().Done():
	}
	cancel()
	text := <-said
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() >= 0 {
		t.Errorf("it ended without a kill: %v\n%s", err, text)
	}
	t.Logf("killed %s after the start began", after)
}

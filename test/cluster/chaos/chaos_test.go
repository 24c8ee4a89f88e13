//go:build realcluster

package chaos

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/test/cluster/machine"
	"github.com/detent-dev/detent/test/cluster/node"
)

// The test runs the tools on a cluster of this machine, which is started for it. See package
// node's tests.

func TestBoxInjectsAndReverts(t *testing.T) {
	if _, err := os.Stat(node.Dir); err == nil {
		t.Fatal("a cluster runs on this machine; make cluster-down removes it")
	}
	program := filepath.Join(t.TempDir(), "cluster")
	must(t, "go", "build", "-o", program, "..")
	t.Cleanup(func() { must(t, program, "down") })
	must(t, program, "images", "--repository=../../..", "tools")
	must(t, program, "up", "--repository=../../..")
	kubectl(t, "apply", "--filename=../node/testdata/exercise.yaml")
	kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/writer")
	address := strings.TrimSpace(kubectl(t, "get", "pod", "writer", "--output=jsonpath={.status.podIP}"))
	box := Box{Log: t.Output()}

	t.Run("kill", func(t *testing.T) {
		before := kubectl(t, "get", "pod", "writer", "--output=jsonpath={.status.containerStatuses[0].containerID}")
		succeed(t, box.Kill(t.Context(), "default/writer", ""))
		await(t, "another container runs", func() bool {
			after := kubectl(t, "get", "pod", "writer", "--output=jsonpath={.status.containerStatuses[0].containerID} {.status.containerStatuses[0].ready}")
			return !strings.HasPrefix(after, before) && strings.HasSuffix(after, "true")
		})
	})
	t.Run("kill after a number of writes", func(t *testing.T) {
		kubectl(t, "apply", "--filename=testdata/restless.yaml")
		for _, writes := range []int{1, 7} {
			killAfter(t, box, writes)
		}
	})
	t.Run("pause and resume", func(t *testing.T) {
		succeed(t, box.Pause(t.Context(), "default/writer", "writer"))
		await(t, "it does not answer", func() bool { return !answers(t, address) })
		succeed(t, box.Resume(t.Context(), "default/writer", "writer"))
		await(t, "it answers", func() bool { return answers(t, address) })
	})
	t.Run("cut and mend", func(t *testing.T) {
		succeed(t, box.Cut(t.Context(), "default/writer"))
		await(t, "it is not reached", func() bool { return !answers(t, address) })
		succeed(t, box.Mend(t.Context()))
		await(t, "it is reached", func() bool { return answers(t, address) })
	})
	t.Run("stop and start", func(t *testing.T) {
		succeed(t, box.Stop(t.Context(), node.APIServer))
		if _, err := node.Kubectl(t.Context(), "get", "--raw=/readyz"); err == nil {
			t.Error("an API server that is stopped answers")
		}
		succeed(t, box.Start(t.Context(), node.APIServer))
		await(t, "the API server is ready", func() bool {
			_, err := node.Kubectl(t.Context(), "get", "--raw=/readyz")
			return err == nil
		})
	})
	t.Run("fill and drain", func(t *testing.T) {
		succeed(t, box.Fill(t.Context(), "default/data"))
		dir, err := volumeOf(t.Context(), "default/data")
		succeed(t, err)
		if err := os.WriteFile(filepath.Join(dir, "more"), make([]byte, 64<<10), 0o600); !isFull(err) {
			t.Errorf("writing to a full volume: %v", err)
		}
		succeed(t, box.Drain(t.Context(), "default/data"))
		succeed(t, os.WriteFile(filepath.Join(dir, "more"), make([]byte, 64<<10), 0o600))
	})
	t.Run("undo", func(t *testing.T) {
		succeed(t, box.Stop(t.Context(), node.Scheduler))
		succeed(t, box.Pause(t.Context(), "default/writer", ""))
		succeed(t, box.Cut(t.Context(), "default/writer"))
		succeed(t, box.Fill(t.Context(), "default/data"))
		succeed(t, box.Undo(t.Context()))
		await(t, "it answers", func() bool { return answers(t, address) })
		if _, running := node.Components().PID(node.Scheduler); !running {
			t.Error("the scheduler does not run")
		}
	})
}

// killAfter lets a pod send more writes than are permitted, and checks which were executed.
func killAfter(t *testing.T, box Box, writes int) {
	t.Helper()
	kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/restless")
	prefix := fmt.Sprintf("after-%d", writes)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	killed := box.KillAfter(ctx, "default/restless", "", writes, func() {
		go func() {
			_, err := node.Kubectl(ctx, "exec", "restless", "--", "/tools", "configmaps", "--prefix="+prefix, "--count=100")
			ended <- err
		}()
	})
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "exit code 137") {
		t.Errorf("it ended without a kill: %v", err)
	}
	succeed(t, killed)
	var want []string
	for i := range writes {
		want = append(want, fmt.Sprintf("%s-%d", prefix, i))
	}
	var got []string
	for name := range strings.FieldsSeq(kubectl(t, "get", "configmaps", "--output=custom-columns=:metadata.name", "--no-headers")) {
		if strings.HasPrefix(name, prefix+"-") {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("written before it was killed after %d writes (-want +got):\n%s", writes, diff)
	}
	if left := kubectl(t, "get", "validatingwebhookconfigurations", "--output=name"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// await polls a condition until it is met, for at most two minutes.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	succeed(t, machine.Await(ctx, what, func() (bool, error) { return met(), nil }))
}

func isFull(err error) bool {
	return err != nil && strings.Contains(err.Error(), syscall.ENOSPC.Error())
}

// answers reports whether the server of the test answers.
func answers(t *testing.T, address string) bool {
	t.Helper()
	return exec.CommandContext(t.Context(), "curl", "--silent", "--max-time", "1", "http://"+address+":8000/").Run() == nil
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := node.Kubectl(t.Context(), args...)
	succeed(t, err)
	return string(out)
}

func must(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

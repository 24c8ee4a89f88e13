//go:build realcluster

package component

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMain makes the test binary its own launcher.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == launch {
		err := Set{Dir: os.Args[2]}.Become(os.Args[3])
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A component must be running from the moment at which Start returns. The test requires root.
func TestSetStartReturnsWithRunningComponent(t *testing.T) {
	s := Set{Dir: t.TempDir(), Launcher: []string{os.Args[0]}}
	t.Cleanup(func() { removeCgroups(t) })
	for i := range 100 {
		name := fmt.Sprintf("test-%d", i)
		if err := s.Start(t.Context(), Spec{Name: name, Path: "/bin/sleep", Args: []string{"60"}, Dir: s.Dir}); err != nil {
			t.Fatal(err)
		}
		seen := true
		for range 1000 {
			_, running := s.PID(name)
			seen = seen && running
		}
		if err := s.Stop(t.Context(), name, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if !seen {
			t.Fatalf("start %d: it was started, and seemed not to run", i)
		}
	}
}

// removeCgroups removes the cgroups of the test's components, and their parent if no cluster uses it.
func removeCgroups(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"/sys/fs/cgroup/detent-cluster/test-*", "/sys/fs/cgroup/*/detent-cluster/test-*", "/sys/fs/cgroup/detent-cluster", "/sys/fs/cgroup/*/detent-cluster"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Error(err)
		}
		for _, dir := range found {
			if err := os.Remove(dir); err != nil && !errors.Is(err, syscall.EBUSY) {
				t.Error(err)
			}
		}
	}
}

package child

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func shell(t *testing.T, script string) Spec {
	t.Helper()
	return Spec{
		Name: "sleeper",
		Path: "/bin/sh",
		Args: []string{"-c", script},
		Log:  filepath.Join(t.TempDir(), "sleeper.log"),
	}
}

func start(t *testing.T, spec Spec) *Process {
	t.Helper()
	p, err := Start(spec)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(p.Kill)
	return p
}

func await(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-t.Context().Done():
		t.Fatal("the child did not end before the test did")
	}
}

func TestProcessErrOfAnUnexpectedEnd(t *testing.T) {
	cases := map[string]struct {
		script   string
		wantCode int
		wantHow  string
		wantTail string
	}{
		"it fails": {
			script:   "echo one; echo port 6443 is taken >&2; exit 3",
			wantCode: 3,
			wantHow:  "exit status 3",
			wantTail: "  one\n  port 6443 is taken",
		},
		"it succeeds although it should have stayed": {
			script:   "echo bye",
			wantHow:  "exit status 0",
			wantTail: "  bye",
		},
		"somebody else kills it": {
			script:   "kill -9 $$",
			wantCode: -1,
			wantHow:  "signal: killed",
			wantTail: "  (it printed nothing)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := shell(t, tc.script)
			p := start(t, spec)
			await(t, p)

			var got *ExitError
			if !errors.As(p.Err(), &got) {
				t.Fatalf("Err() = %v, want an *ExitError", p.Err())
			}
			want := &ExitError{Name: "sleeper", Code: tc.wantCode, How: tc.wantHow, Log: spec.Log, Tail: tc.wantTail}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Err() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProcessErrAfterStop(t *testing.T) {
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	cases := map[string]struct {
		script string
		stop   func(*Process)
	}{
		"killed":                            {"exec sleep 600", (*Process).Kill},
		"stopped":                           {"exec sleep 600", func(p *Process) { p.Stop(t.Context(), syscall.SIGTERM) }},
		"stopped twice":                     {"exec sleep 600", func(p *Process) { p.Stop(t.Context(), syscall.SIGTERM); p.Stop(t.Context(), syscall.SIGTERM) }},
		"deaf to the signal, then killed":   {"trap '' TERM; while :; do sleep 1; done", func(p *Process) { p.Stop(expired, syscall.SIGTERM) }},
		"already gone by itself when asked": {"exec sleep 600", func(p *Process) { p.Kill(); p.Kill() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := start(t, shell(t, tc.script))
			if err := p.Err(); err != nil {
				t.Fatalf("Err() while it runs = %v, want nil", err)
			}
			tc.stop(p)

			if err := p.Err(); err != nil {
				t.Errorf("Err() = %v, want nil", err)
			}
			if err := syscall.Kill(p.PID(), 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("signalling process %d gives %v, want it gone and reaped", p.PID(), err)
			}
		})
	}
}

func TestStartSurvivesTheCallingThread(t *testing.T) {
	// Several, since the one that happens to run on the process's first thread
	// proves nothing: that thread never ends.
	const askers = 4
	children := make(chan *Process)
	for range askers {
		go func() {
			// A goroutine that ends while locked takes its thread with it.
			runtime.LockOSThread()
			p, err := Start(shell(t, "exec sleep 600"))
			if err != nil {
				t.Errorf("Start: %v", err)
			}
			children <- p
		}()
	}
	ended := make(chan error, askers)
	for range askers {
		p := <-children
		t.Cleanup(p.Kill)
		go func() {
			<-p.Done()
			ended <- p.Err()
		}()
	}

	select {
	case err := <-ended:
		t.Fatalf("a child ended with the thread that asked for it: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
}

func TestStartErrors(t *testing.T) {
	missing := shell(t, "")
	missing.Path = "/nonexistent/etcd"
	noLog := shell(t, "")
	noLog.Log = "/nonexistent/etcd.log"
	cases := map[string]struct {
		spec Spec
		want string
	}{
		"no such program":       {missing, "starting sleeper (/nonexistent/etcd)"},
		"log cannot be written": {noLog, "starting sleeper: opening its log"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Start(tc.spec)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Start() = %v, want it to hold %q and to be os.ErrNotExist", err, tc.want)
			}
		})
	}
}

func TestTailKeepsTheEndOfALongLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.log")
	long := strings.Repeat("noise\n", 10_000) + strings.Repeat("x", 1000) + "\nlast\n"
	if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("  noise\n", tailLines-2) + "  " + strings.Repeat("x", lineWidth) + "\n  last"
	if diff := cmp.Diff(want, Tail(path)); diff != "" {
		t.Errorf("Tail (-want +got):\n%s", diff)
	}
}

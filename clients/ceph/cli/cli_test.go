package cli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cli"
)

// program returns a Program that runs the shell script.
func program(t *testing.T, script string) *cli.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ceph")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return &cli.Program{Path: path, Conf: "/conf", Name: "client.admin", Keyring: "/keyring", Timeout: time.Minute, MaxOutput: 1 << 16}
}

func TestProgramRun(t *testing.T) {
	cases := map[string]struct {
		script string
		want   ceph.Result
	}{
		"the arguments":               {`echo "$@"`, ceph.Result{Stdout: []byte("--conf /conf --name client.admin --keyring /keyring --connect-timeout 5 --format json osd dump\n")}},
		"the input":                   {`cat`, ceph.Result{Stdout: []byte("value")}},
		"a refusal":                   {`echo 'Error EBUSY: no' >&2; exit 16`, ceph.Result{Code: 16, Stderr: []byte("Error EBUSY: no\n")}},
		"no inherited settings":       {`echo "$CEPH_ARGS$HOME"`, ceph.Result{Stdout: []byte("\n")}},
		"output of exactly the limit": {`head -c 65536 /dev/zero | tr '\0' x`, ceph.Result{Stdout: []byte(strings.Repeat("x", 65536))}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CEPH_ARGS", "--id other")
			got, err := program(t, c.script).Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}, Input: []byte("value")})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProgramRunFails(t *testing.T) {
	cases := map[string]struct {
		script string
		time   time.Duration
		want   string
	}{
		"it hangs":                        {"sleep 1000", 2 * time.Second, "the ceph command took longer than 2s"},
		"a process that it started hangs": {"sleep 1000 & exit 0", 500 * time.Millisecond, "the ceph command took longer than 500ms"},
		"it prints without end":           {"while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", 20 * time.Second, "the ceph command printed more than is read"},
		"it prints errors without end":    {"while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >&2; done", 20 * time.Second, "the ceph command printed more than is read"},
		"it is killed":                    {"kill -9 $$", time.Minute, "running the ceph command: signal: killed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := program(t, c.script)
			p.Timeout = c.time
			_, err := p.Run(t.Context(), ceph.Command{})
			if err == nil || err.Error() != c.want {
				t.Errorf("want %q, got %v", c.want, err)
			}
			if _, never := errors.AsType[*ceph.NotStarted](err); never {
				t.Error("it is reported as never started")
			}
		})
	}
}

func TestProgramRunNotStarted(t *testing.T) {
	p := &cli.Program{Path: filepath.Join(t.TempDir(), "none")}
	_, err := p.Run(t.Context(), ceph.Command{})
	if _, never := errors.AsType[*ceph.NotStarted](err); !never {
		t.Errorf("%v", err)
	}
}

func TestProgramRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("the manager ends")
	cancel(ended)
	if _, err := program(t, "sleep 1000").Run(ctx, ceph.Command{}); err == nil {
		t.Error("it ran")
	}
}

package cli_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cli"
)

// python runs the program of a session on this host, with stand-ins for the modules of Ceph.
func python(t *testing.T, env ...string) *cli.Session {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("python3 is not in PATH, so that the program of a session is not tested: install Python 3")
	}
	modules, err := filepath.Abs("testdata/python")
	if err != nil {
		t.Fatal(err)
	}
	s := &cli.Session{Clock: clock.RealClock{}, Pod: &cli.Pod{Conf: "/conf", Name: "client.admin", Keyring: "/keyring"}}
	s.Pod.Exec = func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error {
		if command[0] != "python3" {
			_, err := io.WriteString(out, "by itself")
			return err
		}
		c := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the program of the package
		c.Env = append(append(os.Environ(), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1"), env...)
		c.Stdout, c.Stderr = out, errs
		stdin, err := c.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(stdin, in)
			_ = stdin.Close()
		}()
		return c.Run()
	}
	t.Cleanup(s.Close)
	return s
}

func TestSessionProgram(t *testing.T) {
	s := python(t)
	for _, tc := range []struct {
		name    string
		command ceph.Command
		want    ceph.Result
		err     string
	}{
		{name: "how it connects", command: ceph.Command{Args: []string{"connection"}}, want: ceph.Result{Stdout: []byte("/conf client.admin /keyring 5 1 1.5 4")}},
		{
			name: "a question", command: ceph.Command{Args: []string{"osd", "dump"}},
			want: ceph.Result{Stdout: []byte(`["osd dump", ["mon", ""], {"rest": [], "format": "json"}, "", 10]`), Stderr: []byte("said")},
		},
		{
			name: "an input", command: ceph.Command{Args: []string{"auth", "import", "-i", "-"}, Input: []byte("[client.x]\n\tkey = \"k\"\n")},
			want: ceph.Result{Stdout: []byte(`["auth import", ["mon", ""], {"rest": [], "format": "json"}, "[client.x]\n\tkey = \"k\"\n", 10]`), Stderr: []byte("said")},
		},
		{
			name: "a daemon", command: ceph.Command{Args: []string{"tell", "osd.0", "version"}},
			want: ceph.Result{Stdout: []byte(`["version", ["osd", 0], {"rest": [], "format": "json"}, "", 10]`), Stderr: []byte("said")},
		},
		{name: "a daemon that is away", command: ceph.Command{Args: []string{"tell", "osd.77", "version"}}, want: ceph.Result{Code: 6, Stderr: []byte("Error ENXIO: osd down")}},
		{name: "a refusal", command: ceph.Command{Args: []string{"osd", "ok-to-stop", "0"}}, want: ceph.Result{Code: 16, Stderr: []byte("Error EBUSY: osds are too busy")}},
		{
			name: "a command that an upgrade has brought", command: ceph.Command{Args: []string{"new", "command"}},
			want: ceph.Result{Stdout: []byte(`["new command", ["mon", ""], {"rest": [], "format": "json"}, "", 10]`), Stderr: []byte("said")},
		},
		{name: "an unknown command", command: ceph.Command{Args: []string{"nonsense"}}, want: ceph.Result{Code: 22, Stderr: []byte("Error EINVAL: invalid command")}},
		{name: "no answer in time", command: ceph.Command{Args: []string{"pg", "stat"}}, err: "it took longer than 10 seconds"},
		{
			name: "after a failure", command: ceph.Command{Args: []string{"tell", "mon.a", "version"}},
			want: ceph.Result{Stdout: []byte(`["version", ["mon", "a"], {"rest": [], "format": "json"}, "", 10]`), Stderr: []byte("said")},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := s.Run(t.Context(), tc.command)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %s", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSessionProgramValidatesACommandOnce: that takes most of the time of a command, and the same ones are sent again and again.
func TestSessionProgramValidatesACommandOnce(t *testing.T) {
	s := python(t)
	send := func(args ...string) string {
		got, err := s.Run(t.Context(), ceph.Command{Args: args})
		if err != nil || got.Code != 0 {
			t.Fatalf("%v: %+v, %v", args, got, err)
		}
		return string(got.Stdout)
	}
	for range 3 {
		send("osd", "dump")
		send("tell", "osd.0", "version")
		send("tell", "osd.1", "version")
	}
	if got, want := send("validations"), "3"; got != want { // with itself
		t.Errorf("validations: got %s, want %s", got, want)
	}
}

// Without a connection each command is a run of its own.
func TestSessionProgramWithoutACluster(t *testing.T) {
	got, err := python(t, "REFUSED=yes").Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}})
	if err != nil || string(got.Stdout) != "by itself" {
		t.Errorf("%s, %v", got.Stdout, err)
	}
}

// Nothing is left of the program after the session, although a command hangs.
func TestSessionProgramEnds(t *testing.T) {
	s := python(t)
	ended := make(chan error, 1)
	run := s.Pod.Exec
	s.Pod.Exec = func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error {
		err := run(ctx, command, in, out, errs)
		ended <- err
		return err
	}
	if _, err := s.Run(t.Context(), ceph.Command{Args: []string{"osd", "dump"}}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "killed") {
		t.Errorf("the program ended with %v", err)
	}
}

package manager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cli"
	"github.com/detent-dev/detent/controllers/ceph/connection"
)

func TestProgram(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	command := filepath.Join(t.TempDir(), "ceph")
	script := "#!/bin/sh\ncase \"$*\" in *c2VjcmV0*) exit 9;; esac\nwhile [ $# -gt 0 ]; do case $1 in --conf|--keyring) cat \"$2\"; stat -c %a \"$2\"; shift;; esac; shift; done\n"
	if err := os.WriteFile(command, []byte(script), 0o700); err != nil { //nolint:gosec // it has to be executable
		t.Fatal(err)
	}
	runner, done, err := program(command, connection.Endpoint{Config: "[global]\n", Keyring: "key = c2VjcmV0\n"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := runner.Run(t.Context(), ceph.Command{Args: []string{"health"}})
	if want := "[global]\n600\nkey = c2VjcmV0\n600\n"; err != nil || string(got.Stdout) != want {
		t.Errorf("%v, %q, want %q", err, got.Stdout, want)
	}
	p, isProgram := runner.(*cli.Program)
	if !isProgram {
		t.Fatalf("%T", runner)
	}
	done()
	if exists(p.Conf) || exists(p.Keyring) || exists(strings.TrimSuffix(p.Conf, "/ceph.conf")) {
		t.Error("the files are left")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

package render_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// container returns the container of the first daemon of a type.
func container(t *testing.T, of ceph.Type) corev1.Container {
	t.Helper()
	in, all := input(t, v18)
	for _, d := range all {
		if d.Name.Type != of {
			continue
		}
		got, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
		if err != nil {
			t.Fatal(err)
		}
		return got.Spec.Template.Spec.Containers[0]
	}
	t.Fatalf("there is no %s", of)
	return corev1.Container{}
}

// outcome is that of a probe.
type outcome struct {
	code   int
	stderr string
}

// run runs the command of a probe with other texts in its script.
func run(t *testing.T, probe *corev1.Probe, texts ...string) outcome {
	t.Helper()
	args := probe.Exec.Command
	command := exec.CommandContext(t.Context(), args[0], args[1], strings.NewReplacer(texts...).Replace(args[2]))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	err := command.Run()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return outcome{command.ProcessState.ExitCode(), stderr.String()}
}

// framed returns an answer as a daemon sends it.
func framed(text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// serve answers every request on a socket with bytes, and then closes the connection: with hangs once the client did so. The function that is
// returned ends it and returns the requests.
func serve(t *testing.T, path string, answer []byte, hangs bool) func() string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan string, 1)
	go func() {
		var all strings.Builder
		defer func() { requests <- all.String() }()
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			request, _ := bufio.NewReader(connection).ReadString(0)
			all.WriteString(request)
			_, _ = connection.Write(answer)
			if hangs {
				_, _ = io.Copy(io.Discard, connection)
			}
			_ = connection.Close()
		}
	}()
	return func() string {
		_ = listener.Close()
		return <-requests
	}
}

// TestProbeAsksTheSocket runs the probes of daemons against a socket that answers as theirs does.
func TestProbeAsksTheSocket(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:/bin") // as in the probe
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("the probe would run ceph: install the package python3 (3.5 or newer): %s", err)
	}
	const (
		active  = "{\n    \"osd_fsid\": \"\",\n    \"state\": \"active\",\n    \"num_pgs\": 8\n}\n"
		booting = "{\n    \"osd_fsid\": \"\",\n    \"state\": \"booting\",\n    \"num_pgs\": 8\n}\n"
	)
	big := strings.Replace(active, "{", "{"+strings.Repeat(" ", 1<<20), 1)
	root := t.TempDir() // the path of a socket is short
	osd, mds := container(t, ceph.TypeOSD), container(t, ceph.TypeMDS)
	for name, tc := range map[string]struct {
		probe *corev1.Probe
		// nobody means that nothing listens, and hangs that the connection stays open after the answer.
		nobody, hangs bool
		answer        []byte
		// want is what the reason of the failure contains; empty: it succeeds.
		want string
	}{
		"an answer that matches":                       {probe: osd.ReadinessProbe, answer: framed(active)},
		"an answer that is large":                      {probe: osd.ReadinessProbe, answer: framed(big)},
		"an answer that does not match":                {probe: osd.ReadinessProbe, answer: framed(booting), want: `: the answer to status does not match "state": "active"`},
		"an answer that need not match":                {probe: osd.LivenessProbe, answer: framed(booting)},
		"one of several states":                        {probe: mds.ReadinessProbe, answer: framed(`{"state": "up:standby-replay"}`)},
		"none of several states":                       {probe: mds.ReadinessProbe, answer: framed(`{"state": "up:replay"}`), want: "does not match"},
		"a command that is not known yet":              {probe: osd.StartupProbe, answer: framed("ERROR: (22) Invalid argument\nunknown command prefix status\n"), want: ": no answer to status: b'ERROR: (22)"},
		"a connection that is closed at once":          {probe: osd.LivenessProbe, want: ": no answer to status"},
		"half of the length":                           {probe: osd.LivenessProbe, answer: framed(active)[:2], want: ": no answer to status"},
		"half of an answer":                            {probe: osd.LivenessProbe, answer: framed(active)[:40], want: ": no answer to status"},
		"half of an answer that matches":               {probe: osd.ReadinessProbe, answer: framed(active)[:60], want: ": no answer to status"},
		"an answer of no bytes":                        {probe: osd.LivenessProbe, answer: framed(""), want: ": no answer to status"},
		"a daemon that hangs":                          {probe: osd.LivenessProbe, hangs: true, want: ": timed out"},
		"a daemon that hangs in an answer":             {probe: osd.LivenessProbe, hangs: true, answer: framed(active)[:40], want: ": timed out"},
		"a connection that stays open after an answer": {probe: osd.LivenessProbe, hangs: true, answer: framed(active)},
		"no socket":                                    {probe: osd.LivenessProbe, nobody: true, want: "No such file"},
	} {
		t.Run(name, func(t *testing.T) {
			texts := []string{"/run/ceph/", root + "/"}
			if tc.hangs {
				texts = append(texts, "asok status 14 ", "asok status 0.2 ")
			}
			end := func() string { return "" }
			if !tc.nobody {
				end = serve(t, filepath.Join(root, socketOf(t, tc.probe)), tc.answer, tc.hangs)
			}
			got := run(t, tc.probe, texts...)
			if requests := end(); !tc.nobody && requests != "{\"prefix\": \"status\"}\x00" {
				t.Errorf("the daemon was asked %q", requests)
			}
			if tc.want == "" && got != (outcome{}) {
				t.Errorf("%+v, want success", got)
			}
			if tc.want != "" && (got.code != 1 || !strings.Contains(got.stderr, tc.want) || strings.Count(got.stderr, "\n") != 1) {
				t.Errorf("%+v, want code 1 and one line with %s", got, tc.want)
			}
		})
	}
}

// socketOf returns the name of the socket that a probe asks.
func socketOf(t *testing.T, probe *corev1.Probe) string {
	t.Helper()
	_, rest, found := strings.Cut(probe.Exec.Command[2], "/run/ceph/")
	name, _, _ := strings.Cut(rest, " ")
	if !found {
		t.Fatalf("no socket in %q", probe.Exec.Command[2])
	}
	return name
}

// TestProbeWithoutPython runs the probes of an OSD where there is no python3, with a program that stands for ceph.
func TestProbeWithoutPython(t *testing.T) {
	osd := container(t, ceph.TypeOSD)
	for name, tc := range map[string]struct {
		probe *corev1.Probe
		ceph  string
		want  int
	}{
		"an answer that matches":        {probe: osd.ReadinessProbe, ceph: `echo '"state": "active",'`},
		"an answer that does not match": {probe: osd.ReadinessProbe, ceph: `echo '"state": "booting",'`, want: 1},
		"an answer that need not match": {probe: osd.LivenessProbe, ceph: `echo '"state": "booting",'`},
		"no answer":                     {probe: osd.LivenessProbe, ceph: "exit 22", want: 22},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			for _, program := range []string{"env", "grep"} {
				path, err := exec.LookPath(program)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(path, filepath.Join(bin, program)); err != nil {
					t.Fatal(err)
				}
			}
			script := "#!/bin/sh\necho \"$PATH $*\" > " + bin + "/called\n" + tc.ceph + "\n"
			if err := os.WriteFile(filepath.Join(bin, "ceph"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
			if got := run(t, tc.probe, "PATH=/usr/bin:/bin", "PATH="+bin); got.code != tc.want {
				t.Errorf("%+v, want code %d", got, tc.want)
			}
			called, err := os.ReadFile(filepath.Join(bin, "called"))
			if want := bin + " --admin-daemon /run/ceph/ceph-osd.0.asok status\n"; err != nil || string(called) != want {
				t.Errorf("ceph was called with %q (%v), want %q", called, err, want)
			}
		})
	}
}

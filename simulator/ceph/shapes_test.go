package ceph_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	client "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/simulator/ceph"
)

// varying are the keys of objects that are names.
var varying = regexp.MustCompile(`^(gid_\d+|ceph version .*|detent/.*)$`)

// paths adds the path of every value of an answer with its JSON type.
func paths(at string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		into[at] = "object"
		for key, inner := range v {
			paths(at+"/"+varying.ReplaceAllString(key, "*"), inner, into)
		}
	case []any:
		into[at] = "list"
		for _, inner := range v {
			paths(at+"[]", inner, into)
		}
	default:
		into[at] = fmt.Sprintf("%T", value)
	}
}

func pathsOf(t *testing.T, text []byte) map[string]string {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := map[string]string{}
	paths("", value, out)
	return out
}

// daemonsOfRecording are the daemons of the recorded clusters.
func daemonsOfRecording() (out []client.Daemon) {
	for _, d := range cephtest.Daemons() {
		if d.Type == client.TypeMgr {
			d.ID = map[string]string{"a": "x", "b": "y"}[d.ID]
		}
		out = append(out, d)
	}
	return append(out, client.Daemon{Type: client.TypeRGW, ID: "store.a"})
}

// TestClusterAnswersLikeRecorded checks the answers to the recorded commands: the exit code, the name of the error, and that every field
// of a simulated answer is one of the release, with its type.
func TestClusterAnswersLikeRecorded(t *testing.T) {
	for release, version := range cephtest.Releases() {
		data, err := os.ReadFile("../../clients/ceph/testdata/answers-" + release + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var recorded map[string]struct {
			Code   int
			Stdout json.RawMessage
			Stderr string
		}
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatal(err)
		}
		for name, want := range recorded {
			t.Run(release+" "+name, func(t *testing.T) {
				cluster := ceph.New(version, daemonsOfRecording()...)
				cluster.Keys["detent/test"] = `{"a":1}`
				command := arrange(cluster, name, want.Stdout)
				got, err := cluster.Run(t.Context(), client.Command{Args: strings.Fields(command)})
				if err != nil {
					t.Fatal(err)
				}
				if got.Code != want.Code || errorName(string(got.Stderr)) != errorName(want.Stderr) {
					t.Fatalf("want %d %q, got %d %q", want.Code, want.Stderr, got.Code, got.Stderr)
				}
				if len(got.Stdout) == 0 {
					return
				}
				known := pathsOf(t, want.Stdout)
				for path, kind := range pathsOf(t, got.Stdout) {
					if len(known) == 1 && strings.HasPrefix(path, "[]") {
						continue // an empty list was recorded
					}
					if command == "osd dump" && strings.HasPrefix(path, "/pools") {
						continue // the list of pools was removed from what was recorded
					}
					if known[path] != kind {
						t.Errorf("%s is a %s, recorded was %q", path, kind, known[path])
					}
				}
			})
		}
	}
}

var errorLine = regexp.MustCompile(`(?m)^Error (E[A-Z]+)`)

func errorName(stderr string) string {
	if m := errorLine.FindStringSubmatch(stderr); m != nil {
		return m[1]
	}
	return ""
}

// arrange brings the cluster into the situation of a recorded answer and returns the command.
func arrange(c *ceph.Cluster, name string, recorded []byte) (command string) {
	command, situation, _ := strings.Cut(strings.TrimSuffix(name, ")"), " (")
	osd2, monC := client.Daemon{Type: client.TypeOSD, ID: "2"}, client.Daemon{Type: client.TypeMon, ID: "c"}
	switch situation {
	case "osd.2 is down":
		c.Stop(osd2)
		c.Advance(c.Now + 6_000)
	case "a mon and an osd are down":
		c.Stop(osd2)
		c.Stop(monC)
		c.Advance(c.Now + 20_000)
	case "mon.c is down":
		c.Stop(monC)
		c.Advance(c.Now + 20_000)
	case "two seconds after mon.c ended":
		c.Stop(monC)
		c.Advance(c.Now + 2_000)
	case "osd.0 has noout":
		_ = client.Client{Runner: c}.SetNoOut(nil, 0, true) //nolint:staticcheck // the simulator has no use for a context
	case "no monitor", "no such keyring":
		c.Unreachable = true
	case "the same":
		command += " " + map[int]string{14: "nautilus", 16: "pacific", 18: "reef"}[c.RequireRelease]
	}
	// Which manager and which metadata server were active is left to chance.
	switch {
	case strings.HasPrefix(command, "tell mgr.") && len(recorded) > 0:
		command = "tell mgr." + c.Active + " version"
	case strings.HasPrefix(command, "tell mgr."):
		command = "tell mgr.y version"
		if c.Active == "y" {
			command = "tell mgr.x version"
		}
	case strings.HasSuffix(command, "session ls") && len(recorded) > 0:
		command = "tell mds.myfs-a session ls"
	case strings.HasSuffix(command, "session ls"):
		command = "tell mds.myfs-b session ls"
	}
	return command
}

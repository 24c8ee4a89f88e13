package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error of a manager that cannot start names the problem, the place and the remedy. The exit code is 1.
func TestManagerCommandFailsWithExitCode1(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nowhere := file("nowhere.kubeconfig", `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
		clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: u}]}`)
	absent := filepath.Join(dir, "absent")
	tests := map[string]struct {
		args []string
		want []string
	}{
		"a kubeconfig that points nowhere":  {[]string{"--kubeconfig", nowhere}, []string{"https://127.0.0.1:1", "check the kubeconfig"}},
		"a kubeconfig that is not there":    {[]string{"--kubeconfig", absent}, []string{absent, "--kubeconfig or $KUBECONFIG"}},
		"a version table that is not there": {[]string{"--kafka-versions", absent}, []string{"reading the table of Kafka versions", absent}},
		"a version table that is broken":    {[]string{"--kafka-versions", file("versions.yaml", "- version: four\n")}, []string{"versions.yaml", "four"}},
		"a table of releases that is none":  {[]string{"--ceph-versions", file("releases.yaml", "default: 1\nreleases: none\n")}, []string{"releases.yaml"}},
		"an unknown way of finalizing":      {[]string{"--finalize", "never"}, []string{`--finalize "never"`, "automatic or approval"}},
		"a selector that is none":           {[]string{"--selector", "team in a"}, []string{`--selector "team in a"`, "team=a,stage!=test"}},
		"no cluster may roll":               {[]string{"--max-active", "0"}, []string{"--max-active 0", "at least one cluster"}},
		"fewer than no clusters may roll":   {[]string{"--max-active", "-1"}, []string{"--max-active -1", "at least one cluster"}},
		"deadlines of no length":            {[]string{"--deadline-scale", "0"}, []string{"--deadline-scale 0", "a factor above 0"}},
		"deadlines before their states":     {[]string{"--deadline-scale", "-1"}, []string{"--deadline-scale -1", "a factor above 0"}},
		"deadlines that are no number":      {[]string{"--deadline-scale", "NaN"}, []string{"--deadline-scale NaN", "a factor above 0"}},
		"no workers":                        {[]string{"--workers", "-1"}, []string{"--workers -1", "at least one"}},
		"no requests":                       {[]string{"--kube-api-qps", "0"}, []string{"--kube-api-qps 0", "above 0"}},
		"requests that are no number":       {[]string{"--kube-api-qps", "NaN"}, []string{"--kube-api-qps NaN", "above 0"}},
		"requests without end":              {[]string{"--kube-api-qps", "Inf"}, []string{"--kube-api-qps +Inf", "at most"}},
		"a lease that is over":              {[]string{"--lease-duration", "-5s"}, []string{"--lease-duration -5s", "a second or longer"}},
		"a lease that is over at once":      {[]string{"--lease-duration", "1ms"}, []string{"--lease-duration 1ms", "a second or longer"}},
		"a namespace that is none":          {[]string{"--namespaces", "a,A_B"}, []string{"--namespaces", `"A_B"`}},
		"a namespace without a name":        {[]string{"--namespaces", "a,"}, []string{"--namespaces", `""`}},
		"a proxy without a port":            {[]string{"--kafka-proxy", "foo"}, []string{`--kafka-proxy "foo"`, "a host and a port"}},
		"another proxy with a wrong port":   {[]string{"--mirrormaker2-proxy", "foo:http"}, []string{`--mirrormaker2-proxy "foo:http"`, "a host and a port"}},
		"a command that is not there":       {[]string{"--ceph-command", absent}, []string{"--ceph-command", absent}},
		"an unknown format of the log":      {[]string{"--log-format", "xml"}, []string{`--log-format "xml"`, "text or json"}},
		"an argument that nobody asked for": {[]string{"production"}, []string{"production"}},
		"a flag that does not exist":        {[]string{"--yes"}, []string{"--yes"}},
		"a duration that is none":           {[]string{"--lease-duration", "soon"}, []string{"--lease-duration", "soon"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(t.Context(), append([]string{"detent", "manager"}, tc.args...), &out, &errs); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, want := range tc.want {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("it says %q, want %q", errs.String(), want)
				}
			}
		})
	}
}

func TestVersionCommand(t *testing.T) {
	for _, args := range []string{"version", "--version"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"detent", args}, &out, &errs); code != 0 || !strings.HasPrefix(out.String(), "detent "+version+" (") {
			t.Errorf("%s: exit code %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
}

// A wrong command line ends with 1 and an error that says how to write it.
func TestWrongCommandLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"help nope":                 `there is no command "nope"`,
		"help manager now":          `there is no command "manager now"`,
		"replay":                    "name one file with a journal",
		"verify node-roll":          "--machine node-roll",
		"explain a b c":             "name a machine and one of its states",
		"graph a b":                 "name one machine",
		"explain /":                 "TYPE/NAME, as for kubectl get",
		"dev --speed 0":             "--speed 0",
		"dev --speed -1":            "above 0",
		"dev --speed NaN":           "above 0",
		"dev --speed Inf":           "finite",
		"dev --port 99999999":       "at most 65535",
		"dev --keep " + file + "/x": "the directory that keeps the logs",
	} {
		t.Run(line, func(t *testing.T) {
			out, errs, code := invoke(strings.Fields(line)...)
			if code != 1 || !strings.Contains(errs, want) {
				t.Errorf("exit code %d, %q, %q, want %q", code, out, errs, want)
			}
		})
	}
	if out, errs, code := invoke("help", "manager"); code != 0 || !strings.Contains(out, "--namespaces") {
		t.Errorf("help of a command: exit code %d, %q, %q", code, out, errs)
	}
}

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
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"detent", "version"}, &out, &errs); code != 0 || !strings.HasPrefix(out.String(), "detent "+version+" (") {
		t.Errorf("exit code %d, %q, %q", code, out.String(), errs.String())
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const situations = "../../internal/plan/testdata/cases/"

// invoke runs a command line.
func invoke(args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = run(context.Background(), append([]string{"detent"}, args...), &o, &e)
	return o.String(), e.String(), code
}

//test:norace
func TestPlanCommand(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: a}\nspec: {kafka: {version: 4}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		args []string
		code int
		out  string
		errs string
	}{
		"what rests ends with 0":         {args: []string{"-f", situations + "upgrade.yaml"}, out: "rests in Settled"},
		"what holds ends with 2":         {args: []string{"-f", situations + "downgrade-refused.yaml"}, code: 2, out: "HOLDS in Refused"},
		"what stalls ends with 2":        {args: []string{"-f", situations + "bad-image.yaml"}, code: 2, out: "STALLS in AwaitingReady"},
		"a wanted version nobody knows":  {args: []string{"-f", situations + "version-unknown.yaml"}, code: 2, out: "HOLDS in Refused"},
		"approval is waited for":         {args: []string{"-f", situations + "upgrade.yaml", "--finalize", "approval"}, code: 2, out: "holds in AwaitingApproval"},
		"an input that cannot be read":   {args: []string{"-f", broken}, code: 1, errs: broken + ", document 1 (Kafka a): spec.kafka.listeners: Required value"},
		"a file that is not there":       {args: []string{"-f", "none.yaml"}, code: 1, errs: "none.yaml: no such file"},
		"no file":                        {code: 1, errs: "name the files with the resources"},
		"a form that there is not":       {args: []string{"-f", broken, "-o", "yaml"}, code: 1, errs: `--output "yaml": it is either text or json`},
		"a way to finalize there is not": {args: []string{"-f", broken, "--finalize", "never"}, code: 1, errs: `--finalize "never": it is either automatic or approval`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, errs, code := invoke(append([]string{"plan"}, tc.args...)...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(out, tc.out) {
				t.Errorf("%q is not in the output:\n%s", tc.out, out)
			}
			if !strings.Contains(errs, tc.errs) || tc.errs == "" && errs != "" {
				t.Errorf("standard error, want %q:\n%s", tc.errs, errs)
			}
		})
	}
}

func TestPlanCommandWritesJSON(t *testing.T) {
	out, _, code := invoke("plan", "-f", situations+"upgrade.yaml", "-o", "json")
	var p struct {
		Result  string
		Objects []struct {
			Kind, Name string
			Effects    []struct{ System, Verb, Target, At string }
		}
	}
	if err := json.Unmarshal([]byte(out), &p); err != nil || code != 0 {
		t.Fatal(code, err)
	}
	var got []string
	for _, e := range p.Objects[0].Effects {
		if e.Verb == "restart-pod" || e.System == "kafka" {
			got = append(got, e.Verb+" "+e.Target)
		}
	}
	want := []string{"restart-pod my-cluster-nodes-1", "restart-pod my-cluster-nodes-2", "restart-pod my-cluster-nodes-0", "update-features metadata.version=4.1-IV1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("restarts and what Kafka is asked (-want +got):\n%s", diff)
	}
}

//test:norace
func TestPlanCommandReadsSeveralFiles(t *testing.T) {
	content, err := os.ReadFile(situations + "update-refused.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, second, found := strings.Cut(string(content), "---\n")
	if !found {
		t.Fatal("one document")
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"a.yaml": first, "b.yaml": second} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole, _, _ := invoke("plan", "-f", situations+"update-refused.yaml", "-o", "json")
	parts, _, code := invoke("plan", "-f", filepath.Join(folder, "b.yaml"), "-f", filepath.Join(folder, "a.yaml"), "-o", "json")
	if diff := cmp.Diff(whole, parts); diff != "" || code != 2 {
		t.Errorf("exit code %d; in two files, in another order (-whole +parts):\n%s", code, diff)
	}
}

package main

import (
	"strings"
	"testing"
)

func TestGraphCommand(t *testing.T) {
	cases := map[string]struct {
		locale string
		args   []string
		code   int
		out    string
		errs   string
	}{
		"a machine":                     {locale: "C.UTF-8", args: []string{"node-roll"}, out: "○ Settled"},
		"a machine where UTF-8 is not":  {locale: "C", args: []string{"node-roll"}, out: "o Settled"},
		"a machine as SVG":              {args: []string{"node-roll", "-o", "svg", "--theme", "dark"}, out: "<svg "},
		"an object from a file":         {locale: "C.UTF-8", args: []string{"kafka/my-cluster", "-f", situations + "in-progress.yaml", "--lifecycle", "version"}, out: "▶ AwaitingInSync"},
		"a machine that there is not":   {args: []string{"kafka"}, code: 1, errs: "there are kafka-version-change, node-roll"},
		"nothing":                       {code: 1, errs: "there are the machines kafka-version-change, node-roll"},
		"a theme that there is not":     {args: []string{"node-roll", "--theme", "pink"}, code: 1, errs: `--theme "pink"`},
		"a format that there is not":    {args: []string{"node-roll", "-o", "png"}, code: 1, errs: `there is no format "png"`},
		"a machine by its lifecycle":    {locale: "C.UTF-8", args: []string{"roll"}, out: "node-roll"},
		"a file without namespaces":     {locale: "C.UTF-8", args: []string{"kafka/my-cluster", "-f", situations + "in-progress.yaml", "-n", "default", "--lifecycle", "version"}, out: "▶ AwaitingInSync"},
		"another namespace":             {args: []string{"kafka/my-cluster", "-f", situations + "in-progress.yaml", "-n", "prod"}, code: 1, errs: "kafka/my-cluster -n prod is not in the input"},
		"a lifecycle that there is not": {args: []string{"-f", situations + "in-progress.yaml", "--lifecycle", "ca"}, code: 1, errs: "it has roll, version"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LC_ALL", tc.locale)
			out, errs, code := invoke(append([]string{"graph"}, tc.args...)...)
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

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/detent-dev/detent/machines/verification"
)

//test:norace
func TestVerifyCommand(t *testing.T) {
	cases := map[string]struct {
		args []string
		code int
		out  []string
		errs string
	}{
		"every machine": {
			args: []string{"--machines"},
			out:  []string{"kafka-version-change@sha256:", "node-roll@sha256:", "  gap ", "  target ", " ok\n"},
		},
		"one machine, with notes":        {args: []string{"--machine", "node-roll", "--notes"}, out: []string{"node-roll@sha256:", "note, overlap: state SelectingNode"}},
		"a machine that there is not":    {args: []string{"--machine", "kafka"}, code: 1, errs: "there are kafka-version-change, node-roll"},
		"nothing":                        {code: 1, errs: "--machines for all of them"},
		"all, and one":                   {args: []string{"--machines", "--machine", "node-roll"}, code: 1, errs: "either --machines"},
		"a format that there is not":     {args: []string{"--machines", "-o", "yaml"}, code: 1, errs: `--output "yaml"`},
		"an argument that means nothing": {args: []string{"node-roll"}, code: 1, errs: "name a machine with --machine node-roll"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, errs, code := invoke(append([]string{"verify"}, tc.args...)...)
			if code != tc.code || !strings.Contains(errs, tc.errs) || tc.errs == "" && errs != "" {
				t.Errorf("exit code %d, want %d; standard error, want %q:\n%s", code, tc.code, tc.errs, errs)
			}
			for _, want := range tc.out {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in the output:\n%s", want, out)
				}
			}
			if strings.Contains(out, "kafka-version-change") && name != "every machine" {
				t.Errorf("more was verified than asked for:\n%s", out)
			}
		})
	}
}

func TestVerifyCommandWritesJSON(t *testing.T) {
	out, errs, code := invoke("verify", "--machine", "node-roll", "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var reports []verification.Report
	if err := json.Unmarshal([]byte(out), &reports); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 1 || reports[0].Machine != "node-roll" || reports[0].Facts == 0 || len(reports[0].Results) != 8 || reports[0].Findings() != 0 {
		t.Errorf("reports %+v", reports)
	}
}

package ceph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
)

// program answers with a result to input without a command, and to each command with its words.
type program struct {
	result ceph.Result
	err    error
	calls  []string
}

func (p *program) Run(_ context.Context, command ceph.Command) (ceph.Result, error) {
	p.calls = append(p.calls, strings.Join(command.Args, " "))
	if len(command.Args) == 0 {
		p.calls[len(p.calls)-1] = string(command.Input)
		return p.result, p.err
	}
	return ceph.Result{Stdout: []byte(`{"active_name":"alone","available":true,"standbys":[]}`)}, nil
}

func TestClientTogether(t *testing.T) {
	const asked = "mgr dump\nosd tree\n"
	for name, tc := range map[string]struct {
		result ceph.Result
		err    error
		want   string
		calls  []string
		fails  string
	}{
		"answers of releases from 16 on": {
			result: ceph.Result{Stdout: []byte("\n{\"active_name\":\"x\",\n\"available\":true,\"standbys\":[]}\n\n{\"nodes\":[]}\n")},
			want:   "x", calls: []string{asked},
		},
		"answers of release 14": {
			result: ceph.Result{Stdout: []byte(`b'\n{"active_name":"it\'s \\"x\\"","available":true,"standbys":[]}\n'` + "\n" + `b'\n{"nodes":[]}'` + "\n")},
			want:   `it's "x"`, calls: []string{asked},
		},
		"a literal of Python in double quotes": {
			result: ceph.Result{Stdout: []byte(`b"{\"active_name\":\"\xc3\xa4'\",\"available\":true,\"standbys\":[]}"` + "\n{}")},
			want:   "ä'", calls: []string{asked},
		},
		"a question is refused": {
			result: ceph.Result{Stdout: []byte(`{"nodes":[]}`), Stderr: []byte("Error EINVAL: invalid command")},
			want:   "alone", calls: []string{asked, "mgr dump"},
		},
		"an answer is not a document": {
			result: ceph.Result{Stdout: []byte("{\"active_name\": \n{}")}, want: "alone", calls: []string{asked, "mgr dump"},
		},
		"a literal without an end": {
			result: ceph.Result{Stdout: []byte("b'{}\n{}")}, want: "alone", calls: []string{asked, "mgr dump"},
		},
		"the cluster is not reached": {
			result: ceph.Result{Code: 1, Stderr: []byte("[errno 110] RADOS timed out")}, calls: []string{asked},
			fails: "asking several questions: the ceph command ended with exit code 1: [errno 110] RADOS timed out",
		},
		"the program does not end": {err: errors.New("too long"), calls: []string{asked}, fails: "asking several questions: too long"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &program{result: tc.result, err: tc.err}
			c, err := ceph.Client{Runner: p}.Together(t.Context(), "mgr dump", "osd tree")
			got, fails := "", ""
			if err == nil {
				var m ceph.Managers
				m, err = c.Managers(t.Context())
				got = m.Active
			}
			if err != nil {
				fails = err.Error()
			}
			if diff := cmp.Diff([]string{tc.want, tc.fails}, []string{got, fails}); diff != "" {
				t.Errorf("answer and error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.calls, p.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

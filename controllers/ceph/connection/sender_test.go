package connection_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
)

// script answers commands as it is told. It implements connection.System for the Sender.
type script struct {
	connection.System
	answer external.Answer
	sent   []string
	ids    map[machines.RequestID]bool
}

func (s *script) Write(_ context.Context, _ connection.Endpoint, id machines.RequestID, c connection.Command) {
	if s.ids[id] {
		return
	}
	s.ids[id] = true
	s.sent = append(s.sent, c.String())
}

func (s *script) Answer(connection.Endpoint, machines.RequestID) external.Answer { return s.answer }

func TestSenderSend(t *testing.T) {
	fs := func(name string) connection.Command {
		return connection.Command{NewFilesystem: &connection.NewFilesystem{Name: name}}
	}
	s := &script{ids: map[machines.RequestID]bool{}}
	sender := &connection.Sender{System: s}
	now := time.Unix(0, 0)
	refused := external.Answer{State: external.Refused, Name: "EPERM", Text: "no"}
	for _, step := range []struct {
		name    string
		after   time.Duration
		answer  external.Answer
		command connection.Command
		done    bool
		err     string
		want    []string
	}{
		{name: "it is sent", command: fs("a"), want: []string{"create the filesystem a"}},
		{name: "it is under way", answer: external.Answer{State: external.Pending}, command: fs("a"), err: "has not ended"},
		{name: "another one waits", answer: external.Answer{State: external.Pending}, command: fs("b"), err: "has not ended"},
		{name: "it succeeded and is not repeated at once", answer: external.Answer{State: external.Done}, command: fs("a"), done: true},
		{name: "another one follows", answer: external.Answer{State: external.Done}, command: fs("b"), want: []string{"create the filesystem b"}},
		{name: "which one that has just succeeded does not wait for", answer: external.Answer{State: external.Pending}, command: fs("a"), done: true},
		{name: "one that was refused is an error", answer: refused, command: fs("b"), err: "ceph answered EPERM: no"},
		{name: "and is sent again with the same error", answer: refused, command: fs("b"), err: "ceph answered EPERM: no", want: []string{"create the filesystem b"}},
		{name: "which stays while it is under way", answer: external.Answer{State: external.Pending}, command: fs("b"), err: "ceph answered EPERM: no"},
		{name: "one without an answer is an error", answer: external.Answer{State: external.Unknown}, command: fs("b"), err: "has no answer"},
		{name: "and is sent again", answer: external.Answer{State: external.Unknown}, command: fs("b"), err: "has no answer", want: []string{"create the filesystem b"}},
		{name: "that it succeeds ends the error", answer: external.Answer{State: external.Done}, command: fs("b"), done: true},
		{name: "one that fails", answer: external.Answer{State: external.Done}, command: fs("c"), want: []string{"create the filesystem c"}},
		{name: "is an error as well", answer: refused, command: fs("c"), err: "ceph answered EPERM: no"},
		{name: "which another command does not have", answer: refused, command: fs("d"), want: []string{"create the filesystem d"}},
		{name: "stays while another one is under way", answer: external.Answer{State: external.Pending}, command: fs("c"), err: "create the filesystem c: ceph answered EPERM: no"},
		{name: "which fails as well", answer: refused, command: fs("c"), err: "create the filesystem c: ceph answered EPERM: no", want: []string{"create the filesystem c"}},
		{name: "and keeps its own error meanwhile", answer: external.Answer{State: external.Pending}, command: fs("d"), err: "create the filesystem d: ceph answered EPERM: no"},
		{name: "it succeeds", answer: external.Answer{State: external.Done}, command: fs("c"), done: true},
		{name: "one that had no effect is repeated", after: 10 * time.Second, answer: external.Answer{State: external.Done}, command: fs("a"), want: []string{"create the filesystem a"}},
	} {
		now = now.Add(step.after)
		s.answer, s.sent = step.answer, nil
		done, err := sender.Send(t.Context(), connection.Endpoint{UID: "u"}, step.command, now)
		if done != step.done || (err == nil) != (step.err == "") || err != nil && !strings.Contains(err.Error(), step.err) {
			t.Errorf("%s: %v, %v", step.name, done, err)
		}
		if waits := strings.Contains(step.err, "has not ended"); errors.Is(err, lifecycle.ErrWait) != waits {
			t.Errorf("%s: %v is a wait: %t", step.name, err, !waits)
		}
		if diff := cmp.Diff(step.want, s.sent); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

func TestCommandStringHasNoSecrets(t *testing.T) {
	for _, c := range []connection.Command{
		{NewOSD: &connection.NewOSD{UUID: "u", Key: "c2VjcmV0"}}, {ImportKeys: &connection.ImportKeys{Entity: "mgr.a", Keyring: "key = c2VjcmV0"}},
	} {
		if text := c.String(); strings.Contains(text, "c2VjcmV0") || text == "nothing" {
			t.Errorf("%q", text)
		}
	}
}

// answers is a runner with fixed answers.
type answers map[string]string

func (a answers) Run(_ context.Context, c ceph.Command) (ceph.Result, error) {
	if len(c.Args) == 0 {
		var all strings.Builder
		for line := range strings.Lines(string(c.Input)) {
			all.WriteString(a[strings.TrimSpace(line)])
		}
		return ceph.Result{Stdout: []byte(all.String())}, nil
	}
	text, known := a[strings.Join(c.Args, " ")]
	if !known {
		return ceph.Result{Code: 1, Stderr: []byte("timed out")}, nil
	}
	return ceph.Result{Stdout: []byte(text)}, nil
}

// Without a manager the states of the placement groups are unknown, and not clean.
func TestClusterWithoutAManager(t *testing.T) {
	runner := answers{
		"quorum_status": `{"quorum_names": ["a"], "quorum_leader_name": "a", "monmap": {"min_mon_release": 16, "mons": [{"name": "a"}]}}`,
		"mgr dump":      `{"active_name": "", "available": false, "standbys": []}`,
		"osd dump":      `{"require_osd_release": "pacific", "flags_set": [], "osds": []}`,
		"fs dump":       `{"standbys": [], "filesystems": []}`,
		"mon metadata":  `[]`, "mgr metadata": `[]`, "osd metadata": `[]`, "mds metadata": `[]`,
	}
	p := connection.NewProtocol(func(connection.Endpoint) (ceph.Runner, func(), error) { return runner, func() {}, nil })
	c, _, err := p.Connect(connection.Endpoint{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Ask(t.Context(), c, connection.Question{Need: "cluster"})
	if err != nil {
		t.Fatal(err)
	}
	if clean, why := a.Cluster.PGs.Clean(); clean {
		t.Errorf("clean: %s", why)
	}
}

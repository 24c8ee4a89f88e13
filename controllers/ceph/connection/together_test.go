package connection_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// counting counts the calls by what they ask: several questions have no command.
type counting struct {
	answers

	mu    sync.Mutex
	calls map[string]int
}

func (c *counting) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	c.mu.Lock()
	c.calls[strings.Join(command.Args, " ")]++
	c.mu.Unlock()
	return c.answers.Run(ctx, command)
}

// The questions before a daemon is replaced are one call for everything that the monitors answer, and one for each other answer.
func TestTogether(t *testing.T) {
	monitors := answers{
		"quorum_status": `{"quorum_names": ["a"], "quorum_leader_name": "a", "monmap": {"min_mon_release": 16, "mons": [{"name": "a"}]}}`,
		"mgr dump":      `{"active_name": "x", "available": true, "standbys": []}`,
		"osd dump":      `{"require_osd_release": "pacific", "flags_set": [], "osds": [{"osd": 0, "up": 1, "in": 1, "state": ["exists", "up"]}]}`,
		"fs dump":       `{"standbys": [], "filesystems": []}`,
		"mon metadata":  `[]`, "mgr metadata": `[]`, "osd metadata": `[]`, "mds metadata": `[]`,
		"health detail":           `{"status": "HEALTH_OK", "checks": {}}`,
		"config-key dump detent/": `{}`,
		"pg stat":                 `{"pg_ready": true, "pg_summary": {"num_pgs": 1, "num_pg_by_state": [{"name": "active+clean", "num": 1}]}}`,
		"osd ok-to-stop 0":        `{}`,
	}
	questions := []connection.Question{
		{Need: cephupgrade.NeedCluster}, {Need: cephupgrade.NeedHealth}, {Need: cephupgrade.NeedMemory},
		{Need: cephupgrade.NeedPermission, Daemon: ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}},
	}
	for name, tc := range map[string]struct {
		refuses string
		want    map[string]int
	}{
		"all are answered": {want: map[string]int{"": 1, "pg stat": 1, "osd ok-to-stop 0": 1}},
		"one is refused": {refuses: "mds metadata", want: map[string]int{
			"": 2, "quorum_status": 1, "mgr dump": 1, "osd dump": 2, "fs dump": 1, "mon metadata": 1, "mgr metadata": 1, "osd metadata": 1, "mds metadata": 1,
			"health detail": 1, "config-key dump detent/": 1, "osd ok-to-stop 0": 1,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			runner := &counting{answers: answers{}, calls: map[string]int{}}
			for question, answer := range monitors {
				if question != tc.refuses {
					runner.answers[question] = answer
				}
			}
			p := connection.NewProtocol(func(connection.Endpoint) (ceph.Runner, func(), error) { return runner, func() {}, nil })
			c, _, err := p.Connect(connection.Endpoint{})
			if err != nil {
				t.Fatal(err)
			}
			c = p.Together(t.Context(), c, questions)
			for _, q := range questions {
				if _, err := p.Ask(t.Context(), c, q); err != nil && tc.refuses == "" {
					t.Errorf("%s: %v", q.Need, err)
				}
			}
			if diff := cmp.Diff(tc.want, runner.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

package ceph_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	client "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/cases"
)

// rollback is a daemon that was started on one release after another, in a cluster whose other daemons of its type run a release.
type rollback struct {
	Daemon   string
	Path     []int
	Others   int
	Required string
}

// TestClusterRollbackCases starts daemons on an older release than they ran, as it was tried with real ones. What the operator decides about
// it is in machines/cephupgrade/decision.
func TestClusterRollbackCases(t *testing.T) {
	cases.Run(t, cases.Ceph[rollback](t, "rollback"), nil, func(t *testing.T, row *cases.Row[rollback]) cases.Outcome {
		path := row.Given.Path
		c, _ := three(fmt.Sprint(path[0]))
		kind, id, _ := strings.Cut(row.Given.Daemon, ".")
		d := client.Daemon{Type: client.Type(kind), ID: id}
		for i := range c.Daemons {
			c.Daemons[i].InMemory = c.Daemons[i].Name == d && strings.Contains(row.Name, "memstore")
			if other := &c.Daemons[i]; other.Name.Type == d.Type && other.Name != d && row.Given.Others > path[0] {
				move(t, c, other.Name, row.Given.Others)
			}
		}
		var err error
		for _, release := range path[1:] {
			c.Stop(d)
			c.Advance(c.Now + 20_000)
			err = c.Start(d, cephtest.Releases()[fmt.Sprint(release)], "pod")
			c.Advance(c.Now + 20_000)
		}
		out := cases.Outcome{"works": err == nil}
		if died, is := errors.AsType[*ceph.Died](err); is {
			out["error"] = strings.TrimPrefix(strings.ReplaceAll(died.Words, "_", " "), "bluestore ")
		}
		return out
	})
}

// move replaces a daemon by another release.
func move(t *testing.T, c *ceph.Cluster, d client.Daemon, release int) {
	t.Helper()
	c.Stop(d)
	if err := c.Start(d, cephtest.Releases()[fmt.Sprint(release)], d.String()); err != nil {
		t.Fatal(err)
	}
	c.Advance(c.Now + 20_000)
}

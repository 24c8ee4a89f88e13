package cephupgrade_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/transitions"
)

// upgrade runs the machine on a simulated cluster, which it reads and changes through the client. Deployments are those of facts.
type upgrade struct {
	t       *testing.T
	cluster *simulated.Cluster
	client  ceph.Client
	facts   cu.Facts
	memory  cu.Memory
	state   string
	data    cu.Data
	changed []string
	waits   map[string]bool
	// asked are the commands, and broken the daemons whose Deployment cannot be changed.
	asked  []string
	broken []ceph.Daemon
	// failed are the effects that failed.
	failed []string
	// replaced is when the daemons were replaced, in milliseconds.
	replaced map[ceph.Daemon]int64
}

// Run notes the command. It implements clients/ceph.Runner.
func (u *upgrade) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	u.asked = append(u.asked, strings.Join(command.Args, " "))
	return u.cluster.Run(ctx, command)
}

func newUpgrade(t *testing.T, from, to string) *upgrade {
	t.Helper()
	return newUpgradeOf(t, cephtest.Releases()[from], cephtest.Releases()[to], append(cephtest.Daemons(), ceph.Daemon{Type: ceph.TypeRGW, ID: "store.a"})...)
}

func newUpgradeOf(t *testing.T, from, to versions.Version, daemons ...ceph.Daemon) *upgrade {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := simulated.New(from, daemons...)
	u := &upgrade{t: t, cluster: c, state: cu.Settled, waits: map[string]bool{}, replaced: map[ceph.Daemon]int64{}}
	u.client = ceph.Client{Runner: u}
	u.facts = cu.Facts{
		Attempt: &lifecyclev1.Attempt{ID: "5f2c91a0"},
		Spec:    decision.Situation{Table: table, Wanted: decision.Image{Name: "ceph:" + to.String(), Detected: true, Version: to}},
	}
	for i := range c.Daemons {
		d := &c.Daemons[i]
		u.facts.Daemons = append(u.facts.Daemons, cu.Daemon{Name: d.Name, Filesystem: d.Filesystem, Launched: d.Version, Newest: d.Version, Ready: true, Pod: "before"})
	}
	return u
}

func (u *upgrade) now() time.Time { return time.UnixMilli(u.cluster.Now) }

func fact[T any](u *upgrade, value T, err error) transitions.Fact[T] {
	if err != nil {
		return transitions.Unreadable[T](err)
	}
	return transitions.Known(value, u.now())
}

func (u *upgrade) read(ctx context.Context) (c cu.Cluster, err error) {
	if c.Quorum, err = u.client.Quorum(ctx); err != nil {
		return c, err
	}
	if c.Managers, err = u.client.Managers(ctx); err != nil {
		return c, err
	}
	if c.OSDs, err = u.client.OSDMap(ctx); err != nil {
		return c, err
	}
	if c.PGs, err = u.client.PGs(ctx); err != nil {
		return c, err
	}
	if c.Filesystems, err = u.client.Filesystems(ctx); err != nil {
		return c, err
	}
	for _, t := range ceph.Types() {
		if t == ceph.TypeRGW {
			continue
		}
		some, err := u.client.Metadata(ctx, t)
		if err != nil {
			return c, err
		}
		c.Metadata = append(c.Metadata, some...)
	}
	return c, nil
}

func (u *upgrade) observe(ctx context.Context) *cu.Facts {
	f := u.facts
	c, err := u.read(ctx)
	f.Cluster, f.Memory, f.Orphans = fact(u, c, err), fact(u, u.memory, nil), fact(u, []int64(nil), nil)
	h, err := u.client.Health(ctx)
	f.Health = fact(u, h, err)
	name := u.data.Step.Daemon
	f.Permission, f.Self = transitions.Pending[ceph.OKToStop](), transitions.Pending[versions.Version]()
	if name.ID != "" {
		if u.state != cu.AwaitingHealth {
			answer, err := u.client.OKToStop(ctx, name, []ceph.Daemon{name})
			f.Permission = fact(u, answer, err)
		}
		self, err := u.client.Tell(ctx, name)
		if name.Type == ceph.TypeRGW {
			self, err = daemon(&f, name).Launched, nil
		}
		f.Self = fact(u, self, err)
	}
	return &f
}

// pass takes one transition, or runs the action of the state.
func (u *upgrade) pass(ctx context.Context) {
	f, definition := u.observe(ctx), cu.Definition()
	for i := range definition.Transitions {
		row := &definition.Transitions[i]
		if row.From != u.state {
			continue
		}
		pick := func(f *cu.Facts, d cu.Data) (transitions.Verdict, cu.Data) { return row.When.Verdict(f, d), d }
		if row.Choose != nil {
			pick = row.Choose.Pick
		}
		verdict, data := pick(f, u.data)
		switch {
		case verdict.Answer == transitions.Yes:
			if row.ClearData {
				data = cu.Data{}
			}
			u.state, u.data = row.To, data
			return
		case row.Awaited:
			u.waits[u.state+": "+verdict.Observed] = true
		}
		if verdict.Answer == transitions.Unknown {
			return
		}
	}
	for i := range definition.States {
		if s := &definition.States[i]; s.Name == u.state && s.Action != nil {
			effects := s.Action.Effects(f, u.data)
			if len(effects) > 0 && !s.Action.Precondition.IsZero() {
				if answer := s.Action.Precondition.Verdict(f, u.data).Answer; answer == transitions.No {
					u.state = s.Action.OnPreconditionFailed
					return
				} else if answer != transitions.Yes {
					return
				}
			}
			for _, e := range effects {
				u.execute(ctx, e)
			}
		}
	}
}

// advance runs the machine for the seconds, or until something holds, and reports whether it does.
func (u *upgrade) advance(seconds int, holds func() bool) bool {
	for range 2 * seconds {
		if holds() {
			return true
		}
		u.pass(u.t.Context())
		u.cluster.Advance(u.cluster.Now + 500)
	}
	return holds()
}

// wait runs the machine for the seconds, every ten.
func (u *upgrade) wait(seconds int) {
	for range seconds / 10 {
		u.pass(u.t.Context())
		u.cluster.Advance(u.cluster.Now + 10_000)
	}
}

// settled reports whether an upgrade has ended.
func (u *upgrade) settled() bool { return u.state == cu.Settled && len(u.changed) > 0 }

func (u *upgrade) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

func (u *upgrade) execute(ctx context.Context, e cu.Effect) {
	number := 0
	_, _ = fmt.Sscan(e.Daemon.ID, &number)
	without := func(s cu.Settings) bool { return s.Filesystem == e.Settings.Filesystem }
	switch e.Verb {
	case cu.Record:
		u.memory.Upgrade = e.Upgrade
	case cu.SetNoOut:
		u.memory.NoOut = append(u.memory.NoOut, e.Daemon.ID)
		u.must(u.client.SetNoOut(ctx, number, true))
	case cu.UnsetNoOut:
		u.must(u.client.SetNoOut(ctx, number, false))
		u.memory.NoOut = slices.DeleteFunc(u.memory.NoOut, func(id string) bool { return id == e.Daemon.ID })
	case cu.RecordSettings:
		u.memory.Settings = append(u.memory.Settings, e.Settings)
	case cu.RestoreSettings, cu.Apply:
		if e.Verb == cu.RestoreSettings {
			u.memory.Settings = slices.DeleteFunc(u.memory.Settings, without)
		}
		u.must(u.client.SetMaxMDS(ctx, e.Settings.Filesystem, e.Settings.MaxMDS))
		u.must(u.client.SetStandbyReplay(ctx, e.Settings.Filesystem, e.Settings.StandbyReplay))
	case cu.Stop:
		u.cluster.Stop(e.Daemon)
		daemon(&u.facts, e.Daemon).Stopped = true
		u.changed = append(u.changed, "stop "+e.Daemon.String())
	case cu.FailOver:
		u.must(u.client.FailMgr(ctx, e.Daemon.ID))
	case cu.Require:
		if err := u.client.RequireOSDRelease(ctx, e.Release); err != nil {
			u.failed = append(u.failed, "require "+e.Release)
			return
		}
		u.changed = append(u.changed, "require "+e.Release)
	case cu.Replace:
		if slices.Contains(u.broken, e.Daemon) {
			u.failed = append(u.failed, e.Daemon.String())
			return
		}
		d := daemon(&u.facts, e.Daemon)
		d.Image, d.Launched, d.Newest, d.Stopped, d.Pod, d.StartedAt = e.Image, e.Version, e.Version, false, fmt.Sprintf("%s-%d", e.Daemon, u.cluster.Now), u.now()
		u.cluster.Stop(e.Daemon)
		u.must(u.cluster.Start(e.Daemon, e.Version, d.Pod))
		u.replaced[e.Daemon] = u.cluster.Now
		u.changed = append(u.changed, e.Daemon.String())
	default:
		u.t.Fatalf("no effect %s is expected", e.Verb)
	}
}

// TestDefinitionUpgradesACluster runs the machine until it rests, and checks that it leaves nothing behind.
func TestDefinitionUpgradesACluster(t *testing.T) {
	first := []string{"mon.b", "mon.c", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2"}
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"14 to 16": {"14", "16", append(slices.Clone(first), "require pacific", "rgw.store.a", "stop mds.myfs-b", "mds.myfs-a", "mds.myfs-b")},
		"16 to 18": {"16", "18", append(slices.Clone(first), "require reef", "rgw.store.a", "mds.myfs-b", "mds.myfs-a")},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpgrade(t, c.from, c.to)
			u.advance(1_500, u.settled)
			if u.state != cu.Settled {
				t.Errorf("it ends in %s with %v; it waited for %v", u.state, u.data, u.waits)
			}
			if diff := cmp.Diff(c.want, u.changed); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(u.memory.NoOut) > 0 || len(u.memory.Settings) > 0 {
				t.Errorf("it leaves %v behind", u.memory)
			}
			t.Logf("%d s, waited for %v", u.cluster.Now/1000, u.waits)
		})
	}
}

package cephtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// Setup is the cluster that a row begins with: three monitors a, b and c, two managers a and b, three OSDs and the metadata servers
// myfs-a and myfs-b, all running and healthy. Its pools have three copies and serve with two.
type Setup struct {
	// Release runs on every daemon.
	Release string
}

// World is a cluster under test. Its methods fail if what they wait for does not happen before the context ends.
type World interface {
	// Client returns a client of the cluster.
	Client() ceph.Client
	// Start starts the process of a daemon on a release and returns without waiting for its role. It fails with *Died if the process
	// ends at once.
	Start(ctx context.Context, d ceph.Daemon, release string) error
	// Stop ends the process of a daemon with SIGTERM, and returns once it has ended.
	Stop(ctx context.Context, d ceph.Daemon) error
	// Pass waits until the condition is true. It fails with the error of the condition.
	Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error
}

// Died is a process that ended while it was being started.
type Died struct {
	Daemon ceph.Daemon
	// Words are the log lines that show why it ended.
	Words string
}

func (d *Died) Error() string { return fmt.Sprintf("%s died: %s", d.Daemon, d.Words) }

// Behaviour is one row of the table.
type Behaviour struct {
	Name  string
	Setup Setup
	// Given are the steps that set the situation up. None of them may fail.
	Given []Step
	// When is the step under test. It fails if the behaviour differs.
	When Step
}

// Step is one step of a row.
type Step struct {
	Name string
	Do   func(ctx context.Context, w World) error
}

// Run runs the row on the world that build creates for it. build must register its own clean-up.
func (b Behaviour) Run(ctx context.Context, t *testing.T, build func(t *testing.T, s Setup) World) {
	t.Helper()
	w := build(t, b.Setup)
	for _, s := range b.Given {
		if err := s.Do(ctx, w); err != nil {
			t.Fatalf("given: %s: %v", s.Name, err)
		}
	}
	if err := b.When.Do(ctx, w); err != nil {
		t.Fatalf("when: %s: %v", b.When.Name, err)
	}
}

// Releases returns the versions that the table uses, by release.
func Releases() map[string]versions.Version {
	return map[string]versions.Version{
		"14": {Major: 14, Minor: 2, Patch: 21, Commit: "5ef401921d7a88aea18ec7558f7f9374ebd8f5a6"},
		"16": {Major: 16, Minor: 2, Patch: 15, Commit: "618f440892089921c3e944a991122ddc44e60516"},
		"18": {Major: 18, Minor: 2, Patch: 7, Commit: "6b0e988052ec84cf2d4a54ff9bbbc5e720b621ad"},
	}
}

// Daemons returns the daemons of every row.
func Daemons() []ceph.Daemon {
	var out []ceph.Daemon
	for t, ids := range map[ceph.Type][]string{ceph.TypeMon: {"a", "b", "c"}, ceph.TypeMgr: {"a", "b"}, ceph.TypeOSD: {"0", "1", "2"}, ceph.TypeMDS: {"myfs-a", "myfs-b"}} {
		for _, id := range ids {
			out = append(out, ceph.Daemon{Type: t, ID: id})
		}
	}
	return out
}

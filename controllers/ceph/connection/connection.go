// Package connection connects the operator to Ceph clusters: how a cluster is reached, what is asked of it, and which commands are sent
// to it.
package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// Endpoint identifies a Ceph cluster, and how it is reached.
type Endpoint struct {
	// Name and UID of the Cluster.
	Name types.NamespacedName
	UID  types.UID
	// Config is ceph.conf with the addresses of the monitors.
	Config string
	// KeysFrom is the monitor that is asked about stored keys; zero for any.
	KeysFrom ceph.Daemon
	// Keyring authenticates as client.admin. It is secret.
	Keyring string
}

// Object returns the Cluster.
func (e Endpoint) Object() (types.NamespacedName, types.UID) { return e.Name, e.UID }

// BuiltFrom returns what a client is built from. It does not leave the process.
func (e Endpoint) BuiltFrom() string { return e.Config + "\n" + e.KeysFrom.String() + "\n" + e.Keyring }

// Question is a need about a cluster, or about one of its daemons.
type Question struct {
	Need   transitions.Need
	Daemon ceph.Daemon
}

// Answer to a question. The field of its need is set.
type Answer struct {
	Cluster    *cephupgrade.Cluster
	Health     *ceph.Health
	Permission *ceph.OKToStop
	Self       *versions.Version
	Memory     *cephupgrade.Memory
	Sessions   *[]ceph.Session
}

type (
	// System reads from Ceph clusters and sends commands to them.
	System = external.System[Endpoint, Question, Answer, Command]
	// Polled is the System of a manager.
	Polled = external.Polled[Endpoint, ceph.Client, Question, Answer, Command]
	// Direct is the System of plans and tests.
	Direct = external.Direct[Endpoint, ceph.Client, Question, Answer, Command]
	// Query is one question to a cluster.
	Query = external.Query[Question]
	// Reading is the result of a Query.
	Reading = external.Reading[Answer]
	// Protocol is how Ceph is asked and commanded.
	Protocol = external.Protocol[Endpoint, ceph.Client, Question, Answer, Command]
)

// NewProtocol returns the protocol of Ceph. connect creates the runner for a cluster and the function that closes it.
func NewProtocol(connect func(Endpoint) (ceph.Runner, func(), error)) Protocol {
	return Protocol{
		Connect: func(e Endpoint) (ceph.Client, func(), error) {
			runner, done, err := connect(e)
			return ceph.Client{Runner: runner, KeysFrom: e.KeysFrom}, done, err
		},
		Ask: ask, Together: together, Execute: Execute, Outcome: outcome,
	}
}

// outcome converts an error of a command.
func outcome(err error) external.Answer {
	a := external.Answer{State: external.Failed, Text: err.Error()}
	if refused, ok := ceph.AsRefused(err); ok {
		a.State, a.Name, a.Text = external.Refused, refused.Name, refused.Text
	} else if ceph.IsOutcomeUnknown(err) {
		a.State = external.Unknown
	}
	return a
}

func ask(ctx context.Context, c ceph.Client, q Question) (a Answer, err error) {
	switch q.Need {
	case cephupgrade.NeedCluster:
		a.Cluster, err = pointer(cluster(ctx, c))
	case cephupgrade.NeedHealth:
		a.Health, err = pointer(c.Health(ctx))
	case cephupgrade.NeedPermission:
		a.Permission, err = pointer(permission(ctx, c, q.Daemon))
	case cephupgrade.NeedSelf:
		a.Self, err = pointer(c.Tell(ctx, q.Daemon))
	case cephupgrade.NeedMemory:
		a.Memory, err = pointer(memory(ctx, c))
	case cephupgrade.NeedOrphans:
		a.Sessions, err = pointer(c.Sessions(ctx, q.Daemon.ID))
	default:
		err = fmt.Errorf("asking Ceph: %q is no question", q.Need)
	}
	return a, err
}

func pointer[T any](value T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &value, nil
}

// reader reads several maps. The first error ends it.
type reader struct {
	ctx context.Context //nolint:containedctx // of one reading
	err error
}

func read[T any](r *reader, into *T, question func(context.Context) (T, error)) {
	if r.err == nil {
		*into, r.err = question(r.ctx)
	}
}

// Commands that the monitors answer, whatever the managers do.
const (
	quorumStatus = "quorum_status"
	osdDump      = "osd dump"
	fsDump       = "fs dump"
)

// reported are the types of daemons that report metadata.
func reported() []ceph.Type {
	return []ceph.Type{ceph.TypeMon, ceph.TypeMgr, ceph.TypeOSD, ceph.TypeMDS}
}

// allMaps are the commands of cluster.
func allMaps() []string {
	commands := []string{quorumStatus, "mgr dump", osdDump, fsDump}
	for _, t := range reported() {
		commands = append(commands, string(t)+" metadata")
	}
	return commands
}

// together asks with one call what the monitors answer for these questions. A check of a permission needs most of them, and on a machine
// with much load a program for each would not end in time. Without answers, each question is asked by itself.
func together(ctx context.Context, c ceph.Client, questions []Question) ceph.Client {
	var commands []string
	for _, q := range questions {
		switch q.Need {
		case cephupgrade.NeedCluster:
			commands = append(commands, allMaps()...)
		case cephupgrade.NeedHealth:
			commands = append(commands, "health detail")
		case cephupgrade.NeedMemory:
			if c.KeysFrom == (ceph.Daemon{}) { // a question to one monitor is a call of its own
				commands = append(commands, "config-key dump "+keyPrefix)
			}
		case cephupgrade.NeedPermission:
			switch q.Daemon.Type {
			case ceph.TypeMon:
				commands = append(commands, quorumStatus)
			case ceph.TypeOSD:
				commands = append(commands, osdDump)
			case ceph.TypeMDS:
				commands = append(commands, fsDump)
			case ceph.TypeMgr, ceph.TypeRGW:
			}
		}
	}
	slices.Sort(commands)
	if commands = slices.Compact(commands); len(commands) < 2 {
		return c
	}
	if with, err := c.Together(ctx, commands...); err == nil {
		return with
	}
	return c
}

// cluster reads all maps. The states of the placement groups are asked for afterwards: without a manager they are unknown, and the
// question is not answered. A manager that has just become active has no statistics yet: the maps are known nevertheless.
func cluster(ctx context.Context, c ceph.Client) (out cephupgrade.Cluster, err error) {
	if c, err = c.Together(ctx, allMaps()...); err != nil {
		return out, err
	}
	r := &reader{ctx: ctx}
	read(r, &out.Quorum, c.Quorum)
	read(r, &out.Managers, c.Managers)
	read(r, &out.OSDs, c.OSDMap)
	read(r, &out.Filesystems, c.Filesystems)
	for _, t := range reported() {
		var of []ceph.Metadata
		read(r, &of, func(ctx context.Context) ([]ceph.Metadata, error) { return c.Metadata(ctx, t) })
		out.Metadata = append(out.Metadata, of...)
	}
	out.PGs = ceph.UnknownPGs()
	if r.err == nil && out.Managers.Available {
		if pgs, err := c.PGs(ctx); err == nil {
			out.PGs = pgs
		}
	}
	return out, r.err
}

// permission asks about a daemon that a map of the same moment has.
func permission(ctx context.Context, c ceph.Client, d ceph.Daemon) (ceph.OKToStop, error) {
	r := &reader{ctx: ctx}
	var known []ceph.Daemon
	switch d.Type {
	case ceph.TypeMon:
		var q ceph.Quorum
		read(r, &q, c.Quorum)
		for _, id := range q.Monitors {
			known = append(known, ceph.Daemon{Type: ceph.TypeMon, ID: id})
		}
	case ceph.TypeOSD:
		var m ceph.OSDMap
		read(r, &m, c.OSDMap)
		for _, o := range m.OSDs {
			known = append(known, o.Daemon())
		}
	case ceph.TypeMDS:
		var f ceph.Filesystems
		read(r, &f, c.Filesystems)
		for _, s := range f.Standbys {
			known = append(known, ceph.Daemon{Type: ceph.TypeMDS, ID: s.Name})
		}
		for i := range f.Filesystems {
			for _, s := range f.Filesystems[i].MDS {
				known = append(known, ceph.Daemon{Type: ceph.TypeMDS, ID: s.Name})
			}
		}
	case ceph.TypeMgr, ceph.TypeRGW:
		known = []ceph.Daemon{d}
	}
	if r.err != nil {
		return ceph.OKToStop{}, r.err
	}
	return c.OKToStop(ctx, d, known)
}

// Keys of what an upgrade stores in the monitors' key store.
const (
	keyPrefix = "detent/"
	// KeyUpgrade is that of the attempt.
	KeyUpgrade  = keyPrefix + "upgrade"
	keyNoOut    = keyPrefix + "noout/"
	keySettings = keyPrefix + "restore/"
)

// memory reads what an upgrade stored. An entry that cannot be read is an error: what it says would be lost otherwise.
func memory(ctx context.Context, c ceph.Client) (m cephupgrade.Memory, err error) {
	entries, err := c.Keys(ctx, keyPrefix)
	if err != nil {
		return m, err
	}
	for key, value := range entries {
		switch {
		case key == KeyUpgrade:
			err = json.Unmarshal([]byte(value), &m.Upgrade)
		case strings.HasPrefix(key, keyNoOut):
			m.NoOut = append(m.NoOut, strings.TrimPrefix(key, keyNoOut))
		case strings.HasPrefix(key, keySettings):
			var s cephupgrade.Settings
			err = json.Unmarshal([]byte(value), &s)
			m.Settings = append(m.Settings, s)
		}
		if err != nil {
			return m, fmt.Errorf("reading the key %s: %w", key, err)
		}
	}
	slices.Sort(m.NoOut)
	slices.SortFunc(m.Settings, func(a, b cephupgrade.Settings) int { return strings.Compare(a.Filesystem, b.Filesystem) })
	return m, nil
}

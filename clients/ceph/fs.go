package ceph

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Filesystems are the filesystems and the metadata servers.
type Filesystems struct {
	// Filesystems sorted by name.
	Filesystems []Filesystem
	// Standbys are the metadata servers without a filesystem, sorted by name.
	Standbys []MDS
}

// Filesystem is one filesystem.
type Filesystem struct {
	Name string
	// ID is the number by which a metadata server may be bound to it.
	ID int
	// MaxMDS is the wanted number of active metadata servers.
	MaxMDS int
	// StandbysWanted is the number of standbys below which the health code MDS_INSUFFICIENT_STANDBY is raised.
	StandbysWanted int
	// StandbyReplay means that standbys follow the active metadata servers.
	StandbyReplay bool
	// Failed are the ranks without a metadata server, and Damaged those that cannot be served.
	Failed, Damaged []int
	// MDS are its metadata servers, sorted by name: the active ones and those that follow one.
	MDS []MDS
}

// MDS is one metadata server.
type MDS struct {
	Name string
	// Rank is -1 for a standby.
	Rank int
	// State such as up:active, up:standby or up:reconnect.
	State string
	// JoinsID is the ID of the filesystem that it joins first, -1 for any.
	JoinsID int
	// Laggy means that the monitors do not hear from it. Without another one that could take over, they leave it its rank and its state.
	Laggy bool
}

// The states of a metadata server in its role.
const (
	MDSActive        = "up:active"
	MDSStandby       = "up:standby"
	MDSStandbyReplay = "up:standby-replay"
)

// flagStandbyReplay is the bit of allow_standby_replay in the flags of a filesystem (CEPH_MDSMAP_ALLOW_STANDBY_REPLAY).
const flagStandbyReplay = 1 << 5

// Filesystems returns the filesystems and the metadata servers.
func (c Client) Filesystems(ctx context.Context) (Filesystems, error) {
	return question[fsAnswer](ctx, c, "reading the filesystems", "fs", "dump")
}

type fsAnswer struct {
	Standbys    []mdsAnswer `json:"standbys"`
	Filesystems []struct {
		ID  *int `json:"id"`
		Map *struct {
			Name    string               `json:"fs_name"`
			Flags   *int                 `json:"flags"`
			MaxMDS  *int                 `json:"max_mds"`
			Wanted  *int                 `json:"standby_count_wanted"`
			Failed  []int                `json:"failed"`
			Damaged []int                `json:"damaged"`
			Info    map[string]mdsAnswer `json:"info"`
		} `json:"mdsmap"`
	} `json:"filesystems"`
}

type mdsAnswer struct {
	Name  string `json:"name"`
	Rank  *int   `json:"rank"`
	State string `json:"state"`
	Joins *int   `json:"join_fscid"`
	// Laggy is absent unless the monitors do not hear from it.
	Laggy string `json:"laggy_since"`
}

func (a mdsAnswer) read() (MDS, error) {
	if a.Name == "" || a.Rank == nil || a.State == "" {
		return MDS{}, missing("name, rank or state of a metadata server")
	}
	m := MDS{Name: a.Name, Rank: *a.Rank, State: a.State, JoinsID: -1, Laggy: a.Laggy != ""}
	if a.Joins != nil { // absent in release 14
		m.JoinsID = *a.Joins
	}
	return m, nil
}

func (a fsAnswer) read() (Filesystems, error) {
	if a.Standbys == nil || a.Filesystems == nil {
		return Filesystems{}, missing("standbys or filesystems")
	}
	var out Filesystems
	var err error
	if out.Standbys, err = readMDS(a.Standbys); err != nil {
		return Filesystems{}, err
	}
	for _, f := range a.Filesystems {
		m := f.Map
		if f.ID == nil || m == nil || m.Name == "" || m.Flags == nil || m.MaxMDS == nil || m.Wanted == nil || m.Info == nil || m.Failed == nil || m.Damaged == nil {
			return Filesystems{}, missing("id or mdsmap of a filesystem")
		}
		one := Filesystem{Name: m.Name, ID: *f.ID, MaxMDS: *m.MaxMDS, StandbysWanted: *m.Wanted, StandbyReplay: *m.Flags&flagStandbyReplay != 0, Failed: m.Failed, Damaged: m.Damaged}
		if one.MDS, err = readMDS(slices.Collect(maps.Values(m.Info))); err != nil {
			return Filesystems{}, err
		}
		out.Filesystems = append(out.Filesystems, one)
	}
	slices.SortFunc(out.Filesystems, func(a, b Filesystem) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func readMDS(answers []mdsAnswer) ([]MDS, error) {
	var out []MDS
	for _, a := range answers {
		m, err := a.read()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b MDS) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// SetMaxMDS sets the number of active metadata servers of a filesystem.
func (c Client) SetMaxMDS(ctx context.Context, filesystem string, count int) error {
	return c.do(ctx, fmt.Sprintf("setting max_mds of the filesystem %s to %d", filesystem, count),
		Command{Args: []string{"fs", "set", filesystem, "max_mds", strconv.Itoa(count)}})
}

// SetStandbysWanted sets the number of standbys of a filesystem below which a health code is raised.
func (c Client) SetStandbysWanted(ctx context.Context, filesystem string, count int) error {
	return c.do(ctx, fmt.Sprintf("setting standby_count_wanted of the filesystem %s to %d", filesystem, count),
		Command{Args: []string{"fs", "set", filesystem, "standby_count_wanted", strconv.Itoa(count)}})
}

// SetStandbyReplay sets whether standbys of a filesystem follow its active metadata servers.
func (c Client) SetStandbyReplay(ctx context.Context, filesystem string, allow bool) error {
	return c.do(ctx, fmt.Sprintf("setting allow_standby_replay of the filesystem %s to %t", filesystem, allow),
		Command{Args: []string{"fs", "set", filesystem, "allow_standby_replay", strconv.FormatBool(allow)}})
}

// Session is a client's session at a metadata server.
type Session struct {
	ID int64
	// Host is the name of the client's host: in a container the name of its pod.
	Host string
	// Entity is the id of the client without its type: of mgr.a it is a. It is empty if the client does not say it.
	Entity string
	// State such as open or stale.
	State string
}

// Sessions returns the sessions of an active metadata server.
func (c Client) Sessions(ctx context.Context, mds string) ([]Session, error) {
	return question[sessionAnswer](ctx, c, "reading the sessions of mds."+mds, "tell", "mds."+mds, "session", "ls")
}

type sessionAnswer []struct {
	ID       *int64 `json:"id"`
	State    string `json:"state"`
	Metadata struct {
		Host   string `json:"hostname"`
		Entity string `json:"entity_id"`
	} `json:"client_metadata"`
}

func (a sessionAnswer) read() ([]Session, error) {
	out := make([]Session, 0, len(a))
	for _, s := range a {
		if s.ID == nil {
			return nil, missing("id of a session")
		}
		out = append(out, Session{ID: *s.ID, Host: s.Metadata.Host, Entity: s.Metadata.Entity, State: s.State})
	}
	return out, nil
}

// Evict ends the session of a client at a metadata server and blocks the client's address. Ceph accepts a session that does not
// exist.
func (c Client) Evict(ctx context.Context, mds string, session int64) error {
	return c.do(ctx, fmt.Sprintf("evicting session %d from mds.%s", session, mds),
		Command{Args: []string{"tell", "mds." + mds, "client", "evict", "id=" + strconv.FormatInt(session, 10)}})
}

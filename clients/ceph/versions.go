package ceph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/detent-dev/detent/clients/ceph/versions"
)

// Running is how many daemons of each type run which version, by what the monitors and the active manager know. It is up to five
// seconds old, and lacks OSDs that are down.
type Running map[Type]map[versions.Version]int

// Versions returns what the daemons run.
func (c Client) Versions(ctx context.Context) (Running, error) {
	return question[versionsAnswer](ctx, c, "reading the versions of the daemons", "versions")
}

type versionsAnswer map[string]map[string]int

func (a versionsAnswer) read() (Running, error) {
	if a["overall"] == nil || a["mon"] == nil {
		return nil, missing("overall and mon")
	}
	out := Running{}
	for _, t := range Types() {
		for text, count := range a[string(t)] {
			v, err := versions.ParseOutput(text)
			if err != nil {
				return nil, err
			}
			if count <= 0 {
				return nil, fmt.Errorf("%d daemons of type %s run %s", count, t, v)
			}
			if out[t] == nil {
				out[t] = map[versions.Version]int{}
			}
			out[t][v] += count
		}
	}
	return out, nil
}

// Least returns the oldest version that runs, of the given types or of all, and false if no such daemon runs.
func (r Running) Least(types ...Type) (versions.Version, bool) {
	if len(types) == 0 {
		types = Types()
	}
	var all []versions.Version
	for _, t := range types {
		all = slices.AppendSeq(all, maps.Keys(r[t]))
	}
	if len(all) == 0 {
		return versions.Version{}, false
	}
	return slices.MinFunc(all, versions.Version.Compare), true
}

// Tell asks the daemon itself which version it runs. It fails while the daemon does not answer, so that the answer is never that of
// its previous process. A standby manager does not answer, and no manager of release 14: Metadata has what it reported at its start,
// with its pod. The version of a development build that reports none is zero.
func (c Client) Tell(ctx context.Context, d Daemon) (versions.Version, error) {
	return question[tellAnswer](ctx, c, "asking "+d.String()+" for its version", "tell", d.String(), "version")
}

type tellAnswer struct {
	Version string `json:"version"`
}

func (a tellAnswer) read() (versions.Version, error) {
	if a.Version == "" {
		return versions.Version{}, missing("version")
	}
	if v, err := versions.ParseNumber(a.Version); err == nil {
		return v, nil
	}
	if a.Version == "Development" {
		return versions.Version{}, nil
	}
	v, _, err := parsed(a.Version) // the form of release 14
	if err == nil {
		return v, nil
	}
	if v, err := versions.ParseOutput("ceph version " + a.Version); err == nil { // a number with the suffix of a distribution, such as 18.2.1-194.el9cp
		return v, nil
	}
	return versions.Version{}, err
}

// parsed reads the version in the text of a daemon. A development build that reports none is no error: the daemon runs.
func parsed(text string) (v versions.Version, isUnversioned bool, err error) {
	v, err = versions.ParseOutput(text)
	if _, is := errors.AsType[*versions.UnversionedError](err); is {
		return versions.Version{}, true, nil
	}
	return v, false, err
}

// Metadata is what a daemon reported of itself when it last started.
type Metadata struct {
	Daemon Daemon
	// Version is zero if it has not reported itself, or is a development build without one.
	Version versions.Version
	// Unversioned means that it has reported itself, as a development build without a version.
	Unversioned bool `json:",omitempty"`
	// Pod is its pod. Empty for a daemon that runs in none.
	Pod string
}

// Metadata returns the daemons of a type that have reported themselves. It includes daemons that are down: their version is the one
// that they ran last.
func (c Client) Metadata(ctx context.Context, t Type) ([]Metadata, error) {
	if t == TypeRGW {
		return nil, errors.New("reading the metadata of rgw: its daemons report themselves to the manager only")
	}
	all, err := question[metadataAnswer](ctx, c, "reading the metadata of type "+string(t), string(t), "metadata")
	for i := range all {
		all[i].Daemon.Type = t
	}
	return all, err
}

type metadataAnswer []struct {
	ID      *int   `json:"id"`
	Name    string `json:"name"`
	Version string `json:"ceph_version"`
	Pod     string `json:"pod_name"`
}

func (a metadataAnswer) read() ([]Metadata, error) {
	out := make([]Metadata, 0, len(a))
	for _, m := range a {
		id := m.Name
		if m.ID != nil {
			id = fmt.Sprint(*m.ID)
		}
		if id == "" {
			return nil, missing("id or name")
		}
		one := Metadata{Daemon: Daemon{ID: id}, Pod: m.Pod}
		if m.Version != "" { // none has been reported by a daemon that never started
			var err error
			if one.Version, one.Unversioned, err = parsed(m.Version); err != nil {
				return nil, err
			}
		}
		out = append(out, one)
	}
	return out, nil
}

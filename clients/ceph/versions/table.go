package versions

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/transitions"
)

// embeddedSource is the source name in findings about the embedded table.
const embeddedSource = "ceph-versions.yaml"

//go:embed ceph-versions.yaml
var embedded []byte

// Standbys says what happens to the standbys of a filesystem before its active daemon is replaced.
type Standbys string

const (
	// StandbysStop stops them; they start again on the new release after the active daemon.
	StandbysStop Standbys = "stop"
	// StandbysUpgrade replaces them first, so that one of them takes over.
	StandbysUpgrade Standbys = "upgrade"
)

// Release is a row of the table.
type Release struct {
	Major int    `yaml:"major"`
	Name  string `yaml:"name"`
	// Supported reports whether a cluster may be asked to run the release without allowUnsupported. The row of an unsupported release
	// serves clusters that are upgraded from it.
	Supported bool `yaml:"supported"`
	// Lacks is what the operator needs and the release does not have; empty for none. Such a release cannot be run.
	Lacks string `yaml:"lacks"`
	// Dashboard is the protocol of the dashboard: http or https.
	Dashboard string `yaml:"dashboard"`
	// MDSStandbys says what happens to standbys before the active daemon moves to this release.
	MDSStandbys Standbys `yaml:"mdsStandbys"`
	// MDSJoinFS reports whether ceph-mds accepts --mds-join-fs.
	MDSJoinFS bool `yaml:"mdsJoinFS"`
	// KeyService reports whether monitors keep the keys of config-key in a Paxos service of its own. One that does never answers a question
	// about keys while a monitor without it leads.
	KeyService bool `yaml:"keyService"`
	// Daemons are the types that exist in addition to mon, mgr, osd, rgw and mds.
	Daemons []string `yaml:"daemons"`
	// Bad are ranges of versions that must not run.
	Bad []BadRange `yaml:"bad"`
	// Health adds to the classes of the table.
	Health Health `yaml:"health"`
}

// BadRange is a range of versions that must not run, both ends included.
type BadRange struct {
	From   string `yaml:"from"`
	To     string `yaml:"to"`
	Reason string `yaml:"reason"`

	from, to Version
}

// Table is the Ceph releases that the operator knows. It is immutable after it was parsed, and safe for concurrent use.
type Table struct {
	source string
	file   file
}

// Embedded returns the table that the binary contains. It fails only if the binary was built with an invalid table.
func Embedded() (*Table, error) { return Parse(embedded, embeddedSource) }

// Source returns where the table was read from, for messages.
func (t *Table) Source() string { return t.source }

// DefaultImage returns the image of a cluster whose spec names none.
func (t *Table) DefaultImage() string { return t.file.Default }

// User returns the id of the user ceph in the image.
func (t *Table) User(image string) int64 {
	user, longest := t.file.User, -1
	for prefix, id := range t.file.Users {
		if strings.HasPrefix(image, prefix) && len(prefix) > longest {
			user, longest = id, len(prefix)
		}
	}
	return user
}

// Release returns the row of a major, and false for a release that is not known.
func (t *Table) Release(major int) (*Release, bool) {
	i, found := slices.BinarySearchFunc(t.file.Releases, major, func(r Release, major int) int { return r.Major - major })
	if !found {
		return nil, false
	}
	return &t.file.Releases[i], true
}

// Named returns the release of a name such as reef, as Ceph reports it in require_osd_release.
func (t *Table) Named(name string) (*Release, bool) {
	i := slices.IndexFunc(t.file.Releases, func(r Release) bool { return r.Name == name })
	if i < 0 {
		return nil, false
	}
	return &t.file.Releases[i], true
}

// Describe returns the version with the name of its release, such as "18.2.7 reef".
func (t *Table) Describe(v Version) string {
	if r, known := t.Release(v.Major); known {
		return v.String() + " " + r.Name
	}
	return v.String() + " unknown"
}

// Supported lists the supported releases for users, such as "16 pacific, 18 reef".
func (t *Table) Supported() string {
	var names []string
	for i := range t.file.Releases {
		if r := &t.file.Releases[i]; r.Supported {
			names = append(names, fmt.Sprintf("%d %s", r.Major, r.Name))
		}
	}
	return strings.Join(names, ", ")
}

// Reasons why a version may not run.
const (
	TooOld      transitions.Reason = "TooOld"
	Unsupported transitions.Reason = "Unsupported"
	KnownBad    transitions.Reason = "KnownBad"
	Incapable   transitions.Reason = "Incapable"
)

// Permit returns why the version may not run at all, or nil. allowUnsupported accepts what is not supported or not known, but
// neither a release older than the table, nor one that lacks what the operator needs, nor a version that is known to be bad.
func (t *Table) Permit(v Version, allowUnsupported bool) *transitions.Problem {
	if oldest := t.file.Releases[0]; v.Major < oldest.Major {
		return transitions.Problemf(TooOld, "Ceph %s is older than %d %s, the oldest release that can be managed. Supported are %s", v, oldest.Major, oldest.Name, t.Supported())
	}
	r, known := t.Release(v.Major)
	if known && r.Lacks != "" {
		return transitions.Problemf(Incapable, "Ceph %s cannot be run: it lacks %s. Supported are %s", t.Describe(v), r.Lacks, t.Supported())
	}
	if known {
		for _, b := range r.Bad {
			if v.Compare(b.from) >= 0 && v.Compare(b.to) <= 0 {
				return transitions.Problemf(KnownBad, "Ceph %s must not run: %s. Use a later version of %s", v, b.Reason, r.Name)
			}
		}
	}
	if allowUnsupported || known && r.Supported {
		return nil
	}
	return transitions.Problemf(Unsupported, "Ceph %s is not supported. Supported are %s. To run it anyway, set allowUnsupported to true", t.Describe(v), t.Supported())
}

// Next reports whether a change between two majors skips no supported release. A change to an older or to the same major is none.
func (t *Table) Next(from, to int) (skipped string, ok bool) {
	for i := range t.file.Releases {
		if r := &t.file.Releases[i]; r.Supported && r.Major > from && r.Major < to {
			return fmt.Sprintf("%d %s", r.Major, r.Name), false
		}
	}
	return "", true
}

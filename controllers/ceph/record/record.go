// Package record is what a Ceph cluster consists of and what observation cannot give back: its fsid, the hosts and addresses of its
// monitors, the identities of its OSDs, what each daemon runs and ever ran, and the versions of images. It is stored in a ConfigMap
// without an owner, so that a cluster that was deleted and is created again adopts it.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// Record of one cluster.
type Record struct {
	FSID string `json:"fsid"`
	// Daemons by name, such as mon.a. A daemon is recorded before its Deployment is created.
	Daemons map[string]Daemon `json:"daemons,omitempty"`
	// OSDs are the UUIDs by slot.
	OSDs map[string]string `json:"osds,omitempty"`
	// Removed are the OSDs that were removed from Ceph, by slot. The slot is not used until its UUID is replaced.
	Removed map[string]Removed `json:"removed,omitempty"`
	// Filesystems that were created, by name, with how often it was approved to create them again after they were removed from Ceph.
	Filesystems map[string]int `json:"filesystems,omitempty"`
	// Images by name, with what was detected in them.
	Images map[string]Image `json:"images,omitempty"`
}

// Daemon is what is remembered of a daemon.
type Daemon struct {
	// Image as the spec wrote it, and Reference as pods use it.
	Image     string `json:"image,omitempty"`
	Reference string `json:"reference,omitempty"`
	// Version of the image, and Newest that the daemon was ever started on.
	Version versions.Version `json:"version,omitzero"`
	Newest  versions.Version `json:"newest,omitzero"`
	// Intent is a start that was about to be made; zero without one.
	Intent Intent `json:"intent,omitzero"`
	// ByHand is the image that an administrator set in its Deployment, while its version is not known. ByHandPod is the UID of the pod that
	// existed when it was first seen there, and that has another image.
	ByHand    string `json:"byHand,omitempty"`
	ByHandPod string `json:"byHandPod,omitempty"`
	// Node and Address of a monitor. Directory is its parent directory there, below that of the spec; empty for that of earlier releases,
	// which two clusters may share: the name of a namespace and that of a cluster were joined by a hyphen.
	Node      string `json:"node,omitempty"`
	Address   string `json:"address,omitempty"`
	Directory string `json:"directory,omitempty"`
	// DataDir is what spec.dataDirHostPath was when the monitor was placed; empty until it is known. A Cluster that is created again may
	// declare another one.
	DataDir string `json:"dataDir,omitempty"`
	// CrushHost of an OSD on a volume claim is the node on which it first served, or that was approved since. It stays the host of the OSD in CRUSH.
	CrushHost string `json:"crushHost,omitempty"`
	// BeforeMove is when the container started that ran as another CrushHost was approved; zero if none was. The OSD moves when the next one starts.
	BeforeMove time.Time `json:"beforeMove,omitzero"`
	// Format is whether the data of a monitor or an OSD may be formatted.
	Format Format `json:"format,omitempty"`
	// Remade is how often it was approved to make lost data again. An approval names the next number, so that it holds for one loss.
	Remade int `json:"remade,omitempty"`
	// Slot is the storage of an OSD.
	Slot string `json:"slot,omitempty"`
	// Authorized means that Ceph knows its key.
	Authorized bool `json:"authorized,omitempty"`
	// Absent is since when the OSD map has lacked the OSD, which it had before; zero while it has the OSD.
	Absent time.Time `json:"absent,omitzero"`
}

// Intent is the change of a Deployment that is about to be written. It is recorded first, since the Deployment may be lost as soon as it was
// changed: the daemon counts as started on the version, unless its Deployment shows that it was not.
type Intent struct {
	// Version that the daemon is to start on.
	Version versions.Version `json:"version,omitzero"`
	// Deployment is the UID of the Deployment. Its Generation changes with each change of its spec, and its ResourceVersion with each write.
	Deployment      string `json:"deployment,omitempty"`
	Generation      int64  `json:"generation,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Removed is an OSD that was removed from Ceph.
type Removed struct {
	// OSD is its name.
	OSD string `json:"osd"`
	// Empty means that its storage was found empty before that.
	Empty bool `json:"empty,omitempty"`
	// Served means that it had served, so that its storage has its data unless that was found empty.
	Served bool `json:"served,omitempty"`
}

// Name returns the name of the OSD.
func (r Removed) Name() ceph.Daemon {
	t, id, _ := strings.Cut(r.OSD, ".")
	return ceph.Daemon{Type: ceph.Type(t), ID: id}
}

// Format says whether data may be formatted.
type Format string

const (
	// FormatAllowed: the daemon never served.
	FormatAllowed Format = "allowed"
	// FormatDone: the daemon served. An empty directory is lost data.
	FormatDone Format = "done"
)

// Image is what was detected in an image.
type Image struct {
	// Reference with the digest that was detected. It is the name if the container runtime reports no digest.
	Reference string `json:"reference"`
	// Version is zero for a development build.
	Version versions.Version `json:"version,omitzero"`
}

// Name of the ConfigMap of a cluster.
func Name(cluster string) string { return cluster + "-record" }

const (
	key          = "record"
	formatPrefix = "format."
	hostPrefix   = "crush-host."
)

// FormatKey is the key under which the pod of a daemon finds its Format.
func FormatKey(d ceph.Daemon) string { return formatPrefix + d.String() }

// HostKey is the key under which the pod of an OSD finds its CrushHost. There is none before that is recorded.
func HostKey(d ceph.Daemon) string { return hostPrefix + d.String() }

// Encode returns the data of the ConfigMap.
func Encode(r *Record) (map[string]string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the record of a cluster: %w", err)
	}
	data := map[string]string{key: string(text)}
	for name, d := range r.Daemons {
		if d.Format != "" {
			data[formatPrefix+name] = string(d.Format)
		}
		if d.CrushHost != "" {
			data[hostPrefix+name] = d.CrushHost
		}
	}
	return data, nil
}

var errNoFSID = errors.New("it has no fsid")

// Decode reads the data of the ConfigMap. A record that cannot be read is an error and never empty: an empty one would found a new
// cluster.
func Decode(data map[string]string) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal([]byte(data[key]), r); err != nil {
		return nil, fmt.Errorf("reading the record of a cluster: %w", err)
	}
	if r.FSID == "" {
		return nil, fmt.Errorf("reading the record of a cluster: %w", errNoFSID)
	}
	for name := range r.Daemons {
		if _, err := daemonOf(name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func daemonOf(name string) (ceph.Daemon, error) {
	t, id, found := strings.Cut(name, ".")
	if !found || id == "" || !slices.Contains(ceph.Types(), ceph.Type(t)) {
		return ceph.Daemon{}, fmt.Errorf("reading the record of a cluster: %q is no daemon", name)
	}
	return ceph.Daemon{Type: ceph.Type(t), ID: id}, nil
}

// Clone returns an independent copy.
func (r *Record) Clone() *Record {
	out := *r
	out.Daemons, out.OSDs, out.Removed, out.Images = maps.Clone(r.Daemons), maps.Clone(r.OSDs), maps.Clone(r.Removed), maps.Clone(r.Images)
	out.Filesystems = maps.Clone(r.Filesystems)
	return &out
}

// Names returns the recorded daemons, by type in the order of an upgrade and by id.
func (r *Record) Names() (all []ceph.Daemon) {
	for name := range r.Daemons {
		if d, err := daemonOf(name); err == nil {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b ceph.Daemon) int {
		if by := slices.Index(ceph.Types(), a.Type) - slices.Index(ceph.Types(), b.Type); by != 0 {
			return by
		}
		if by := len(a.ID) - len(b.ID); by != 0 && a.Type == ceph.TypeOSD {
			return by
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all
}

// ImageOf returns an image of the version, and false if none is recorded.
func (r *Record) ImageOf(v versions.Version) (name string, i Image, found bool) {
	for _, name := range slices.Sorted(maps.Keys(r.Images)) {
		if i := r.Images[name]; !v.IsZero() && i.Version.Same(v) {
			return name, i, true
		}
	}
	return "", Image{}, false
}

// Of returns the daemons of a type.
func (r *Record) Of(t ceph.Type) []ceph.Daemon {
	return slices.DeleteFunc(r.Names(), func(d ceph.Daemon) bool { return d.Type != t })
}

// Slot returns the storage of the OSD with the UUID, and false if it is not of this cluster.
func (r *Record) Slot(uuid string) (string, bool) {
	for slot, of := range r.OSDs {
		if of == uuid {
			return slot, true
		}
	}
	return "", false
}

package render

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

func (d *daemon) mon() {
	self := d.Record.Daemons[d.Name.String()].Address
	d.on(d.runs.Node)
	d.hostData(monDirectory(d.Cluster, d.Record, d.Name))
	d.format(d.findStore(), d.makeStore(self))
	d.main.Command = []string{"ceph-mon", "--foreground", "--id=" + d.Name.ID, "--public-addr=" + self, "--public-bind-addr=$(POD_IP)"}
	d.main.Ports = []corev1.ContainerPort{
		{Name: "tcp-msgr2", ContainerPort: portV2, Protocol: corev1.ProtocolTCP}, {Name: "tcp-msgr1", ContainerPort: portV1, Protocol: corev1.ProtocolTCP},
	}
	// The Service forgets the pod before the process ends: connections of other monitors to it would otherwise hang.
	d.main.Lifecycle = stopsAfter(2)
}

// mark is the file beside the store of a monitor that says that it was made, and for which cluster. One of an earlier release is empty.
const mark = "formatted"

// findStore is the script that finds the store of a monitor. Without the mark it is of a monitor that ended while it made it, unless it has
// served. The data of a host outlives the objects of a cluster: a monitor that started on that of another one would serve with its monmap and
// its keys, which nobody has any more. The mark of a monitor that has served is completed.
func (d *daemon) findStore() string {
	return strings.NewReplacer("DIRECTORY", d.directory(), "MARK", d.directory()+"/"+mark, "RECORD", recordDir, "ALLOWED", string(record.FormatAllowed), "FSID", d.Record.FSID).Replace(strings.TrimSpace(`
if test -e DIRECTORY/store.db && { test -e MARK || test "$(cat RECORD/format)" != ALLOWED; }; then
  expects cluster "$(head -c 64 MARK 2>/dev/null)" FSID
  if ! test -s MARK && test "$(cat RECORD/format)" != ALLOWED; then echo FSID > MARK || true; fi
  exit 0
fi
`))
}

// makeStore is the script that makes the store of a monitor with the address. What an earlier attempt left is removed. The monmap has the
// names of all monitors: one of monitors without names ends with an assertion at its first election.
func (d *daemon) makeStore(address string) string {
	return strings.NewReplacer("DIRECTORY", d.directory(), "MONMAP", "/etc/ceph/"+monmapKey, "MARK", d.directory()+"/"+mark, "ID", d.Name.ID, "ADDRESS", address, "FSID", d.Record.FSID).Replace(strings.TrimSpace(`
rm -rf DIRECTORY/*
set -f
monmaptool --create --clobber --fsid FSID $(cat MONMAP) /tmp/monmap
ceph-mon --mkfs --id=ID --monmap=/tmp/monmap --public-addr=ADDRESS
sync
echo FSID > MARK
`))
}

// stopsAfter is how long a container still runs after its pod was ended for its Service, in seconds.
func stopsAfter(seconds int64) *corev1.Lifecycle {
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}}
}

// MonDirectory is the directory on a host for the monitors of a cluster, below that of the spec. No name contains an underscore.
func MonDirectory(c *cephv1.Cluster) string { return c.Namespace + "_" + c.Name }

// monDirectory is the directory of a monitor on its host.
func monDirectory(c *cephv1.Cluster, r *record.Record, mon ceph.Daemon) string {
	one := r.Daemons[mon.String()]
	return path.Join(cmp.Or(one.DataDir, c.Spec.DataDirHostPath), below(c, &one), "mon-"+mon.ID)
}

// below is the parent directory of a monitor's directory.
func below(c *cephv1.Cluster, one *record.Daemon) string {
	return cmp.Or(one.Directory, c.Namespace+"-"+c.Name)
}

// DataDir returns the directory of the spec with which the pod of a monitor was made; empty if it is not known.
func DataDir(c *cephv1.Cluster, one *record.Daemon, mon ceph.Daemon, pod *corev1.Pod) string {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Name != volumeData || v.HostPath == nil {
			continue
		}
		if dir, found := strings.CutSuffix(v.HostPath.Path, path.Join("/", below(c, one), "mon-"+mon.ID)); found {
			return cmp.Or(dir, "/")
		}
	}
	return ""
}

// Storage returns where the data of a monitor or an OSD is, in words.
func Storage(c *cephv1.Cluster, r *record.Record, d daemons.Daemon, node string) string {
	switch {
	case d.Name.Type == ceph.TypeMon:
		return "the directory " + monDirectory(c, r, d.Name) + " on " + node
	case d.Claims != nil:
		return "the volume claim " + ClaimName(c.Name, d.Slot)
	}
	return "the directory " + d.Path + " on " + d.Node
}

func (d *daemon) mgr() {
	d.data(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	d.main.Command = []string{"ceph-mgr", "--foreground", "--id=" + d.Name.ID, "--public-addr=$(POD_IP)"}
}

func (d *daemon) mds() {
	d.main.Command = []string{"ceph-mds", "--foreground", "--id=" + d.Name.ID, "--public-addr=$(POD_IP)"}
	if r, known := d.Table.Release(d.runs.Version.Major); !known || r.MDSJoinFS {
		d.main.Command = append(d.main.Command, "--mds-join-fs="+d.Filesystem)
	}
	d.limitCache()
}

// limitCache tells a metadata server with a memory limit how large its cache may be. It aims at 4 GiB whatever it may have, uses more than its
// cache, and would be killed under load. Half of the limit is what Rook chooses. It is a default: every option that is set has precedence.
func (d *daemon) limitCache() {
	if limit := d.main.Resources.Limits.Memory(); !limit.IsZero() {
		d.main.Command = append(d.main.Command, fmt.Sprintf("--default-mds-cache-memory-limit=%d", limit.Value()/2))
	}
}

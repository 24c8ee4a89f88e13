package render

import (
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
	// Data without the mark is of a monitor that ended while it made it, unless it has served. What it made is removed, and made again.
	mark := d.directory() + "/formatted"
	exists := fmt.Sprintf(`test -e %s/store.db && { test -e %s || test "$(cat %s/format)" != %s; }`, d.directory(), mark, recordDir, record.FormatAllowed)
	// The monmap has the names of all monitors: one of monitors without names ends with an assertion at its first election.
	d.format(finds(exists), fmt.Sprintf("rm -rf %s/*\nset -f\nmonmaptool --create --clobber --fsid %s $(cat /etc/ceph/%s) /tmp/monmap\n"+
		"ceph-mon --mkfs --id=%s --monmap=/tmp/monmap --public-addr=%s\nsync\ntouch %s", d.directory(), d.Record.FSID, monmapKey, d.Name.ID, self, mark))
	d.main.Command = []string{"ceph-mon", "--foreground", "--id=" + d.Name.ID, "--public-addr=" + self, "--public-bind-addr=$(POD_IP)"}
	d.main.Ports = []corev1.ContainerPort{
		{Name: "tcp-msgr2", ContainerPort: portV2, Protocol: corev1.ProtocolTCP}, {Name: "tcp-msgr1", ContainerPort: portV1, Protocol: corev1.ProtocolTCP},
	}
	// The Service forgets the pod before the process ends: connections of other monitors to it would otherwise hang.
	d.main.Lifecycle = stopsAfter(2)
}

// stopsAfter is how long a container still runs after its pod was ended for its Service, in seconds.
func stopsAfter(seconds int64) *corev1.Lifecycle {
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}}
}

// MonDirectory is the directory on a host for the monitors of a cluster, below that of the spec. No name contains an underscore.
func MonDirectory(c *cephv1.Cluster) string { return c.Namespace + "_" + c.Name }

// monDirectory is the directory of a monitor on its host.
func monDirectory(c *cephv1.Cluster, r *record.Record, mon ceph.Daemon) string {
	parent := c.Namespace + "-" + c.Name
	if own := r.Daemons[mon.String()].Directory; own != "" {
		parent = own
	}
	return path.Join(c.Spec.DataDirHostPath, parent, "mon-"+mon.ID)
}

// Storage returns where the data of a monitor or an OSD is, in words.
func Storage(c *cephv1.Cluster, r *record.Record, d daemons.Daemon, node string) string {
	switch {
	case d.Name.Type == ceph.TypeMon:
		return "the directory " + monDirectory(c, r, d.Name) + " on " + node
	case d.Claims != nil:
		return "the volume claim " + claimName(c.Name, d.Slot)
	}
	return "the directory " + d.Path + " on " + d.Node
}

func (d *daemon) mgr() {
	d.data(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	d.main.Command = []string{"ceph-mgr", "--foreground", "--id=" + d.Name.ID, "--public-addr=$(POD_IP)"}
}

func (d *daemon) osd() {
	uuid := d.Record.OSDs[d.Slot]
	d.main.Command = []string{"ceph-osd", "--foreground", "--id=" + d.Name.ID, "--public-addr=$(POD_IP)", "--cluster-addr=$(POD_IP)"}
	mkfs := fmt.Sprintf("ceph-osd --mkfs --id=%s --osd-uuid=%s --no-mon-config --osd-data=%s", d.Name.ID, uuid, d.directory())
	if d.Claims == nil {
		d.main.Command = append(d.main.Command, crushLocation("$(NODE_NAME)"))
		d.on(d.Node)
		d.hostData(d.Path)
		d.format(finds("test -e "+d.directory()+"/ready"), mkfs)
		return
	}
	d.portable()
	if d.Claims.VolumeMode == corev1.PersistentVolumeBlock {
		d.device(uuid)
		return
	}
	d.data(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(d.Cluster.Name, d.Slot)}})
	d.format(finds("test -e "+d.directory()+"/ready"), mkfs)
}

// crushLocation is the argument with the location of an OSD. Without it the OSD would move to a host with the name of its pod.
func crushLocation(host string) string { return "--crush-location=root=default host=" + host }

// portable keeps the host in CRUSH of an OSD that may start on another node, with its volume: otherwise its data would be moved. The host
// is read when the container starts, because it is recorded after the first start. Until then it is the node.
func (d *daemon) portable() {
	d.main.Env = append(d.main.Env, corev1.EnvVar{Name: "CRUSH_HOST", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: record.Name(d.Cluster.Name)}, Key: record.HostKey(d.Name), Optional: new(true),
	}}})
	d.main.Command = append([]string{"sh", "-c", `exec "$0" "$@" "` + crushLocation("${CRUSH_HOST:-$NODE_NAME}") + `"`}, d.main.Command...)
}

// blockDevice is the path of a volume of the mode Block.
const blockDevice = "/dev/osd-block"

// device uses a block device. Its node in the container belongs to root, so that the pod runs as root, without any capability.
func (d *daemon) device(uuid string) {
	root := int64(0)
	d.pod.SecurityContext.RunAsUser, d.pod.SecurityContext.RunAsGroup, d.pod.SecurityContext.RunAsNonRoot, d.pod.SecurityContext.FSGroup = &root, &root, new(bool), nil
	d.data(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	d.pod.Volumes = append(d.pod.Volumes, corev1.Volume{Name: "block", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(d.Cluster.Name, d.Slot)},
	}})
	d.main.VolumeDevices = []corev1.VolumeDevice{{Name: "block", DevicePath: blockDevice}}
	d.format(d.findLabel(), fmt.Sprintf("ceph-osd --mkfs --id=%s --osd-uuid=%s --no-mon-config --osd-data=%s --bluestore-block-path=%s --bluestore-block-create=false", d.Name.ID, uuid, d.directory(), blockDevice))
	d.pod.InitContainers[len(d.pod.InitContainers)-1].VolumeDevices = d.main.VolumeDevices
}

// findLabel is the script that makes the directory of an OSD from the label of its block device. That there is no label counts only if the
// tool ran and the beginning of the device was read: by the tool alone, a device that cannot be read looks like one that is empty. Of what
// the tool prints the last line is shown, because the others begin with the time.
func (d *daemon) findLabel() string {
	return strings.NewReplacer("DEVICE", blockDevice, "DIRECTORY", d.directory(), "NAME", d.Name.String()).Replace(strings.TrimSpace(`
stop() { echo "the block device of NAME cannot be used: $(echo "$text" | tail -n 1)"; exit 1; }
code=0
text=$(ceph-bluestore-tool show-label --dev DEVICE 2>&1) || code=$?
if [ $code = 0 ]; then
  text=$(ceph-bluestore-tool prime-osd-dir --dev DEVICE --path DIRECTORY --no-mon-config 2>&1) || stop
  ln -snf DEVICE DIRECTORY/block
  exit 0
fi
if [ $code -gt 125 ]; then stop; fi
said=$text
text=$(head -c 22 DEVICE 2>&1 > /tmp/label) || stop
text=$said
if [ "$(tr -d '\0' < /tmp/label)" = "bluestore block device" ]; then stop; fi
`))
}

func (d *daemon) mds() {
	d.main.Command = []string{"ceph-mds", "--foreground", "--id=" + d.Name.ID, "--public-addr=$(POD_IP)"}
	if r, known := d.Table.Release(d.runs.Version.Major); !known || r.MDSJoinFS {
		d.main.Command = append(d.main.Command, "--mds-join-fs="+d.Filesystem)
	}
}

func (d *daemon) rgw() {
	d.main.Command = []string{"radosgw", "--foreground", "--name=client.rgw." + d.Name.ID, fmt.Sprintf("--rgw-frontends=beast port=%d", d.Port)}
	d.main.Ports = []corev1.ContainerPort{{Name: portHTTP, ContainerPort: d.Port, Protocol: corev1.ProtocolTCP}}
	// The Service forgets the pod before the process ends: new requests would otherwise be refused while other gateways serve.
	d.main.Lifecycle = stopsAfter(3)
}

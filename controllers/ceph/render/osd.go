package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

func (d *daemon) osd() {
	d.main.Command = []string{"ceph-osd", "--foreground", "--id=" + d.Name.ID, "--public-addr=$(POD_IP)", "--cluster-addr=$(POD_IP)"}
	d.tellMemoryLimit()
	if d.Claims == nil {
		d.main.Command = append(d.main.Command, crushLocation("$(NODE_NAME)"))
		d.on(d.Node)
		d.hostData(d.Path)
		d.file()
		return
	}
	d.portable()
	if d.Claims.VolumeMode == corev1.PersistentVolumeBlock {
		d.device()
		return
	}
	d.data(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: ClaimName(d.Cluster.Name, d.Slot)}})
	d.file()
}

// mkfs is the command that makes the store of an OSD. It marks the store as ready when all else is done.
func (d *daemon) mkfs(options string) string {
	return fmt.Sprintf("ceph-osd --mkfs --id=%s --osd-uuid=%s --no-mon-config --osd-data=%s %s", d.Name.ID, d.Record.OSDs[d.Slot], d.directory(), options)
}

// file keeps the store of an OSD in a file in its directory. On that of another cluster or of another OSD, it would boot for ever.
func (d *daemon) file() {
	find := strings.NewReplacer("DIRECTORY", d.directory(), "FSID", d.Record.FSID, "UUID", d.Record.OSDs[d.Slot]).Replace(strings.TrimSpace(`
if test -e DIRECTORY/ready; then
  expects cluster "$(head -c 64 DIRECTORY/ceph_fsid 2>/dev/null)" FSID
  expects OSD "$(head -c 64 DIRECTORY/fsid 2>/dev/null)" UUID
  exit 0
fi
`))
	d.format(find, d.size()+"\n"+d.mkfs(`"$@"`))
}

// Keys of what the script that makes an OSD reads. They are no part of a pod, so that another option or directory restarts no OSD.
const (
	// blockSizeKey are the sections of ceph.conf with a size for the files of OSDs.
	blockSizeKey = "block-size"
	// directoriesKey is the beginning of the key of a host with the number of its directories for OSDs.
	directoriesKey = "directories."
)

// sizes returns the data for the keys.
func sizes(c *cephv1.Cluster) map[string]string {
	var sections []string
	for _, section := range slices.Sorted(maps.Keys(c.Spec.CephConfig)) {
		for option := range c.Spec.CephConfig[section] {
			if optionName(option) == "bluestore block size" {
				sections = append(sections, section)
			}
		}
	}
	out := map[string]string{blockSizeKey: strings.Join(slices.Compact(sections), " ")}
	for _, node := range c.Spec.Storage.Nodes {
		out[directoriesKey+node.Name] = strconv.Itoa(len(node.Directories))
	}
	return out
}

// size is the script that sets the arguments with the size of the file of a new OSD, unless ceph.conf has one. The file takes its room when
// it is written to: one that may become larger than its file system ends all OSDs there at once, before Ceph calls any of them full. The
// root of a file system is for one OSD, and other directories of a host may share theirs. A claim is a limit, because some volumes are
// directories on a file system that is larger.
func (d *daemon) size() string {
	limit := fmt.Sprintf(`grep -q " / %s " /proc/self/mountinfo || share=$(cat /etc/ceph/%s%s)`, d.directory(), directoriesKey, d.Node)
	if d.Claims != nil {
		size, _ := resource.ParseQuantity(d.Claims.Size) // its claim exists
		limit = fmt.Sprintf("if [ $free -gt %[1]d ]; then free=%[1]d; fi", size.Value()/1024)
	}
	return strings.NewReplacer("DIRECTORY", d.directory(), "ALL", string(ceph.TypeOSD), "NAME", d.Name.String(), "KEY", blockSizeKey, "LIMIT", limit).Replace(strings.TrimSpace(`
set --
sections=$(cat /etc/ceph/KEY)
case " $sections " in
*" global "*|*" ALL "*|*" NAME "*) ;;
*)
  free=$(df -k --output=avail DIRECTORY | tail -n 1)
  share=1
  LIMIT
  set -- --bluestore-block-size=$((free * 96 / 100 / share / 1024 * 1048576));;
esac
`))
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
func (d *daemon) device() {
	root := int64(0)
	d.pod.SecurityContext.RunAsUser, d.pod.SecurityContext.RunAsGroup, d.pod.SecurityContext.RunAsNonRoot, d.pod.SecurityContext.FSGroup = &root, &root, new(bool), nil
	d.data(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	d.pod.Volumes = append(d.pod.Volumes, corev1.Volume{Name: "block", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: ClaimName(d.Cluster.Name, d.Slot)},
	}})
	d.main.VolumeDevices = []corev1.VolumeDevice{{Name: "block", DevicePath: blockDevice}}
	// The directory has what an attempt that was interrupted left there. With it, the next one fails: a file exists.
	d.format(d.findLabel(), "rm -rf "+d.directory()+"/*\n"+d.mkfs("--bluestore-block-path="+blockDevice+" --bluestore-block-create=false"))
	d.pod.InitContainers[len(d.pod.InitContainers)-1].VolumeDevices = d.main.VolumeDevices
}

// findLabel is the script that makes the directory of an OSD from the label of its block device. That there is no label counts only if the
// tool ran and the beginning of the device was read: by the tool alone, a device that cannot be read looks like one that is empty. Of what
// the tool prints the last line is shown, because the others begin with the time. The label is written first and called ready last: without
// that its making was interrupted, and it is made again while that is allowed.
func (d *daemon) findLabel() string {
	return strings.NewReplacer("DEVICE", blockDevice, "DIRECTORY", d.directory(), "NAME", d.Name.String(), "RECORD", recordDir, "ALLOWED", string(record.FormatAllowed),
		"FSID", d.Record.FSID, "UUID", d.Record.OSDs[d.Slot]).Replace(strings.TrimSpace(`
stop() { echo "the block device of NAME cannot be used: $(echo "$text" | tail -n 1)"; exit 1; }
entry() { echo "$text" | sed -n "s/^ *\"$1\": \"\([^\"]*\)\".*/\1/p"; }
code=0
text=$(ceph-bluestore-tool show-label --dev DEVICE 2>&1) || code=$?
if [ $code = 0 ]; then
  expects cluster "$(entry ceph_fsid)" FSID
  expects OSD "$(entry osd_uuid)" UUID
fi
if [ $code = 0 ] && echo "$text" | grep -q '^ *"ready": "ready"'; then
  text=$(ceph-bluestore-tool prime-osd-dir --dev DEVICE --path DIRECTORY --no-mon-config 2>&1) || stop
  ln -snf DEVICE DIRECTORY/block
  exit 0
fi
if [ $code = 0 ]; then
  text="making its data was interrupted, and it is not allowed again"
  if [ "$(cat RECORD/format)" != ALLOWED ]; then stop; fi
else
  if [ $code -gt 125 ]; then stop; fi
  said=$text
  text=$(head -c 22 DEVICE 2>&1 > /tmp/label) || stop
  text=$said
  [ "$(tr -d '\0' < /tmp/label)" != "bluestore block device" ] || stop
fi
`))
}

// memoryLimit is the least limit of an OSD of which it is told. It aims at 80 % of the limit, and ends with an assertion below 896 MiB.
const memoryLimit = 1152 << 20

// tellMemoryLimit tells an OSD its limit, if one is set: it would aim at 4 GiB whatever it may have, and be killed under load. An option of ceph.conf has
// precedence. Below the least limit of which it can be told, the option osd_memory_target is needed.
func (d *daemon) tellMemoryLimit() {
	if limit := d.main.Resources.Limits.Memory(); limit.Value() >= memoryLimit {
		d.main.Env = append(d.main.Env, corev1.EnvVar{Name: "POD_MEMORY_LIMIT", ValueFrom: &corev1.EnvVarSource{
			ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: d.main.Name, Resource: "limits.memory"},
		}})
	}
}

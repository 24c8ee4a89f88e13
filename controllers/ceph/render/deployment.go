package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// Input of a Deployment.
type Input struct {
	Cluster *cephv1.Cluster
	Record  *record.Record
	Table   *versions.Table
}

// daemon is one Deployment that is being rendered.
type daemon struct {
	Input
	daemons.Daemon
	runs record.Daemon
	user int64
	pod  corev1.PodSpec
	main corev1.Container
}

// Deployment returns the Deployment of a daemon that runs what is given. An OSD must have its number. Its pods are replaced by Recreate:
// two processes of one daemon must not use its data.
func Deployment(in Input, of daemons.Daemon, runs record.Daemon) (*appsv1.Deployment, error) {
	if runs.Reference == "" {
		return nil, fmt.Errorf("rendering %s: its record has no image", of.Name)
	}
	d := &daemon{Input: in, Daemon: of, runs: runs, user: in.Table.User(runs.Image)}
	d.prepare()
	switch of.Name.Type {
	case ceph.TypeMon:
		d.mon()
	case ceph.TypeMgr:
		d.mgr()
	case ceph.TypeOSD:
		d.osd()
	case ceph.TypeMDS:
		d.mds()
	case ceph.TypeRGW:
		d.rgw()
	}
	return d.finish()
}

func (d *daemon) prepare() {
	place := placement(d.Cluster, string(d.Name.Type))
	d.pod = corev1.PodSpec{
		AutomountServiceAccountToken: new(bool), EnableServiceLinks: new(bool), ShareProcessNamespace: new(true),
		SecurityContext: podSecurity(d.user), NodeSelector: place.NodeSelector, Tolerations: place.Tolerations,
		Volumes: volumes(d.Cluster.Name, keys.Entry(d.Name, d.Slot)),
	}
	d.main = corev1.Container{
		Name: string(d.Name.Type), Image: d.runs.Reference, ImagePullPolicy: corev1.PullIfNotPresent, Env: environment(),
		SecurityContext: containerSecurity(), VolumeMounts: mounts(), Resources: d.Cluster.Spec.Resources[string(d.Name.Type)],
	}
	probes(&d.main, d.Name)
}

// on binds the pod to a host, where its data is.
func (d *daemon) on(node string) {
	if node != "" {
		d.pod.Affinity = bound(node)
	}
}

// bound returns the affinity of a pod that runs on one node only. The name identifies a node; its label kubernetes.io/hostname may differ, and
// a placement may select by it.
func bound(node string) *corev1.Affinity {
	named := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{named}}},
	}}}
}

// BoundTo returns the only node on which the pods of a template run; empty if there are several.
func BoundTo(template *corev1.PodTemplateSpec) string {
	a := template.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// data mounts a volume as the directory of the daemon.
func (d *daemon) data(source corev1.VolumeSource) {
	d.pod.Volumes = append(d.pod.Volumes, corev1.Volume{Name: volumeData, VolumeSource: source})
	d.main.VolumeMounts = append(d.main.VolumeMounts, corev1.VolumeMount{Name: volumeData, MountPath: d.directory()})
}

func (d *daemon) directory() string {
	return path.Join("/var/lib/ceph", string(d.Name.Type), "ceph-"+d.Name.ID)
}

// hostData is a directory on the host, which belongs to root when it is created.
func (d *daemon) hostData(at string) {
	kind := corev1.HostPathDirectoryOrCreate
	d.data(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: at, Type: &kind}})
	root := int64(0)
	own := d.init("own-data", d.own())
	own.SecurityContext.RunAsUser, own.SecurityContext.RunAsGroup, own.SecurityContext.RunAsNonRoot = &root, &root, new(bool)
	own.SecurityContext.Capabilities.Add = []corev1.Capability{"CHOWN"}
	own.VolumeMounts = []corev1.VolumeMount{{Name: volumeData, MountPath: d.directory()}}
	d.pod.InitContainers = append(d.pod.InitContainers, own)
}

// own is the script that gives a directory on the host to the user of the image, with the data that an image with another user made. The
// directory itself is changed last, so that an attempt that was interrupted is repeated. Without further capabilities root reads only what it
// may read as its owner or as others. Directories of OSDs have no others in them: such ones are not of Ceph and stay as they are.
func (d *daemon) own() string {
	first, options := "type", "-h" // mkfs writes this file first
	if d.Name.Type == ceph.TypeMon {
		first, options = "store.db", "-R"
	}
	return strings.NewReplacer("DIRECTORY", d.directory(), "FIRST", d.directory()+"/"+first, "OPTIONS", options, "USER", fmt.Sprintf("%[1]d:%[1]d", d.user)).Replace(strings.TrimSpace(`
if stat -c %u:%g DIRECTORY FIRST 2>/dev/null | grep -qvx USER; then
  chown 0:0 DIRECTORY
  if [ -e FIRST ]; then chown OPTIONS USER DIRECTORY/*; fi
  chown USER DIRECTORY
fi
`))
}

// init returns an init container that runs a script in the image of the daemon. It has the resources of the daemon, beside which it never runs.
func (d *daemon) init(name, script string) corev1.Container {
	return corev1.Container{
		Name: name, Image: d.main.Image, ImagePullPolicy: d.main.ImagePullPolicy, Command: []string{"sh", "-ec", script}, Env: environment(),
		SecurityContext: containerSecurity(), VolumeMounts: append([]corev1.VolumeMount(nil), d.main.VolumeMounts...), Resources: *d.main.Resources.DeepCopy(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// How the init container reports lost data: it exits with the code, and its message begins with the marker.
const (
	// FormatContainer is its name.
	FormatContainer = "format-data"
	// ExitStorage is its exit code.
	ExitStorage = 64
	// StorageLostMarker is the beginning of its message.
	StorageLostMarker = "StorageLost:"
)

// expects is a function of scripts that find data: it ends a script that finds the identity $2 of a $1 in the data where $3 is wanted. Nothing
// is said against data without an identity.
func (d *daemon) expects() string {
	return `expects() { if [ -n "$2" ] && [ "$2" != "$3" ]; then echo "` + Storage(d.Cluster, d.Record, d.Daemon, d.runs.Node) + ` holds data of the $1 $2, not of $3: empty it if that data is not needed"; exit 1; fi; }`
}

// format adds the init container that makes the data of the daemon, once. The script find ends with success if there is data, and with
// another code than ExitStorage if that cannot be said, or if it is not the daemon's. Data that has been lost is not made again: several monitors with new data would
// found another cluster.
func (d *daemon) format(find, mkfs string) {
	d.pod.Volumes = append(d.pod.Volumes, corev1.Volume{Name: volumeStore, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: record.Name(d.Cluster.Name)}, Items: []corev1.KeyToPath{{Key: record.FormatKey(d.Name), Path: "format"}},
	}}})
	script := strings.Join([]string{
		d.expects(),
		find,
		`if [ "$(cat ` + recordDir + `/format)" != ` + string(record.FormatAllowed) + ` ]; then echo "` + StorageLostMarker + ` the data of ` + d.Name.String() + ` is gone"; exit ` + strconv.Itoa(ExitStorage) + `; fi`,
		mkfs,
	}, "\n")
	c := d.init(FormatContainer, script)
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volumeStore, MountPath: recordDir, ReadOnly: true})
	d.pod.InitContainers = append(d.pod.InitContainers, c)
}

func (d *daemon) finish() (*appsv1.Deployment, error) {
	d.pod.Containers = []corev1.Container{d.main}
	labels := daemonLabels(d.Cluster.Name, d.Name)
	maps.Copy(labels, d.group())
	d.spread()
	template, errTemplate := hash(bare(&d.pod))
	revision, errRevision := hash(&d.pod)
	if err := errors.Join(errTemplate, errRevision); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", d.Name, err)
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: daemons.ObjectName(d.Cluster.Name, d.Name), Namespace: d.Cluster.Namespace, Labels: labels,
			Annotations: map[string]string{Template: template, NewestVersion: d.runs.Newest.String()},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, RevisionHistoryLimit: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: selector(d.Cluster.Name, d.Name)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{Revision: revision}}, Spec: d.pod},
		},
	}, nil
}

// group are the labels of the daemons of one filesystem or store.
func (d *daemon) group() map[string]string {
	out := map[string]string{}
	if d.Filesystem != "" {
		out[labelFilesystem] = d.Filesystem
	}
	if d.Store != "" {
		out[labelStore] = d.Store
	}
	return out
}

// spread prefers a node without another daemon that this one can stand in for: one of its type, filesystem and store. Monitors and OSDs on
// directories are bound to their nodes.
func (d *daemon) spread() {
	if d.pod.Affinity != nil {
		return
	}
	like := map[string]string{LabelCluster: d.Cluster.Name, LabelType: string(d.Name.Type)}
	maps.Copy(like, d.group())
	d.pod.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
		Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: like}},
	}}}}
}

// bare returns a pod without its image: a change of the image is a change of the version.
func bare(pod *corev1.PodSpec) *corev1.PodSpec {
	out := pod.DeepCopy()
	for i := range out.Containers {
		out.Containers[i].Image = ""
	}
	for i := range out.InitContainers {
		out.InitContainers[i].Image = ""
	}
	return out
}

// hash identifies a pod.
func hash(pod *corev1.PodSpec) (string, error) {
	text, err := json.Marshal(pod)
	if err != nil {
		return "", err
	}
	h := fnv.New64a()
	_, _ = h.Write(text)
	return fmt.Sprintf("%016x", h.Sum64()), nil
}

// Current reports whether a pod is of the template that its Deployment has now. The pod of an earlier one runs and serves until the
// controller of Deployments ends it.
func Current(pod *corev1.Pod, of *appsv1.Deployment) bool {
	return pod.Annotations[Revision] == of.Spec.Template.Annotations[Revision]
}

// Claim returns the volume claim of an OSD; nil for one on a directory. It has no owner: it holds the data.
func Claim(c *cephv1.Cluster, d daemons.Daemon) (*corev1.PersistentVolumeClaim, error) {
	if d.Claims == nil {
		return nil, nil //nolint:nilnil // a directory needs no claim
	}
	size, err := resource.ParseQuantity(d.Claims.Size)
	if err != nil {
		return nil, fmt.Errorf("rendering the claim %s: %w", d.Slot, err)
	}
	labels := Labels(c.Name)
	labels[LabelSlot] = d.Slot
	mode := d.Claims.VolumeMode
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: ClaimName(c.Name, d.Slot), Namespace: c.Namespace, Labels: labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: d.Claims.StorageClassName, VolumeMode: &mode,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}, nil
}

// ClaimName is the name of the volume claim of an OSD.
func ClaimName(cluster, slot string) string { return cluster + "-osd-" + slot }

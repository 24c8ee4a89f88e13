package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// volume is one data volume of a node.
type volume struct {
	id         int32
	name       string
	mount      string
	logDir     string
	claim      string
	persistent bool
	metadata   bool
	disk       *kafkav1beta2.Disk
}

// volumesOf returns the volumes of a node, sorted by id. Storage of a single volume is volume 0.
func volumesOf(n *Node, s *kafkav1beta2.Storage) []volume {
	if s.Type != kafkav1beta2.StorageJBOD {
		v := volume{name: "data", mount: dataRoot, claim: SingleClaim(n.Pod), metadata: true, disk: &s.Disk}
		v.persistent = s.Type == kafkav1beta2.StoragePersistentClaim
		v.logDir = logDir(v.mount, n.ID)
		return []volume{v}
	}
	metadata, _ := s.MetadataVolume()
	out := make([]volume, 0, len(s.Volumes))
	for i := range s.Volumes {
		from := &s.Volumes[i]
		v := volume{id: from.ID, name: fmt.Sprintf("data-%d", from.ID), metadata: from.ID == metadata, disk: &from.Disk}
		v.mount = fmt.Sprintf("%s-%d", dataRoot, from.ID)
		v.claim = ListedClaim(n.Pod, from.ID)
		v.persistent = from.Type == kafkav1beta2.VolumePersistentClaim
		v.logDir = logDir(v.mount, n.ID)
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b volume) int { return int(a.id) - int(b.id) })
	return out
}

const dataRoot = "/var/lib/kafka/data"

func logDir(mount string, id int32) string { return fmt.Sprintf("%s/kafka-log%d", mount, id) }

// ClaimName returns the name of the claim that a pool declares for a volume of the pod's node. It returns false if the pool
// declares no persistent volume with that id. Storage of a single volume is volume 0.
func ClaimName(s *kafkav1beta2.Storage, pod string, id int32) (string, bool) {
	if s.Type != kafkav1beta2.StorageJBOD {
		if s.Type != kafkav1beta2.StoragePersistentClaim || id != 0 {
			return "", false
		}
		return SingleClaim(pod), true
	}
	for i := range s.Volumes {
		if v := &s.Volumes[i]; v.ID == id && v.Type == kafkav1beta2.VolumePersistentClaim {
			return ListedClaim(pod, id), true
		}
	}
	return "", false
}

// DeclaresClaim reports whether a pool declares the claim for a volume of the pod's node: whether ClaimName returns it for the volume
// that it belongs to.
func DeclaresClaim(s *kafkav1beta2.Storage, pod, claim string) bool {
	id, ok := ClaimVolume(claim, pod)
	single := len(claim) == len(SingleClaim(""))+len(pod)
	if !ok || s.Type != kafkav1beta2.StorageJBOD {
		return ok && single && s.Type == kafkav1beta2.StoragePersistentClaim
	}
	for i := range s.Volumes {
		if v := &s.Volumes[i]; v.ID == id && v.Type == kafkav1beta2.VolumePersistentClaim {
			return !single
		}
	}
	return false
}

// SingleClaim returns the name of the claim of a node with a single volume.
func SingleClaim(pod string) string { return "data-" + pod }

// ListedClaim returns the name of the claim of one of several volumes of a node.
func ListedClaim(pod string, id int32) string { return "data-" + strconv.Itoa(int(id)) + "-" + pod }

// ClaimNames returns the names of the claims that a pool declares for a node.
func ClaimNames(s *kafkav1beta2.Storage, pod string) []string {
	var names []string
	for _, v := range volumesOf(&Node{Pod: pod}, s) {
		if v.persistent {
			names = append(names, v.claim)
		}
	}
	return names
}

// ClaimVolume returns the id of the volume to which a claim of the pod belongs; false for other names.
func ClaimVolume(claim, pod string) (int32, bool) {
	rest, isData := strings.CutPrefix(claim, "data-")
	if rest == pod {
		return 0, isData
	}
	number, fits := strings.CutSuffix(rest, pod)
	number, parted := strings.CutSuffix(number, "-")
	id, err := strconv.ParseInt(number, 10, 32)
	if !isData || !fits || !parted || err != nil || id < 0 || strconv.Itoa(int(id)) != number {
		return 0, false
	}
	return int32(id), true
}

// Claims renders the claims of a node. It returns an error for an invalid size, which the schema rejects on admission.
func (c *Cluster) Claims(id int32) ([]*corev1.PersistentVolumeClaim, error) {
	n, pool, err := c.node(id)
	if err != nil {
		return nil, err
	}
	return once(c, part{"claims", n.Pod}, func() ([]*corev1.PersistentVolumeClaim, error) { return c.claims(n, pool) })
}

func (c *Cluster) claims(n *Node, pool *kafkav1beta2.KafkaNodePoolSpec) ([]*corev1.PersistentVolumeClaim, error) {
	var out []*corev1.PersistentVolumeClaim
	for _, v := range volumesOf(n, &pool.Storage) {
		if !v.persistent {
			continue
		}
		size, err := resource.ParseQuantity(v.disk.Size)
		if err != nil {
			return nil, fmt.Errorf("rendering claim %s: size %q: %w", v.claim, v.disk.Size, err)
		}
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{
				Name: v.claim, Namespace: c.in.Namespace, Labels: c.nodeLabels(n),
				Annotations: map[string]string{labels.ClusterID: c.in.ClusterID, labels.DeleteClaim: fmt.Sprint(deletes(v.disk))},
			},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
			},
		}
		if v.disk.Class != "" {
			claim.Spec.StorageClassName = &v.disk.Class
		}
		out = append(out, claim)
	}
	return out, nil
}

// askedClass returns the storage class with which a claim was asked for; nil if it had none. That of a claim without the annotation is its own
// class.
func askedClass(claim *corev1.PersistentVolumeClaim) *string {
	if class, known := claim.Annotations[labels.StorageClass]; known {
		return &class
	}
	return claim.Spec.StorageClassName
}

// HasDeclaredClass reports whether a claim has the storage class of the rendered one, or was asked for with it and got another one from a
// webhook. Every claim has the class that is not declared.
func HasDeclaredClass(want, have *corev1.PersistentVolumeClaim) bool {
	declared := want.Spec.StorageClassName
	if declared == nil {
		return true
	}
	is := func(class *string) bool { return class != nil && *class == *declared }
	return is(have.Spec.StorageClassName) || is(askedClass(have))
}

// DeletedWithNode reports whether a rendered claim is to be deleted with its node.
func DeletedWithNode(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Annotations[labels.DeleteClaim] == "true"
}

func deletes(d *kafkav1beta2.Disk) bool { return d.DeleteClaim != nil && *d.DeleteClaim }

// source returns the source of a data volume in the pod.
func (v *volume) source() (corev1.VolumeSource, error) {
	if v.persistent {
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.claim}}, nil
	}
	empty := &corev1.EmptyDirVolumeSource{}
	if v.disk.SizeLimit != "" {
		limit, err := resource.ParseQuantity(v.disk.SizeLimit)
		if err != nil {
			return corev1.VolumeSource{}, fmt.Errorf("rendering volume %s: sizeLimit %q: %w", v.name, v.disk.SizeLimit, err)
		}
		empty.SizeLimit = &limit
	}
	return corev1.VolumeSource{EmptyDir: empty}, nil
}

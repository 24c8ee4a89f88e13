package planning

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// deletedPools returns the pools that the input lacks, as their nodes ran with them: their roles, and their claims as volumes. Without them a
// node of a deleted pool would have no past, and start on an empty disk.
func (b *background) deletedPools() []render.Pool {
	var out []render.Pool
	for i := range b.snapshot.Nodes {
		n := &b.snapshot.Nodes[i]
		known := b.snapshot.Pool(n.Pool) != nil || slices.ContainsFunc(out, func(p render.Pool) bool { return p.Name == n.Pool })
		if known || !b.ranDeleted(n) {
			continue
		}
		pool := render.Pool{Name: n.Pool, Spec: kafkav1beta2.KafkaNodePoolSpec{Storage: b.storageOf(n)}}
		if n.Roles.Controller {
			pool.Spec.Roles = append(pool.Spec.Roles, kafkav1beta2.RoleController)
		}
		if n.Roles.Broker {
			pool.Spec.Roles = append(pool.Spec.Roles, kafkav1beta2.RoleBroker)
		}
		out = append(out, pool)
	}
	return out
}

// ranDeleted reports whether enough is left of a node of a deleted pool to know what ran.
func (b *background) ranDeleted(n *observation.Node) bool {
	return n.Roles != (observation.Roles{}) && (b.podOf(n) != nil || n.HasClaims)
}

// storageOf returns the storage of a node by its claims.
func (b *background) storageOf(n *observation.Node) kafkav1beta2.Storage {
	listed := kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD}
	for _, claim := range b.snapshot.Objects.Claims {
		id, of := render.ClaimVolume(claim.Name, n.PodName)
		if !of {
			continue
		}
		size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
		disk := kafkav1beta2.Disk{Size: size.String()}
		if claim.Name == render.SingleClaim(n.PodName) {
			return kafkav1beta2.Storage{Type: kafkav1beta2.StoragePersistentClaim, Disk: disk}
		}
		listed.Volumes = append(listed.Volumes, kafkav1beta2.Volume{ID: id, Type: kafkav1beta2.VolumePersistentClaim, Disk: disk})
	}
	if len(listed.Volumes) == 0 {
		return kafkav1beta2.Storage{Type: kafkav1beta2.StorageEphemeral}
	}
	return listed
}

package planning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// restore brings the simulated cluster to the state that the objects of a launched cluster describe: its daemons run in the pods of the
// input, healthy, and Ceph holds nothing of an upgrade.
func (s *simulation) restore(ctx context.Context, resource *cephv1.Cluster, stored *corev1.ConfigMap) error {
	r, err := record.Decode(stored.Data)
	if err != nil {
		return err
	}
	c := s.cluster(client.ObjectKeyFromObject(resource))
	for name, image := range r.Images {
		c.pods.Images[name] = image.Version
	}
	running, err := s.adopt(ctx, resource)
	if err != nil {
		return err
	}
	c.ceph.Do(func(cluster *simulated.Cluster) {
		err = errors.Join(found(cluster, resource, r, running), remember(cluster, resource, r))
	})
	if err != nil {
		return err
	}
	for _, d := range r.Names() {
		c.ran[d] = true
	}
	s.env.Assume(client.ObjectKeyFromObject(resource), "Ceph is healthy, and holds no flags and settings of an upgrade that has begun")
	s.env.Assume(client.ObjectKeyFromObject(resource), "Ceph requires of its OSDs the release of the oldest one (require_osd_release)")
	return s.secret(ctx, resource, r)
}

// remember stores the attempt of the status with the images that the record of the cluster has. The spec has asked for them before, so that an
// older one among them is no request for a downgrade. A new one is not detected yet.
func remember(c *simulated.Cluster, resource *cephv1.Cluster, r *record.Record) error {
	stored := cephupgrade.Upgrade{Named: slices.Sorted(maps.Keys(r.Images))}
	for _, l := range resource.Status.Lifecycles {
		if l.Name == observation.LifecycleUpgrade && l.Attempt != nil {
			stored.Attempt = l.Attempt.ID
		}
	}
	text, err := json.Marshal(stored)
	if err != nil {
		return fmt.Errorf("restoring the record of an upgrade: %w", err)
	}
	c.Keys[connection.KeyUpgrade] = string(text)
	return nil
}

// found adds the daemons to the simulated cluster, and starts those that run.
func found(c *simulated.Cluster, resource *cephv1.Cluster, r *record.Record, running map[cephclient.Daemon]string) error {
	for _, d := range r.Names() {
		one := r.Daemons[d.String()]
		if one.Reference == "" && one.Slot == "" {
			continue // not launched yet
		}
		c.Add(d)
		if d.Type == cephclient.TypeOSD {
			c.UUIDs[r.OSDs[one.Slot]] = d.ID
		}
		if pod := running[d]; pod != "" {
			if err := c.Start(d, one.Version, pod); err != nil {
				return err
			}
		}
		if major := one.Version.Major; d.Type == cephclient.TypeMon {
			c.MinMonRelease = lowest(c.MinMonRelease, major)
		} else if d.Type == cephclient.TypeOSD {
			c.RequireRelease = lowest(c.RequireRelease, major)
		}
	}
	for i := range c.Filesystems {
		for _, want := range resource.Spec.Filesystems {
			if f := &c.Filesystems[i]; f.Name == want.Name {
				f.MaxMDS, f.StandbysWanted = int(want.ActiveCount), int(want.StandbyCount)
			}
		}
	}
	return nil
}

func lowest(so, major int) int {
	if so == 0 || major < so {
		return major
	}
	return so
}

// adopt makes the pods of the input those that the simulation runs, and returns the names of the pods that run, by daemon. On a real
// cluster a pod belongs to a ReplicaSet of its Deployment.
func (s *simulation) adopt(ctx context.Context, resource *cephv1.Cluster) (map[cephclient.Daemon]string, error) {
	var list corev1.PodList
	var deployments appsv1.DeploymentList
	for _, l := range []client.ObjectList{&list, &deployments} {
		if err := s.env.Client.List(ctx, l, client.InNamespace(resource.Namespace), client.MatchingLabels{render.LabelCluster: resource.Name}); err != nil {
			return nil, err
		}
	}
	of := map[cephclient.Daemon]*appsv1.Deployment{}
	for i := range deployments.Items {
		if d, ok := render.DaemonOf(deployments.Items[i].Labels); ok {
			of[d] = &deployments.Items[i]
		}
	}
	running := map[cephclient.Daemon]string{}
	for i := range list.Items {
		p := &list.Items[i]
		d, ok := render.DaemonOf(p.Labels)
		deployment := of[d]
		if !ok || deployment == nil {
			continue
		}
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
		current := p.Spec.Containers[0].Image == deployment.Spec.Template.Spec.Containers[0].Image
		if err := pods.Adopt(p, deployment, current); err != nil {
			return nil, err
		}
		if err := s.env.Store.Put(p); err != nil {
			return nil, err
		}
		if !observation.StartedAt(p).IsZero() && p.DeletionTimestamp == nil {
			running[d] = p.Name
		}
	}
	return running, nil
}

// secret adds keys that stand for those of the cluster: a plan does not read Secrets.
func (s *simulation) secret(ctx context.Context, resource *cephv1.Cluster, r *record.Record) error {
	key := client.ObjectKey{Namespace: resource.Namespace, Name: keys.SecretName(resource.Name)}
	if err := s.env.Client.Get(ctx, key, &corev1.Secret{}); err == nil {
		return nil
	}
	const stand = "key"
	entries := map[string]string{keys.Admin: keys.Keyring(keys.Admin, stand), keys.Mon: keys.Keyring(keys.Mon, stand)}
	for _, d := range daemons.Of(resource) {
		if d.Name.Type != cephclient.TypeOSD && d.Name.Type != cephclient.TypeMon && r.Daemons[d.Name.String()].Reference != "" {
			entries[keys.Entry(d.Name, "")] = keys.Keyring(keys.Entity(d.Name), stand)
		}
	}
	for _, d := range r.Of(cephclient.TypeOSD) {
		entries[keys.Entry(d, r.Daemons[d.String()].Slot)] = keys.Keyring(d.String(), stand)
	}
	entries[keys.SeedEntry] = keys.Seed(entries)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace, Labels: render.Labels(resource.Name)}, Data: map[string][]byte{}}
	for name, text := range entries {
		secret.Data[name] = []byte(text)
	}
	return s.env.Store.Put(secret)
}

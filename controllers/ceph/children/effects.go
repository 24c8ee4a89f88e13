package children

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Detect starts the Job that detects the version of an image. A Job that exists is left as it is.
func (r *Reconciler) Detect(ctx context.Context, c *cephv1.Cluster, s *observation.Snapshot, write lifecycle.Writer, image string) error {
	if s.Detections[render.ImageID(image)].Job != nil {
		return nil
	}
	job := render.Detect(c, image, s.Table.User(image))
	if err := write.Own(job); err != nil {
		return err
	}
	if err := write.Create(ctx, job); err != nil {
		return fmt.Errorf("detecting the version of the image %s: %w", image, err)
	}
	return nil
}

// Replace changes the Deployment of a daemon to the image and to the desired pod. An empty image keeps the present one. That the daemon
// may start on the version is recorded first: data that a newer version has touched can often not be used by an older one.
func (r *Reconciler) Replace(ctx context.Context, c *cephv1.Cluster, s *observation.Snapshot, write lifecycle.Writer, name ceph.Daemon, image string) error {
	t := &scope{Reconciler: r, cluster: c, snapshot: s, write: write}
	have, one, err := t.present(name)
	if err != nil {
		return err
	}
	if s.KeysGone {
		return fmt.Errorf("replacing %s: its new pod cannot start, because the Secret %s is gone: it is restored first: %w", name, keys.SecretName(c.Name), lifecycle.ErrWait)
	}
	if entry := keys.Entry(name, one.Slot); s.Keys[entry] == "" {
		return fmt.Errorf("replacing %s: its new pod cannot start, because the Secret %s lacks the entry %s: %w", name, keys.SecretName(c.Name), entry, lifecycle.ErrWait)
	}
	if image != "" {
		to, detected := s.Record.Images[image]
		if !detected {
			return fmt.Errorf("replacing %s: the version of the image %s is not recorded: %w", name, image, lifecycle.ErrWait)
		}
		one.Image, one.Reference, one.Version = image, to.Reference, to.Version
	} else if set := s.ByHand(name); set != "" {
		one.Image, one.Reference = set, set
	}
	one.Newest = s.Newest(name)
	if !one.Version.IsZero() && one.Version.Major < one.Newest.Major {
		return fmt.Errorf("replacing %s: it was started on %s, and its data cannot be used by %s: set spec.cephVersion.image to an image of %s or later", name, one.Newest, one.Version, one.Newest)
	}
	if err := t.pulled(ctx, name, have, one.Reference); err != nil {
		return err
	}
	if err := t.intend(ctx, name, have, one.Version); err != nil {
		return err
	}
	declared, known := s.Find(name)
	if !known {
		return fmt.Errorf("replacing %s: the spec does not declare it any more", name)
	}
	if one.Version.Compare(one.Newest) > 0 {
		one.Newest = one.Version
	}
	want, err := render.Deployment(t.input(), declared, one)
	if err != nil {
		return err
	}
	return t.update(ctx, name, changed(have, want))
}

// changed returns the Deployment with the desired pod, and with the replicas, the strategy and the annotations of the desired one. One that an
// administrator paused would start no pod of it, and one with another strategy would start it beside the one from before.
func changed(have, want *appsv1.Deployment) *appsv1.Deployment {
	out := have.DeepCopy()
	out.Spec.Template, out.Spec.Replicas, out.Spec.Strategy, out.Spec.Paused = want.Spec.Template, want.Spec.Replicas, want.Spec.Strategy, false
	for key, value := range want.Annotations {
		out.Annotations = put(out.Annotations, key, value)
	}
	return out
}

// pulled pulls the image to the node on which the daemon runs, before the daemon is ended: it would be away as long as that takes, and for
// good if the node cannot pull the image. A daemon that runs nowhere is not taken away.
func (t *scope) pulled(ctx context.Context, name ceph.Daemon, have *appsv1.Deployment, image string) error {
	pod := t.snapshot.Pods[name]
	if pod == nil || observation.StartedAt(pod).IsZero() || have.Spec.Template.Spec.Containers[0].Image == image {
		return nil
	}
	node := pod.Spec.NodeName
	id := render.PullID(t.cluster, name.Type, node, image)
	done, delay := t.snapshot.Pulled(id, name.Type)
	if done {
		return nil
	}
	if t.snapshot.Pulls[id].Job == nil {
		job := render.Pull(t.cluster, name.Type, node, image, t.snapshot.Table.User(image))
		if err := t.write.Own(job); err != nil {
			return err
		}
		if err := t.write.Create(ctx, job); err != nil {
			return fmt.Errorf("pulling the image %s on the node %s: %w", image, node, err)
		}
	}
	why := ""
	if delay != nil {
		why = ": " + delay.Message
	}
	return fmt.Errorf("replacing %s: the node %s pulls the image %s first%s: %w", name, node, image, why, lifecycle.ErrWait)
}

// Scale stops the daemon, or starts it on what it was launched with.
func (r *Reconciler) Scale(ctx context.Context, c *cephv1.Cluster, s *observation.Snapshot, write lifecycle.Writer, name ceph.Daemon, replicas int32) error {
	t := &scope{Reconciler: r, cluster: c, snapshot: s, write: write}
	have, _, err := t.present(name)
	if err != nil {
		return err
	}
	changed := have.DeepCopy()
	changed.Spec.Replicas = &replicas
	return t.update(ctx, name, changed)
}

func (t *scope) present(name ceph.Daemon) (*appsv1.Deployment, record.Daemon, error) {
	have := t.snapshot.Deployments[name]
	if have == nil {
		return nil, record.Daemon{}, fmt.Errorf("changing %s: it has no Deployment yet: %w", name, lifecycle.ErrWait)
	}
	return have, t.snapshot.Runs(name), nil
}

func (t *scope) update(ctx context.Context, name ceph.Daemon, changed *appsv1.Deployment) error {
	if err := t.write.Update(ctx, changed); err != nil {
		return fmt.Errorf("changing the Deployment of %s: %w", name, err)
	}
	return nil
}

package children

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
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
	t := &scope{r, c, s, write}
	have, one, err := t.present(name)
	if err != nil {
		return err
	}
	if image != "" {
		to, detected := s.Record.Images[image]
		if !detected {
			return fmt.Errorf("replacing %s: the version of the image %s is not recorded: %w", name, image, lifecycle.ErrWait)
		}
		one.Image, one.Reference, one.Version = image, to.Reference, to.Version
	}
	if err := t.started(ctx, name, one.Version); err != nil {
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
	changed := have.DeepCopy()
	changed.Spec.Template, changed.Spec.Replicas = want.Spec.Template, want.Spec.Replicas
	for key, value := range want.Annotations {
		changed.Annotations = put(changed.Annotations, key, value)
	}
	return t.update(ctx, name, changed)
}

// started records the newest version that a daemon may have been started on, if it is newer than the recorded one.
func (t *scope) started(ctx context.Context, name ceph.Daemon, version versions.Version) error {
	next := t.next()
	one := next.Daemons[name.String()]
	if version.Compare(one.Newest) <= 0 {
		return nil
	}
	one.Newest = version
	next.Daemons[name.String()] = one
	return t.store(ctx, next)
}

// Scale stops the daemon, or starts it on what it was launched with.
func (r *Reconciler) Scale(ctx context.Context, c *cephv1.Cluster, s *observation.Snapshot, write lifecycle.Writer, name ceph.Daemon, replicas int32) error {
	t := &scope{r, c, s, write}
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

package children

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// intend records that a daemon is about to be started on a version, if that is newer than all that it was started on.
func (t *scope) intend(ctx context.Context, name ceph.Daemon, have *appsv1.Deployment, version versions.Version) error {
	next := t.next()
	one := next.Daemons[name.String()]
	before := one.Intent
	if version.Compare(one.Newest) <= 0 || before.Version.Same(version) && !observation.Withdrawn(have, before) {
		return nil
	}
	if one.Newest = t.snapshot.Newest(name); version.Compare(one.Newest) > 0 {
		one.Intent = record.Intent{Version: version, Deployment: string(have.UID), Generation: have.Generation, ResourceVersion: have.ResourceVersion}
	}
	next.Daemons[name.String()] = one
	return t.store(ctx, next)
}

// withdraw forgets the starts that were about to be made and are not any more, because the spec or the health has changed before. The
// Deployment is marked first: a process that ended may have sent a change of it, which fails from then on. The mark goes with the intent.
func (t *scope) withdraw(ctx context.Context) error {
	next := t.next()
	for _, name := range next.Names() {
		one, have := next.Daemons[name.String()], t.snapshot.Deployments[name]
		if one.Intent.Version.IsZero() || !observation.Untouched(have, one.Intent) {
			if err := t.mark(ctx, name, have, ""); err != nil {
				return err
			}
			continue
		}
		if t.replaces(name) {
			continue
		}
		if !observation.Withdrawn(have, one.Intent) {
			if err := t.mark(ctx, name, have, one.Intent.ResourceVersion); err != nil {
				return err
			}
			continue
		}
		one.Intent = record.Intent{}
		next.Daemons[name.String()] = one
	}
	return t.store(ctx, next)
}

// mark names on a Deployment, if there is one, the change that is made no more, or none.
func (t *scope) mark(ctx context.Context, name ceph.Daemon, have *appsv1.Deployment, change string) error {
	if have == nil || have.Annotations[render.Withdrawn] == change {
		return nil
	}
	marked := have.DeepCopy()
	if change == "" {
		delete(marked.Annotations, render.Withdrawn)
	} else {
		marked.Annotations = put(marked.Annotations, render.Withdrawn, change)
	}
	return t.update(ctx, name, marked)
}

// replaces reports whether the upgrade replaces the daemon at present.
func (t *scope) replaces(name ceph.Daemon) bool {
	return observation.State(t.cluster) == cephupgrade.ReplacingDaemon && t.snapshot.Selected == name
}

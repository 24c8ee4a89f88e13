package children

import (
	"context"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

// relaunch changes the Deployments of monitors to what the spec wants now, while no daemon of the cluster has ever served: an upgrade decides
// nothing without a quorum, and no data depends on what they ran. The next reconcile records their image. That of one without a Deployment,
// such as one that the API server refuses, is recorded at once. One whose image an administrator set is left as it is.
func (t *scope) relaunch(ctx context.Context) error {
	if t.snapshot.Founded() || facts.Launch(t.cluster, t.snapshot).Outcome != decision.Permitted {
		return nil
	}
	next := t.next()
	for _, name := range t.snapshot.Record.Of(ceph.TypeMon) {
		if one := next.Daemons[name.String()]; t.snapshot.Deployments[name] == nil && one.Reference != "" && one.Format == record.FormatAllowed && one.ByHand == "" {
			t.want(&one)
			next.Daemons[name.String()] = one
			continue
		}
		if err := t.relaunchOne(ctx, name); err != nil {
			return err
		}
	}
	return t.store(ctx, next)
}

// want sets the image that the spec wants. Without an image in the spec a monitor keeps its own.
func (t *scope) want(one *record.Daemon) {
	wanted := facts.Spec(t.cluster, t.snapshot).Wanted
	if image, detected := t.snapshot.Record.Images[wanted.Name]; detected {
		one.Image, one.Reference, one.Version, one.Newest = wanted.Name, image.Reference, image.Version, image.Version
	}
}

func (t *scope) relaunchOne(ctx context.Context, name ceph.Daemon) error {
	have, one := t.snapshot.Deployments[name], t.snapshot.Record.Daemons[name.String()]
	declared, known := t.snapshot.Find(name)
	if !known || have == nil || one.Format != record.FormatAllowed || t.snapshot.ByHand(name) != "" {
		return nil
	}
	t.want(&one)
	want, err := render.Deployment(t.input(), declared, one)
	if err != nil {
		return err
	}
	if have.Annotations[render.Template] == want.Annotations[render.Template] && have.Spec.Template.Spec.Containers[0].Image == one.Reference {
		return nil
	}
	return t.update(ctx, name, changed(have, want))
}

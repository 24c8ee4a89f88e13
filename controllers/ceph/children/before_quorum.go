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
// nothing without a quorum, and no data depends on what they ran. The next reconcile records their image. One whose image an administrator
// set is left as it is.
func (t *scope) relaunch(ctx context.Context) error {
	if t.snapshot.Founded() || facts.Launch(t.cluster, t.snapshot).Outcome != decision.Permitted {
		return nil
	}
	for _, name := range t.snapshot.Record.Of(ceph.TypeMon) {
		if err := t.relaunchOne(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (t *scope) relaunchOne(ctx context.Context, name ceph.Daemon) error {
	have, one := t.snapshot.Deployments[name], t.snapshot.Record.Daemons[name.String()]
	declared, known := t.snapshot.Find(name)
	if !known || have == nil || one.Format != record.FormatAllowed || t.snapshot.ByHand(name) != "" {
		return nil
	}
	wanted := facts.Spec(t.cluster, t.snapshot).Wanted
	if image, detected := t.snapshot.Record.Images[wanted.Name]; detected { // without an image in the spec it keeps its own
		one.Image, one.Reference, one.Version, one.Newest = wanted.Name, image.Reference, image.Version, image.Version
	}
	want, err := render.Deployment(t.input(), declared, one)
	if err != nil {
		return err
	}
	if have.Annotations[render.Template] == want.Annotations[render.Template] && have.Spec.Template.Spec.Containers[0].Image == one.Reference {
		return nil
	}
	return t.update(ctx, name, changed(have, want))
}

package children

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// failures are the errors of steps that do not depend on each other.
type failures []error

// goesOn adds the error of a step, if it has one, and reports whether the next step may be taken. It may after a step that failed, and not
// after one that has to wait: commands are sent one at a time, and nothing is written while a cache is behind.
func (f *failures) goesOn(err error) bool {
	if err != nil {
		*f = append(*f, err)
	}
	return !errors.Is(err, lifecycle.ErrWait) && !errors.Is(err, lifecycle.ErrStale)
}

// tried adds the error of an object, if it has one, and reports whether the next object may be applied. It may also after one that has to wait, such
// as until another of its name is gone.
func (f *failures) tried(err error) bool {
	f.goesOn(err)
	return !errors.Is(err, lifecycle.ErrStale)
}

func (f *failures) join() error { return errors.Join(*f...) }

// repair creates the Deployments that are missing, on what their daemons last ran, and owns those without an owner. One that cannot be created
// keeps no other from it.
func (t *scope) repair(ctx context.Context) error {
	var failed failures
	for _, name := range t.snapshot.Record.Names() {
		if have := t.snapshot.Deployments[name]; have != nil && metav1.GetControllerOf(have) == nil && !failed.goesOn(t.own(ctx, name, have)) {
			break
		}
		declared, known := t.snapshot.Find(name)
		if !known || t.snapshot.Deployments[name] != nil || t.snapshot.Record.Daemons[name.String()].Reference == "" {
			continue
		}
		if !failed.goesOn(t.repairOne(ctx, declared)) {
			break
		}
	}
	return failed.join()
}

// own owns a Deployment that a Cluster left which was deleted without its children, or whose owner was edited: it would outlive the Cluster. The
// Cluster is read live: if it is deleted without its children, they lose their owner before it is gone, and would be deleted with it otherwise.
func (t *scope) own(ctx context.Context, name ceph.Daemon, have *appsv1.Deployment) error {
	var now cephv1.Cluster
	if err := t.Live.Get(ctx, client.ObjectKeyFromObject(t.cluster), &now); err != nil {
		return fmt.Errorf("owning the Deployment of %s: %w", name, err)
	}
	if now.UID != t.cluster.UID || now.DeletionTimestamp != nil || have.DeletionTimestamp != nil {
		return nil
	}
	owned := have.DeepCopy()
	if err := t.write.Own(owned); err != nil {
		return err
	}
	return t.update(ctx, name, owned)
}

func (t *scope) repairOne(ctx context.Context, declared daemons.Daemon) error {
	one, err := t.last(declared.Name)
	if err != nil {
		return err
	}
	d, err := render.Deployment(t.input(), declared, one)
	if err != nil {
		return err
	}
	if t.outrun(declared, one.Version) {
		d.Spec.Replicas = new(int32(0))
	}
	if err := t.write.Own(d); err != nil {
		return err
	}
	if err := t.write.Create(ctx, d); err != nil {
		return fmt.Errorf("creating the Deployment of %s: %w", declared.Name, err)
	}
	return nil
}

// outrun reports whether another metadata server of the filesystem runs a release beside which none of this version may run. The upgrade
// has stopped the daemon, and starts it on that release.
func (t *scope) outrun(d daemons.Daemon, version versions.Version) bool {
	return d.Name.Type == ceph.TypeMDS && slices.ContainsFunc(t.snapshot.Declared, func(o daemons.Daemon) bool {
		if o.Name.Type != ceph.TypeMDS || o.Filesystem != d.Filesystem {
			return false
		}
		runs := t.snapshot.Runs(o.Name).Version
		release, known := t.snapshot.Table.Release(runs.Major)
		return known && release.MDSStandbys == versions.StandbysStop && runs.Major > version.Major
	})
}

// last returns what a daemon last ran: the image that an administrator set by hand, or that of the newest release that it may have been
// started on. Its Deployment may be lost before what an effect wrote there is recorded, and an older release can destroy newer data.
func (t *scope) last(name ceph.Daemon) (record.Daemon, error) {
	one := t.snapshot.Record.Daemons[name.String()]
	one.Newest = t.snapshot.Newest(name)
	switch {
	case one.ByHand != "":
		one.Image, one.Reference = one.ByHand, one.ByHand
	case !one.Version.IsZero() && one.Version.Major < one.Newest.Major:
		image, of, found := t.snapshot.Record.ImageOf(one.Newest)
		if !found {
			return one, fmt.Errorf("creating the Deployment of %s: it may have been started on %s, and no image of that version is known: set spec.cephVersion.image or spec.upgradePolicy to one", name, one.Newest)
		}
		one.Image, one.Reference, one.Version = image, of.Reference, of.Version
	}
	return one, nil
}

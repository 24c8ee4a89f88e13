package children

import (
	"context"
	"fmt"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

func (t *scope) monServices(ctx context.Context) error {
	for _, d := range t.declaredOf(ceph.TypeMon) {
		if t.snapshot.Services[d.Name] != nil {
			continue
		}
		service := render.MonService(t.cluster, d.Name)
		service.Spec.ClusterIP = t.snapshot.Record.Daemons[d.Name.String()].Address // of one that was lost
		if err := t.write.Create(ctx, service); err != nil {
			return fmt.Errorf("creating the Service of %s: %w", d.Name, err)
		}
	}
	return nil
}

func (t *scope) config(ctx context.Context) error {
	return t.write.Apply(ctx, render.Config(t.cluster, t.snapshot.Record))
}

// tools applies the Deployment in whose pod commands are run. It has the oldest image of the monitors: the command of a newer one may ask
// for what they do not know, and a monitor of a newer release answers older commands.
func (t *scope) tools(ctx context.Context) error {
	if !t.Tools {
		return nil
	}
	var oldest record.Daemon
	for _, name := range t.snapshot.Record.Of(ceph.TypeMon) {
		if t.snapshot.Record.Daemons[name.String()].Reference == "" {
			continue
		}
		if one := t.snapshot.Runs(name); oldest.Reference == "" || one.Version.Compare(oldest.Version) < 0 {
			oldest = one
		}
	}
	if oldest.Reference == "" {
		return nil // before the monitors are launched there is nothing to ask
	}
	return t.write.Apply(ctx, render.Tools(t.input(), oldest))
}

func (t *scope) storeServices(ctx context.Context) error {
	for i := range t.cluster.Spec.ObjectStores {
		if err := t.write.Apply(ctx, render.StoreService(t.cluster, &t.cluster.Spec.ObjectStores[i])); err != nil {
			return err
		}
	}
	return nil
}

// launch records the image of each daemon whose turn it is. Its Deployment is created in a later reconcile.
func (t *scope) launch(ctx context.Context) error {
	next, grown := t.next(), false
	first := !t.snapshot.Launched()
	for _, d := range t.snapshot.Declared {
		one := next.Daemons[d.Name.String()]
		if first && d.Name.Type != ceph.TypeMon && d.Name.Type != ceph.TypeOSD {
			one.Authorized = true // its key is in the seed of the monitors
			next.Daemons = put(next.Daemons, d.Name.String(), one)
		}
		if one.Reference != "" || !t.turn(d, &one, next) {
			continue
		}
		image, found := t.image(d)
		if !found {
			continue
		}
		one.Image, one.Reference, one.Version, one.Newest = image.Image, image.Reference, image.Version, image.Version
		next.Daemons, grown = put(next.Daemons, d.Name.String(), one), grown || d.Name.Type == ceph.TypeMon
	}
	if first && !slices.ContainsFunc(next.Of(ceph.TypeMon), func(m ceph.Daemon) bool { return next.Daemons[m.String()].Reference != "" }) {
		return nil // what the seed contains counts from the launch of the monitors
	}
	if grown { // a monitor makes its data from the monitors in the configuration, which has to contain it before its Deployment is created
		if err := t.write.Apply(ctx, render.Config(t.cluster, next)); err != nil {
			return err
		}
	}
	return t.store(ctx, next)
}

// turn reports whether the daemon may be launched now.
func (t *scope) turn(d daemons.Daemon, one *record.Daemon, next *record.Record) bool {
	m, known := t.snapshot.Cluster.Get()
	known = known && len(m.Quorum.Members) > 0
	up := slices.ContainsFunc(m.OSDs.OSDs, func(o ceph.OSD) bool { return o.Up })
	switch d.Name.Type {
	case ceph.TypeMon:
		return t.founds() || known && joins(d.Name, next) && 2*len(m.Quorum.Members) > len(m.Quorum.Monitors)
	case ceph.TypeMgr:
		return known && one.Authorized
	case ceph.TypeOSD:
		return known && d.Name.ID != "" && (d.Claims == nil || t.snapshot.Claims[d.Slot] != nil)
	case ceph.TypeRGW:
		return known && one.Authorized && up
	case ceph.TypeMDS:
		return known && one.Authorized && !t.stopped(d.Filesystem) && slices.ContainsFunc(m.Filesystems.Filesystems, func(f ceph.Filesystem) bool { return f.Name == d.Filesystem })
	}
	return false
}

// stopped reports whether a standby of the filesystem is stopped. A new one waits too: on the older release it could become active after a
// newer one.
func (t *scope) stopped(filesystem string) bool {
	return slices.ContainsFunc(facts.Daemons(t.snapshot), func(d cephupgrade.Daemon) bool {
		return d.Name.Type == ceph.TypeMDS && d.Filesystem == filesystem && d.Stopped
	})
}

// founds reports whether the monitors are launched together: all of them have an address, and none was launched. One that was launched may
// already make its data from the monitors that were declared then, and elect itself among them, unseen.
func (t *scope) founds() bool {
	launched := slices.ContainsFunc(t.snapshot.Record.Of(ceph.TypeMon), func(m ceph.Daemon) bool { return t.snapshot.Record.Daemons[m.String()].Reference != "" })
	return !launched && !slices.ContainsFunc(t.declaredOf(ceph.TypeMon), func(m daemons.Daemon) bool {
		return t.snapshot.Record.Daemons[m.Name.String()].Address == ""
	})
}

// joins reports whether a monitor may be added to those that serve: it has an address, and each one that was launched has served. New
// monitors that are a majority of those they know would found a second cluster under the same fsid while the others are down.
func joins(name ceph.Daemon, next *record.Record) bool {
	return next.Daemons[name.String()].Address != "" && !slices.ContainsFunc(next.Of(ceph.TypeMon), func(m ceph.Daemon) bool {
		one := next.Daemons[m.String()]
		return one.Reference != "" && one.Format != record.FormatDone
	})
}

// image returns what a new daemon runs: the oldest that daemons of its filesystem run, else of its type, else any daemon, else what the spec
// asks for.
func (t *scope) image(d daemons.Daemon) (oldest record.Daemon, found bool) {
	for _, like := range []func(daemons.Daemon) bool{
		func(o daemons.Daemon) bool { return o.Name.Type == d.Name.Type && o.Filesystem == d.Filesystem },
		func(o daemons.Daemon) bool { return o.Name.Type == d.Name.Type },
		func(daemons.Daemon) bool { return true },
	} {
		for _, name := range t.snapshot.Record.Names() {
			one := t.snapshot.Record.Daemons[name.String()]
			declared, known := t.snapshot.Find(name)
			if !known {
				declared.Name = name
			}
			if one.Reference != "" && like(declared) && (!found || one.Version.Compare(oldest.Version) < 0) {
				oldest, found = one, true
			}
		}
		if found {
			return oldest, true
		}
	}
	wanted := facts.Spec(t.cluster, t.snapshot).Wanted
	image, known := t.snapshot.Record.Images[wanted.Name]
	return record.Daemon{Image: wanted.Name, Reference: image.Reference, Version: image.Version}, known
}

// repair creates the Deployments that are missing, on what their daemons last ran.
func (t *scope) repair(ctx context.Context) error {
	for _, name := range t.snapshot.Record.Names() {
		declared, known := t.snapshot.Find(name)
		if !known || t.snapshot.Deployments[name] != nil || t.snapshot.Record.Daemons[name.String()].Reference == "" {
			continue
		}
		one, err := t.last(name)
		if err != nil {
			return err
		}
		d, err := render.Deployment(t.input(), declared, one)
		if err != nil {
			return err
		}
		if err := t.write.Own(d); err != nil {
			return err
		}
		if err := t.write.Create(ctx, d); err != nil {
			return fmt.Errorf("creating the Deployment of %s: %w", name, err)
		}
	}
	return nil
}

// last returns what a daemon last ran: the image that an administrator set by hand, or that of the newest release that it may have been
// started on. Its Deployment may be lost before what an effect wrote there is recorded, and an older release can destroy newer data.
func (t *scope) last(name ceph.Daemon) (record.Daemon, error) {
	one := t.snapshot.Record.Daemons[name.String()]
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

// create creates what daemons need in Ceph: keys, OSDs and filesystems.
func (t *scope) create(ctx context.Context) error {
	if err := t.claims(ctx); err != nil {
		return err
	}
	m, known := t.snapshot.Cluster.Get()
	if !known || len(m.Quorum.Members) == 0 {
		return nil
	}
	if err := t.authorize(ctx); err != nil {
		return err
	}
	for _, d := range t.declaredOf(ceph.TypeOSD) {
		if d.Name.ID != "" {
			continue
		}
		key, _ := keys.KeyOf(t.snapshot.Keys[keys.Entry(d.Name, d.Slot)])
		if _, err := t.send(ctx, connection.Command{NewOSD: &connection.NewOSD{UUID: t.snapshot.Record.OSDs[d.Slot], Key: key}}); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(m.OSDs.OSDs, func(o ceph.OSD) bool { return o.Up }) {
		return nil
	}
	for i := range t.cluster.Spec.Filesystems {
		if err := t.filesystem(ctx, m.Filesystems.Filesystems, &t.cluster.Spec.Filesystems[i]); err != nil {
			return err
		}
	}
	return nil
}

// severalFilesystems is the release from which a cluster may have several filesystems: a metadata server of 14 joins any of them.
const severalFilesystems = 16

// filesystem creates a filesystem, and sets its numbers of metadata servers while no upgrade has reduced them. Ceph would miss standbys that
// are not declared.
func (t *scope) filesystem(ctx context.Context, exist []ceph.Filesystem, want *cephv1.FilesystemSpec) error {
	at := slices.IndexFunc(exist, func(f ceph.Filesystem) bool { return f.Name == want.Name })
	if at < 0 {
		if oldest, _ := t.image(daemons.Daemon{Name: ceph.Daemon{Type: ceph.TypeMon}}); len(exist) > 0 && !oldest.Version.IsZero() && oldest.Version.Major < severalFilesystems {
			return fmt.Errorf("creating the filesystem %s: release %d cannot tell the metadata servers of several filesystems apart: upgrade to release %d or later first", want.Name, oldest.Version.Major, severalFilesystems)
		}
		_, err := t.send(ctx, connection.Command{NewFilesystem: &connection.NewFilesystem{Name: want.Name, Several: len(exist) > 0}})
		return err
	}
	have, active, standbys := &exist[at], int(want.ActiveCount), int(want.StandbyCount)
	if have.MaxMDS == active && have.StandbysWanted == standbys || !observation.Resting(t.cluster) {
		return nil
	}
	_, err := t.send(ctx, connection.Command{Counts: &connection.Counts{Filesystem: want.Name, Active: active, Standbys: standbys}})
	return err
}

// authorize adds the keys of daemons that were declared after the cluster was launched.
func (t *scope) authorize(ctx context.Context) error {
	next := t.next()
	for _, d := range t.snapshot.Declared {
		one := next.Daemons[d.Name.String()]
		if one.Authorized || d.Name.Type == ceph.TypeMon || d.Name.Type == ceph.TypeOSD {
			continue
		}
		entity := keys.Entity(d.Name)
		done, err := t.send(ctx, connection.Command{ImportKeys: &connection.ImportKeys{Entity: entity, Keyring: t.snapshot.Keys[entity]}})
		if err != nil {
			return err
		}
		if done {
			one.Authorized = true
			next.Daemons = put(next.Daemons, d.Name.String(), one)
		}
	}
	return t.store(ctx, next)
}

func (t *scope) send(ctx context.Context, command connection.Command) (done bool, err error) {
	return t.Sender.Send(ctx, t.snapshot.Endpoint, command, t.snapshot.Now)
}

func (t *scope) claims(ctx context.Context) error {
	for _, d := range t.declaredOf(ceph.TypeOSD) {
		if t.snapshot.Claims[d.Slot] != nil {
			continue
		}
		claim, err := render.Claim(t.cluster, d)
		if err != nil {
			return err
		}
		if claim == nil {
			continue
		}
		if err := t.write.Create(ctx, claim); err != nil {
			return fmt.Errorf("creating the claim %s: %w", claim.Name, err)
		}
	}
	return nil
}

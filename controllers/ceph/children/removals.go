package children

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/transitions"
)

// removals forgets the OSDs that were removed from Ceph. Their names may be given to other OSDs once nothing is left of them.
func (t *scope) removals(next *record.Record) {
	for _, name := range next.Of(ceph.TypeOSD) {
		one := next.Daemons[name.String()]
		switch gone := facts.Gone(t.snapshot, name); {
		case facts.Removed(t.snapshot, name):
			next.Removed = put(next.Removed, one.Slot, record.Removed{OSD: name.String(), Empty: facts.Empty(t.snapshot, name), Served: one.Format == record.FormatDone})
			delete(next.Daemons, name.String())
			continue
		case gone == transitions.Yes && one.Absent.IsZero():
			one.Absent = t.snapshot.Now.UTC()
		case gone == transitions.No && !one.Absent.IsZero():
			one.Absent = time.Time{}
		default:
			continue
		}
		next.Daemons[name.String()] = one
	}
}

// reuse gives the storage of removed OSDs the UUID of another OSD, which is made then, where that may be done and nothing is left of the
// removed one. Storage whose OSD an administrator added to Ceph again is used as before.
func (t *scope) reuse(next *record.Record) error {
	if t.snapshot.Record == nil {
		return nil
	}
	for _, slot := range slices.Sorted(maps.Keys(t.snapshot.Record.Removed)) {
		if osd, added := t.added(next.OSDs[slot]); added {
			t.addAgain(next, slot, osd)
			continue
		}
		if !facts.Reuse(t.cluster, t.snapshot, slot) || t.snapshot.Left(next.Removed[slot].Name()) {
			continue
		}
		uuid, err := keys.NewUUID(t.Random)
		if err != nil {
			return err
		}
		next.OSDs[slot] = uuid
		delete(next.Removed, slot)
	}
	return nil
}

// added returns the OSD that the map has with the UUID, and false if it has none.
func (t *scope) added(uuid string) (ceph.Daemon, bool) {
	m, known := observation.Known(t.snapshot.Cluster)
	at := slices.IndexFunc(m.OSDs.OSDs, func(o ceph.OSD) bool { return o.UUID == uuid })
	if !known || at < 0 {
		return ceph.Daemon{}, false
	}
	return m.OSDs.OSDs[at].Daemon(), true
}

// addAgain records an OSD that was added to Ceph again. If it had served, its data exists, and is not made again. It waits for a number that
// another one of the removed OSDs had, until nothing is left of that.
func (t *scope) addAgain(next *record.Record, slot string, osd ceph.Daemon) {
	before := next.Removed[slot]
	if _, taken := next.Daemons[osd.String()]; taken || before.OSD != osd.String() && t.snapshot.Left(osd) {
		return
	}
	one := record.Daemon{Slot: slot, Format: record.FormatAllowed}
	if before.Served && !before.Empty {
		one.Format = record.FormatDone
	}
	next.Daemons = put(next.Daemons, osd.String(), one)
	delete(next.Removed, slot)
}

// clear deletes the Deployments of OSDs that were removed from Ceph, and of monitors whose host is gone and that were moved to another one,
// which are created again there. That makes nothing unavailable: Ceph accepts such an OSD no more, and such a monitor cannot run.
func (t *scope) clear(ctx context.Context) error {
	for _, slot := range slices.Sorted(maps.Keys(t.snapshot.Record.Removed)) {
		osd := t.snapshot.Record.Removed[slot].Name()
		left := t.snapshot.Deployments[osd]
		if left == nil || !t.snapshot.Left(osd) {
			continue
		}
		if err := t.write.Delete(ctx, left); err != nil {
			return fmt.Errorf("deleting the Deployment of %s, which was removed from Ceph: %w", osd, err)
		}
	}
	for _, mon := range t.snapshot.Record.Of(ceph.TypeMon) {
		one, left := t.snapshot.Record.Daemons[mon.String()], t.snapshot.Deployments[mon]
		if left == nil || one.Format != record.FormatAllowed || one.Remade == 0 || render.BoundTo(&left.Spec.Template) == one.Node {
			continue
		}
		if err := t.write.Delete(ctx, left); err != nil {
			return fmt.Errorf("deleting the Deployment of %s, which moves to the host %s: %w", mon, one.Node, err)
		}
	}
	return nil
}

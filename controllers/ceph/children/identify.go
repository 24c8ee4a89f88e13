package children

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// identify records what identifies the cluster and its daemons, and what was observed that cannot be observed again.
func (t *scope) identify(ctx context.Context) error {
	next := t.next()
	t.removals(next)
	if err := t.reuse(next); err != nil {
		return err
	}
	if err := t.assign(next); err != nil {
		return err
	}
	t.unplaced = t.place(ctx, next)
	t.detected(next)
	t.moved(next)
	t.dataDirs(next)
	t.remake(next)
	t.filesystems(next)
	return t.store(ctx, next)
}

// assign makes the fsid and the UUIDs of OSDs, and records the numbers that Ceph assigned.
func (t *scope) assign(next *record.Record) (err error) {
	if next.FSID == "" {
		if next.FSID, err = keys.NewUUID(t.Random); err != nil {
			return err
		}
	}
	for _, d := range t.snapshot.Declared {
		if _, removed := next.Removed[d.Slot]; removed || d.Name.Type != ceph.TypeOSD {
			continue
		}
		if next.OSDs[d.Slot] == "" {
			uuid, err := keys.NewUUID(t.Random)
			if err != nil {
				return err
			}
			next.OSDs = put(next.OSDs, d.Slot, uuid)
		}
		if _, known := next.Daemons[d.Name.String()]; !known && d.Name.ID != "" {
			next.Daemons = put(next.Daemons, d.Name.String(), record.Daemon{Slot: d.Slot, Format: record.FormatAllowed})
		}
	}
	return nil
}

// put returns the map with an entry.
func put[K comparable, V any](into map[K]V, key K, value V) map[K]V {
	if into == nil {
		into = map[K]V{}
	}
	into[key] = value
	return into
}

// place chooses the hosts of monitors, which keep their data there, and records their addresses. A monitor that cannot be placed is not
// launched, and no other one until it is: the rest of the cluster is kept as it is. One that was not launched is placed again if its host can
// have it no more. One that was launched, and whose host is gone, keeps it until it is approved to move it, and another host can have it.
func (t *scope) place(ctx context.Context, next *record.Record) error {
	hosts, err := t.unplace(ctx, next)
	if err != nil {
		return err
	}
	moves := t.moves()
	for _, d := range t.snapshot.Declared {
		if d.Name.Type != ceph.TypeMon {
			continue
		}
		name := d.Name.String()
		one := next.Daemons[name]
		if one.Node == "" || moves[d.Name] {
			if hosts == nil {
				if hosts, err = t.hosts(ctx); err != nil {
					return err
				}
			}
			chosen := t.freest(next, hosts)
			if chosen == "" {
				return noHost(d.Name, hosts)
			}
			one.Node, one.Format = chosen, record.FormatAllowed
			t.lay(&one)
			if moves[d.Name] {
				one.Remade++
			}
		}
		if service := t.snapshot.Services[d.Name]; service != nil && one.Address == "" && service.Spec.ClusterIP != corev1.ClusterIPNone {
			one.Address = service.Spec.ClusterIP
		}
		next.Daemons = put(next.Daemons, name, one)
	}
	return nil
}

// lay gives a monitor without data its directory, as the spec wants it now.
func (t *scope) lay(one *record.Daemon) {
	one.Directory, one.DataDir = render.MonDirectory(t.cluster), t.cluster.Spec.DataDirHostPath
}

// unplace forgets the hosts of monitors that were not launched where the host is gone or excluded, and returns the hosts if it read them. Those
// that keep their host may have been placed for a Cluster that was deleted.
func (t *scope) unplace(ctx context.Context, next *record.Record) (hosts []host, err error) {
	for _, d := range t.declaredOf(ceph.TypeMon) {
		one := next.Daemons[d.Name.String()]
		if one.Node == "" || one.Reference != "" {
			continue
		}
		if hosts == nil {
			if hosts, err = t.hosts(ctx); err != nil {
				return nil, err
			}
		}
		if !slices.ContainsFunc(hosts, func(h host) bool { return h.name == one.Node && h.excluded == nil }) {
			one.Node = ""
		}
		t.lay(&one)
		next.Daemons[d.Name.String()] = one
	}
	return hosts, nil
}

// moves returns the monitors that are approved to be made on another host.
func (t *scope) moves() map[ceph.Daemon]bool {
	moves := map[ceph.Daemon]bool{}
	for _, l := range facts.Losses(t.snapshot) {
		if l.HostGone && facts.Remake(t.cluster, t.snapshot, &l) {
			moves[l.Daemon.Name] = true
		}
	}
	return moves
}

// detected records the versions that were detected in the images of the spec, and forgets the images that neither the spec nor a daemon uses:
// a tag that is moved is detected again when it is next asked for.
func (t *scope) detected(next *record.Record) {
	spec := facts.Spec(t.cluster, t.snapshot)
	names := []string{spec.Wanted.Name}
	if spec.Policy != nil {
		names = append(names, spec.Policy.Image.Name)
	}
	for _, name := range names {
		if _, known := next.Images[name]; known || name == "" {
			continue
		}
		if found, _ := t.snapshot.Detected(name); found != nil {
			next.Images = put(next.Images, name, *found)
		}
	}
	maps.DeleteFunc(next.Images, func(name string, i record.Image) bool {
		used := func(d record.Daemon) bool {
			return d.Image == name || d.Reference == i.Reference || !i.Version.IsZero() && (d.Newest.Same(i.Version) || d.Intent.Version.Same(i.Version)) // see last
		}
		return !slices.Contains(names, name) && !slices.ContainsFunc(slices.Collect(maps.Values(next.Daemons)), used)
	})
}

// served withdraws the permission to format from monitors and OSDs that serve. An OSD is ready once it is a member of the cluster, so that its
// pod says enough while Ceph is not read: data that is lost after a pause would be made again otherwise. The readiness of a monitor says nothing
// of the quorum.
func (t *scope) served(next *record.Record) {
	m, known := observation.Known(t.snapshot.Cluster)
	for _, name := range next.Names() {
		d, pod := next.Daemons[name.String()], t.snapshot.Pods[name]
		active := name.Type == ceph.TypeOSD && pod != nil && observation.Ready(pod)
		if d.Format == record.FormatAllowed && (active || known && facts.Serves(&m, name)) {
			d.Format = record.FormatDone
			next.Daemons[name.String()] = d
		}
	}
}

// located records the node on which an OSD on a volume claim first serves: that of its ready pod. It is recorded with what served records, also
// during a pause: the OSD would move in CRUSH with its pod otherwise.
func (t *scope) located(next *record.Record) {
	for _, d := range t.declaredOf(ceph.TypeOSD) {
		one, recorded := next.Daemons[d.Name.String()]
		pod := t.snapshot.Pods[d.Name]
		if !recorded || d.Claims == nil || one.CrushHost != "" || pod == nil || pod.DeletionTimestamp != nil || !observation.Ready(pod) {
			continue
		}
		one.CrushHost = pod.Spec.NodeName
		next.Daemons[d.Name.String()] = one
	}
}

// moved records another host in CRUSH of an OSD on a volume claim, where that is approved. The OSD moves there when it starts next.
func (t *scope) moved(next *record.Record) {
	for _, d := range t.declaredOf(ceph.TypeOSD) {
		one, recorded := next.Daemons[d.Name.String()]
		if to, approved := facts.MoveTo(t.cluster, t.snapshot, d); approved && recorded {
			one.CrushHost, one.BeforeMove = to, observation.StartedAt(t.snapshot.Pods[d.Name])
			next.Daemons[d.Name.String()] = one
		}
	}
}

// dataDirs completes the directories of monitors that an earlier release placed, by their ready pods: a monitor is not ready without its data,
// which the spec of a Cluster that was created again may declare elsewhere.
func (t *scope) dataDirs(next *record.Record) {
	for _, d := range t.declaredOf(ceph.TypeMon) {
		one, recorded := next.Daemons[d.Name.String()]
		pod := t.snapshot.Pods[d.Name]
		if !recorded || one.DataDir != "" || one.Format != record.FormatDone || pod == nil || !observation.Ready(pod) {
			continue
		}
		if one.DataDir = render.DataDir(t.cluster, &one, d.Name, pod); one.DataDir != "" {
			next.Daemons[d.Name.String()] = one
		}
	}
}

// remake permits to make the lost data of a monitor again, once for each approval. The permission is withdrawn when it serves.
func (t *scope) remake(next *record.Record) {
	for _, l := range facts.Losses(t.snapshot) {
		if l.HostGone || !facts.Remake(t.cluster, t.snapshot, &l) {
			continue
		}
		one := next.Daemons[l.Daemon.Name.String()]
		one.Format, one.Remade = record.FormatAllowed, one.Remade+1
		next.Daemons[l.Daemon.Name.String()] = one
	}
}

// filesystems records the declared filesystems that exist, so that one that is removed is not created again. An approval to create one again
// is used up then.
func (t *scope) filesystems(next *record.Record) {
	m, known := t.snapshot.Cluster.Get()
	if !known {
		return
	}
	for i := range t.cluster.Spec.Filesystems {
		name := t.cluster.Spec.Filesystems[i].Name
		if !slices.ContainsFunc(m.Filesystems.Filesystems, func(f ceph.Filesystem) bool { return f.Name == name }) {
			continue
		}
		count := next.Filesystems[name]
		if facts.MayCreateAgain(t.cluster, next, name) {
			count++
		}
		next.Filesystems = put(next.Filesystems, name, count)
	}
}

// adopt records the image of a Deployment that was changed by an effect whose end was not seen, or by an administrator. What an administrator
// set counts once it is recorded and the daemon has then reported its version from a pod with it. A gateway reports none.
func (t *scope) adopt(next *record.Record) {
	for name := range t.snapshot.Deployments {
		d, recorded := next.Daemons[name.String()]
		if !recorded || d.Reference == "" {
			continue
		}
		if image := t.snapshot.ByHand(name); image == "" {
			runs := t.snapshot.Runs(name)
			d.Image, d.Reference, d.Version, d.ByHand, d.ByHandPod = runs.Image, runs.Reference, runs.Version, "", ""
		} else if d.ByHand != image {
			d.ByHand, d.ByHandPod = image, t.before(name, image)
		} else if version, reported := facts.Reported(t.snapshot, name, image); reported {
			d.Image, d.Reference, d.Version, d.ByHand, d.ByHandPod = image, image, version, "", ""
		}
		if d.Version.Compare(d.Newest) > 0 || !t.snapshot.Founded() { // see before_quorum.go
			d.Newest = d.Version
		}
		if d.Intent.Version.Compare(d.Newest) <= 0 {
			d.Intent = record.Intent{}
		}
		next.Daemons[name.String()] = d
	}
}

// before returns the UID of the pod that the daemon has when an image set by hand is first seen; empty without one, or if the pod already has
// the image, since the operator did not run. A webhook may change images in pods: one with another image is taken for that from before.
func (t *scope) before(name ceph.Daemon, image string) string {
	pod := t.snapshot.Pods[name]
	if pod == nil || slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Image == image }) {
		return ""
	}
	return string(pod.UID)
}

// declaredOf returns the declared daemons of a type.
func (t *scope) declaredOf(kind ceph.Type) (all []daemons.Daemon) {
	for _, d := range t.snapshot.Declared {
		if d.Name.Type == kind {
			all = append(all, d)
		}
	}
	return all
}

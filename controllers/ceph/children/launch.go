package children

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

func (t *scope) monServices(ctx context.Context) error {
	for _, d := range t.declaredOf(ceph.TypeMon) {
		want, address := render.MonService(t.cluster, d.Name), t.snapshot.Record.Daemons[d.Name.String()].Address
		have := t.snapshot.Services[d.Name]
		if have == nil {
			want.Spec.ClusterIP = address // of one that was lost
			if err := t.write.Create(ctx, want); err != nil {
				return fmt.Errorf("creating the Service of %s: %w", d.Name, err)
			}
			continue
		}
		if at := have.Spec.ClusterIP; address != "" && at != address {
			t.apart.goesOn(fmt.Errorf("reading the Service %s of %s: it has the address %s, and the cluster knows %s: delete the Service: it is made again with %s", have.Name, d.Name, at, address, address))
			continue
		}
		if err := t.correct(ctx, d.Name, have, want); err != nil {
			return err
		}
	}
	return nil
}

// correct changes the Service of a monitor to the desired ports and pods. It is not applied, which would give it an owner.
func (t *scope) correct(ctx context.Context, name ceph.Daemon, have, want *corev1.Service) error {
	same := func(a, b corev1.ServicePort) bool {
		return a.Name == b.Name && a.Port == b.Port && a.TargetPort == b.TargetPort && cmp.Or(a.Protocol, corev1.ProtocolTCP) == b.Protocol
	}
	if slices.EqualFunc(have.Spec.Ports, want.Spec.Ports, same) && maps.Equal(have.Spec.Selector, want.Spec.Selector) &&
		have.Spec.PublishNotReadyAddresses == want.Spec.PublishNotReadyAddresses {
		return nil
	}
	changed := have.DeepCopy()
	changed.Spec.Ports, changed.Spec.Selector, changed.Spec.PublishNotReadyAddresses = want.Spec.Ports, want.Spec.Selector, want.Spec.PublishNotReadyAddresses
	if err := t.write.Update(ctx, changed); err != nil {
		return fmt.Errorf("changing the Service of %s: %w", name, err)
	}
	return nil
}

func (t *scope) config(ctx context.Context) error {
	return t.write.Apply(ctx, render.Config(t.cluster, t.snapshot.Record))
}

// tools applies the Deployment in whose pod commands are run. It has the oldest image of the monitors: the command of a newer one may ask
// for what they do not know, and a monitor of a newer release answers older commands. Of several builds of that version it has the present one while a
// monitor runs that: another one is not known to work before all monitors run it. That it cannot be applied keeps nothing else from it.
func (t *scope) tools(ctx context.Context) error {
	if !t.Tools {
		return nil
	}
	var oldest record.Daemon
	present := t.toolsImage()
	for _, name := range t.snapshot.Record.Of(ceph.TypeMon) {
		if t.snapshot.Record.Daemons[name.String()].Reference == "" {
			continue
		}
		one := t.snapshot.Runs(name)
		if by := one.Version.Compare(oldest.Version); oldest.Reference == "" || by < 0 || by == 0 && one.Reference == present {
			oldest = one
		}
	}
	if oldest.Reference == "" {
		return nil // before the monitors are launched there is nothing to ask
	}
	if kept, keeps := t.kept(); keeps {
		oldest = kept
	}
	if err := t.toolsOf(ctx, oldest); !t.apart.goesOn(err) {
		return err
	}
	return nil
}

// toolsImage returns the image in whose pod commands are to be run; empty without one, and if it cannot be pulled.
func (t *scope) toolsImage() string {
	if t.snapshot.Tools == nil || t.snapshot.ToolsPod != nil && facts.Unpulled(t.snapshot.ToolsPod) {
		return ""
	}
	return t.snapshot.Tools.Spec.Template.Spec.Containers[0].Image
}

// kept returns the image in whose pod commands are run while a monitor does not serve, or has not reported the version that it was launched with:
// another pod would end the connection to Ceph while the lifecycle waits for that monitor. One of another build of that version has reported it before,
// and only a monitor that serves shows that the build works. The next daemon takes as long to start as the connection from the new pod.
func (t *scope) kept() (record.Daemon, bool) {
	pod := t.snapshot.ToolsPod
	if pod == nil || !observation.Ready(pod) {
		return record.Daemon{}, false
	}
	returns := slices.ContainsFunc(t.snapshot.Record.Of(ceph.TypeMon), func(name ceph.Daemon) bool {
		return t.snapshot.Record.Daemons[name.String()].Reference != "" && !t.returned(name) // or it was never launched
	})
	reference := pod.Spec.Containers[0].Image
	name, version, detected := t.snapshot.Image(reference)
	return record.Daemon{Image: name, Reference: reference, Version: version}, returns && detected
}

// returned reports whether a monitor serves in a pod of the image that it was launched with, and has reported its version. If Ceph cannot be read, the
// pod has to be ready: nothing else is known of a monitor then, and the image in which commands are run may be why.
func (t *scope) returned(mon ceph.Daemon) bool {
	pod, runs := t.snapshot.Pods[mon], t.snapshot.Runs(mon)
	if pod == nil || pod.Spec.Containers[0].Image != runs.Reference {
		return false
	}
	c, known := observation.Known(t.snapshot.Cluster)
	if !known {
		return t.snapshot.Cluster.Asked() && observation.Ready(pod)
	}
	began := observation.StartedAt(pod)
	reports := slices.IndexFunc(c.Metadata, func(one ceph.Metadata) bool { return one.Daemon == mon })
	return !began.IsZero() && !t.snapshot.Cluster.At().Before(began) && facts.Serves(&c, mon) && reports >= 0 && c.Metadata[reports].Version.Same(runs.Version)
}

// toolsOf applies the Deployment with the image of a monitor. Apply keeps what it does not want, such as an entry of a nodeSelector from before:
// where the pod changes, it is replaced as a whole.
func (t *scope) toolsOf(ctx context.Context, runs record.Daemon) error {
	want, err := render.Tools(t.input(), runs)
	if err != nil {
		return err
	}
	have := t.snapshot.Tools
	switch {
	case have == nil || have.DeletionTimestamp != nil || have.Annotations[render.Template] == want.Annotations[render.Template]:
		return t.write.Apply(ctx, want)
	case !metav1.IsControlledBy(have, t.cluster):
		want.Annotations = nil // it is owned first
		return t.write.Apply(ctx, want)
	}
	if err := t.write.Update(ctx, changed(have, want)); err != nil {
		return fmt.Errorf("changing the Deployment %s: %w", have.Name, err)
	}
	return nil
}

// storeServices applies the Services of the object stores. One that cannot be applied keeps no other from it.
func (t *scope) storeServices(ctx context.Context) error {
	var failed failures
	for i := range t.cluster.Spec.ObjectStores {
		if !failed.tried(t.write.Apply(ctx, render.StoreService(t.cluster, &t.cluster.Spec.ObjectStores[i]))) {
			break
		}
	}
	return failed.join()
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

// founds reports whether the monitors are launched together: all of them have a host and an address, and none was launched. One that was launched may
// already make its data from the monitors that were declared then, and elect itself among them, unseen.
func (t *scope) founds() bool {
	launched := slices.ContainsFunc(t.snapshot.Record.Of(ceph.TypeMon), func(m ceph.Daemon) bool { return t.snapshot.Record.Daemons[m.String()].Reference != "" })
	return !launched && !slices.ContainsFunc(t.declaredOf(ceph.TypeMon), func(m daemons.Daemon) bool {
		one := t.snapshot.Record.Daemons[m.Name.String()]
		return one.Node == "" || one.Address == ""
	})
}

// joins reports whether a monitor may be added to those that serve: it has a host and an address, and each one that was launched has served. New
// monitors that are a majority of those they know would found a second cluster under the same fsid while the others are down.
func joins(name ceph.Daemon, next *record.Record) bool {
	own := next.Daemons[name.String()]
	return own.Node != "" && own.Address != "" && !slices.ContainsFunc(next.Of(ceph.TypeMon), func(m ceph.Daemon) bool {
		one := next.Daemons[m.String()]
		return one.Reference != "" && one.Format != record.FormatDone
	})
}

// image returns what a new daemon runs: the oldest that declared daemons of its filesystem run, else of its type, else what the policy leaves to
// its type, else the oldest of any daemon, else what the spec asks for. A daemon that is not declared does not run, and keeps what it last ran
// for ever.
func (t *scope) image(d daemons.Daemon) (record.Daemon, bool) {
	spec := facts.Spec(t.cluster, t.snapshot)
	for _, like := range []func(daemons.Daemon) bool{
		func(o daemons.Daemon) bool { return o.Name.Type == d.Name.Type && o.Filesystem == d.Filesystem },
		func(o daemons.Daemon) bool { return o.Name.Type == d.Name.Type },
	} {
		if oldest, found := t.oldest(like); found {
			return t.named(oldest, &spec), true
		}
	}
	if oldest, found := t.oldest(func(daemons.Daemon) bool { return true }); found {
		first, decided := t.firstOf(d.Name.Type, &spec, oldest)
		return t.named(first, &spec), decided
	}
	return t.recorded(spec.Wanted.Name)
}

// named returns an image by the name that the spec has for the same digest: daemons keep the name that they were launched with, and its registry
// may be gone.
func (t *scope) named(image record.Daemon, spec *decision.Situation) record.Daemon {
	_, digest, given := strings.Cut(image.Reference, "@")
	for _, name := range spec.ImageNames() {
		other, known := t.recorded(name)
		if _, same, has := strings.Cut(other.Reference, "@"); known && given && has && same == digest && other.Version.Same(image.Version) {
			return other
		}
	}
	return image
}

// oldest returns the oldest that declared daemons run which are like a new one.
func (t *scope) oldest(like func(daemons.Daemon) bool) (oldest record.Daemon, found bool) {
	for _, name := range t.snapshot.Record.Names() {
		one := t.snapshot.Record.Daemons[name.String()]
		declared, known := t.snapshot.Find(name)
		if known && one.Reference != "" && like(declared) && (!found || one.Version.Compare(oldest.Version) < 0) {
			oldest, found = one, true
		}
	}
	return oldest, found
}

// firstOf returns what the first daemon of its type runs beside others: what a policy leaves to the type, which may be older than the daemons
// that the policy has changed, and would be held if it were not. It waits until that is known, and while the spec is refused. It is never newer than
// the others, and never further behind them than an upgrade may be.
func (t *scope) firstOf(of ceph.Type, spec *decision.Situation, oldest record.Daemon) (record.Daemon, bool) {
	if !spec.PolicyApplies() {
		return oldest, true
	}
	decided := decision.Decide(*spec) // of the images alone: which type runs what
	if decided.Outcome != decision.Permitted {
		return record.Daemon{}, false
	}
	target := decided.Targets[of]
	image, known := t.recorded(target.Name)
	near := oldest.Version.Major-image.Version.Major <= decision.MaxGap && spec.Table.Permit(image.Version, target.AllowUnsupported) == nil
	if known && near && image.Version.Compare(oldest.Version) < 0 {
		return image, true
	}
	return oldest, true
}

// recorded returns an image of the spec as daemons are launched on it, and false if it is not detected.
func (t *scope) recorded(name string) (record.Daemon, bool) {
	image, known := t.snapshot.Record.Images[name]
	return record.Daemon{Image: name, Reference: image.Reference, Version: image.Version}, known
}

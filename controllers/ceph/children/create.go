package children

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	lifecycle "github.com/detent-dev/detent/runtime"
)

// create creates what daemons need in Ceph: keys, OSDs and filesystems. What cannot be created keeps nothing else from it.
func (t *scope) create(ctx context.Context) error {
	var failed failures
	if !failed.goesOn(t.claims(ctx)) {
		return failed.join()
	}
	if m, known := t.snapshot.Cluster.Get(); known && len(m.Quorum.Members) > 0 {
		failed.goesOn(t.inCeph(ctx, &m))
	}
	return failed.join()
}

// inCeph creates what Ceph has a quorum to create.
func (t *scope) inCeph(ctx context.Context, m *cephupgrade.Cluster) error {
	var failed failures
	if !failed.goesOn(t.authorize(ctx)) {
		return failed.join()
	}
	for _, d := range t.declaredOf(ceph.TypeOSD) {
		if d.Name.ID != "" {
			continue
		}
		key, _ := keys.KeyOf(t.snapshot.Keys[keys.Entry(d.Name, d.Slot)])
		_, err := t.send(ctx, connection.Command{NewOSD: &connection.NewOSD{UUID: t.snapshot.Record.OSDs[d.Slot], Key: key}})
		if !failed.goesOn(err) {
			return failed.join()
		}
	}
	if !slices.ContainsFunc(m.OSDs.OSDs, func(o ceph.OSD) bool { return o.Up }) {
		return failed.join()
	}
	for i := range t.cluster.Spec.Filesystems {
		if !failed.goesOn(t.filesystem(ctx, m.Filesystems.Filesystems, &t.cluster.Spec.Filesystems[i])) {
			break
		}
	}
	return failed.join()
}

// severalFilesystems is the release from which a cluster may have several filesystems: a metadata server of 14 joins any of them.
const severalFilesystems = 16

// filesystem creates a filesystem once, and sets its numbers of metadata servers while no upgrade has reduced them. Ceph would miss standbys that
// are not declared. An upgrade that is held leaves a filesystem reduced whose metadata servers have several versions (decision 0636).
func (t *scope) filesystem(ctx context.Context, exist []ceph.Filesystem, want *cephv1.FilesystemSpec) error {
	at := slices.IndexFunc(exist, func(f ceph.Filesystem) bool { return f.Name == want.Name })
	if _, created := t.snapshot.Record.Filesystems[want.Name]; at < 0 && created && !facts.MayCreateAgain(t.cluster, t.snapshot.Record, want.Name) {
		return nil // it was removed, and a Warning says so
	}
	if at < 0 {
		if oldest, _ := t.image(daemons.Daemon{Name: ceph.Daemon{Type: ceph.TypeMon}}); len(exist) > 0 && !oldest.Version.IsZero() && oldest.Version.Major < severalFilesystems {
			return fmt.Errorf("creating the filesystem %s: release %d cannot tell the metadata servers of several filesystems apart: upgrade to release %d or later first", want.Name, oldest.Version.Major, severalFilesystems)
		}
		_, err := t.send(ctx, connection.Command{NewFilesystem: &connection.NewFilesystem{Name: want.Name, Several: len(exist) > 0}})
		return err
	}
	have, active, standbys := &exist[at], int(want.ActiveCount), int(want.StandbyCount)
	if have.MaxMDS == active && have.StandbysWanted == standbys || !observation.Resting(t.cluster) || t.severalVersions(want.Name) {
		return nil
	}
	_, err := t.send(ctx, connection.Command{Counts: &connection.Counts{Filesystem: want.Name, Active: active, Standbys: standbys}})
	return err
}

// severalVersions reports whether the metadata servers of the filesystem that were launched have several versions.
func (t *scope) severalVersions(filesystem string) bool {
	var first *record.Daemon
	for _, d := range t.declaredOf(ceph.TypeMDS) {
		one := t.snapshot.Runs(d.Name)
		if d.Filesystem != filesystem || one.Reference == "" {
			continue
		}
		if first == nil {
			first = &one
		} else if !one.Version.Same(first.Version) {
			return true
		}
	}
	return false
}

// authorize adds the keys of daemons that were declared after the cluster was launched. Those that were added are recorded also while another one
// is: the Sender forgets them after a while, and would send the first ones again for ever.
func (t *scope) authorize(ctx context.Context) error {
	var failed failures
	next := t.next()
	for _, d := range t.snapshot.Declared {
		one := next.Daemons[d.Name.String()]
		if one.Authorized || d.Name.Type == ceph.TypeMon || d.Name.Type == ceph.TypeOSD {
			continue
		}
		entity := keys.Entity(d.Name)
		done, err := t.send(ctx, connection.Command{ImportKeys: &connection.ImportKeys{Entity: entity, Keyring: t.snapshot.Keys[entity]}})
		if done {
			one.Authorized = true
			next.Daemons = put(next.Daemons, d.Name.String(), one)
		}
		if !failed.goesOn(err) {
			break
		}
	}
	failed.goesOn(t.store(ctx, next))
	return failed.join()
}

func (t *scope) send(ctx context.Context, command connection.Command) (done bool, err error) {
	return t.Sender.Send(ctx, t.snapshot.Endpoint, command, t.snapshot.Now)
}

func (t *scope) claims(ctx context.Context) error {
	var failed failures
	for _, d := range t.declaredOf(ceph.TypeOSD) {
		if t.snapshot.Claims[d.Slot] == nil && !failed.goesOn(t.claim(ctx, d)) {
			break
		}
	}
	return failed.join()
}

// claim creates the claim of an OSD, unless the OSD may have data: its claim is gone then. A claim that exists and lacks the labels by which it
// is listed is named in both cases.
func (t *scope) claim(ctx context.Context, d daemons.Daemon) error {
	want, err := render.Claim(t.cluster, d)
	if err != nil || want == nil {
		return err
	}
	if !facts.ClaimGone(t.snapshot, d) {
		if err = t.write.Create(ctx, want); err == nil {
			return nil
		}
		if err = fmt.Errorf("creating the claim %s: %w", want.Name, err); !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return cmp.Or(t.unlabelled(ctx, want), err)
}

// unlabelled is which labels a claim lacks, by which it would be found; nil if it has them, or does not exist.
func (t *scope) unlabelled(ctx context.Context, want *corev1.PersistentVolumeClaim) error {
	var have corev1.PersistentVolumeClaim
	switch err := t.Live.Get(ctx, client.ObjectKeyFromObject(want), &have); {
	case lifecycle.ObjectMissing(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading the claim %s: %w", want.Name, err)
	}
	var lacks []string
	for _, label := range []string{render.LabelCluster, render.LabelSlot} {
		if have.Labels[label] != want.Labels[label] {
			lacks = append(lacks, label+"="+want.Labels[label])
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("using the claim %s: it exists, and lacks the labels %[2]s: if it is for this OSD, add them with kubectl label --overwrite -n %[3]s pvc %[1]s %[2]s; otherwise delete it",
		want.Name, strings.Join(lacks, " "), want.Namespace)
}

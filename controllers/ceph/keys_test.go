package ceph_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// secret returns the entries of the Secret with the keys; nil without it.
func (r *rig) secret() map[string]string {
	r.t.Helper()
	s := &corev1.Secret{}
	if err := r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: keys.SecretName("rook-ceph")}, s); err != nil {
		return nil
	}
	out := map[string]string{}
	for name, text := range s.Data {
		out[name] = string(text)
	}
	return out
}

// deleteKeys deletes entries of the Secret, or all of it.
func (r *rig) deleteKeys(entries ...string) {
	r.t.Helper()
	s := &corev1.Secret{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: keys.SecretName("rook-ceph")}, s))
	if len(entries) == 0 {
		r.must(r.client.Delete(context.Background(), s))
		return
	}
	for _, name := range entries {
		delete(s.Data, name)
	}
	r.must(r.client.Update(context.Background(), s))
}

// TestKindRestoresTheKeys restores keys that were deleted while the process has them, as they were, and replaces no daemon before that: its pod
// could not start.
func TestKindRestoresTheKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		entries []string
		upgrade bool
	}{
		"the Secret":                    {},
		"the Secret, during an upgrade": {upgrade: true},
		"the key of a manager":          {entries: []string{"mgr.b"}},
		"an entry, during an upgrade":   {entries: []string{"mgr.b", keys.SeedEntry}, upgrade: true},
		"the key of the administrator":  {entries: []string{keys.Admin}},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			before := r.secret()
			if tc.upgrade {
				r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
				r.step()
				r.until("the monitors", 5*time.Minute, func() bool { return r.versions()["mon"] == "18" })
			}
			r.world.Replacing = func(d cephclient.Daemon) {
				if diff := cmp.Diff(before, r.secret()); diff != "" {
					t.Errorf("%s is replaced without the keys: %v", d, slices.Sorted(maps.Keys(r.secret())))
				}
			}
			r.deleteKeys(tc.entries...)
			r.until("that the keys are restored", 2*time.Minute, func() bool { return cmp.Equal(before, r.secret()) })
			if tc.upgrade {
				r.until("the upgrade", 15*time.Minute, r.settled("18"))
			}
			if diff := cmp.Diff(before, r.secret()); diff != "" {
				t.Error("the keys are others") // without them: they are secret
			}
		})
	}
}

// TestKindShowsThatTheKeysAreLost neither makes other keys nor replaces a daemon that needs them if no process has the keys, and shows the way
// out.
func TestKindShowsThatTheKeysAreLost(t *testing.T) {
	const elsewhere = "whose keys Ceph has: restore them from a backup, or from what ceph auth get <entity> shows"
	for name, tc := range map[string]struct {
		entries []string
		want    string
	}{
		"the Secret":                   {want: "the Secret rook-ceph-keys: it is gone although the cluster was launched: restore it from a backup, or from the keyrings that ceph auth ls shows"},
		"the key of a manager":         {[]string{"mgr.b"}, "it lacks the entries mgr.b, " + elsewhere},
		"the key of an OSD":            {[]string{"osd.set-0"}, "it lacks the entries osd.set-0 of osd.0, " + elsewhere},
		"the key of the administrator": {[]string{keys.Admin}, "it lacks the entries client.admin, " + elsewhere},
		"what an older backup lacks": {
			[]string{keys.Mon, "mgr.b", "mds.myfs-a", "client.rgw.store.a"},
			"it lacks the entries mon., mgr.b, client.rgw.store.a, mds.myfs-a, " + elsewhere,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			before := &corev1.Secret{}
			r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: keys.SecretName("rook-ceph")}, before))
			r.deleteKeys(tc.entries...)
			left := r.secret()
			r.restart()
			r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), tc.want) })
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			for range 180 {
				r.step()
			}
			for _, daemon := range r.started() {
				if len(tc.entries) == 0 || slices.Contains(tc.entries, daemon) || slices.Contains(tc.entries, keys.Admin) {
					t.Errorf("%s is replaced without its key", daemon)
				}
			}
			if diff := cmp.Diff(left, r.secret()); diff != "" {
				t.Errorf("the keys are others: %v", slices.Sorted(maps.Keys(r.secret()))) // without them: they are secret
			}
			if len(tc.entries) == 0 {
				before.ResourceVersion = ""
				r.must(r.client.Create(context.Background(), before))
			} else {
				now := &corev1.Secret{}
				r.must(r.client.Get(context.Background(), client.ObjectKeyFromObject(before), now))
				now.Data = before.Data
				r.must(r.client.Update(context.Background(), now))
			}
			r.until("the upgrade", 15*time.Minute, r.settled("18"))
		})
	}
}

// TestKindMakesTheSeedAgain makes the keyring of all daemons from the keys that are there, also if no process has it.
func TestKindMakesTheSeedAgain(t *testing.T) {
	r := launched(t, "16")
	before := r.secret()
	r.deleteKeys(keys.SeedEntry)
	r.restart()
	r.until("the seed", time.Minute, func() bool { return cmp.Equal(before, r.secret()) })
}

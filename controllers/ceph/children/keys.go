package children

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// keys makes the keys of the daemons that the spec declares, before the first daemon is launched, and restores the Secret if it was deleted. It
// has no owner. Keys that Ceph knows and that nobody has here any more are not made: others would lock out their daemons. They keep nothing
// else from being applied, but for the keyring with which the data of a monitor is made, which stays as it is.
func (t *scope) keys(ctx context.Context) error {
	entries := maps.Clone(t.snapshot.Keys)
	if entries == nil && t.snapshot.Launched() {
		return observation.KeysLost(t.cluster.Name)
	}
	lost := t.snapshot.LostKeys()
	t.apart.goesOn(observation.EntriesLost(t.cluster.Name, lost))
	missing, err := t.missing(entries, lost)
	if err != nil {
		return err
	}
	if len(missing) == 0 && !t.snapshot.KeysGone && (entries[keys.SeedEntry] != "" || len(lost) > 0) {
		return nil
	}
	if entries == nil {
		entries = map[string]string{}
	}
	maps.Copy(entries, missing)
	defer t.Forget(t.cluster)
	if err := t.writeKeys(ctx, entries, len(lost) == 0); err != nil {
		return err
	}
	t.snapshot.Keys = entries
	return nil
}

// missing returns the keyrings that the entries lack, with other keys where there is none, but for those that are lost.
func (t *scope) missing(entries map[string]string, lost []observation.LostKey) (map[string]string, error) {
	missing := map[string]string{}
	for entry, entity := range t.entities(entries) {
		keyring, known := entries[entry]
		key, _ := keys.KeyOf(keyring)
		if known && (!strings.HasPrefix(entry, keys.OSDEntryPrefix) || strings.HasPrefix(keyring, "["+entity+"]")) ||
			slices.ContainsFunc(lost, func(l observation.LostKey) bool { return l.Entry == entry }) {
			continue
		}
		if key == "" {
			var err error
			if key, err = keys.New(t.Random, t.snapshot.Now); err != nil {
				return nil, err
			}
		}
		missing[entry] = keys.Keyring(entity, key)
	}
	return missing, nil
}

// entities returns the entities that have a key, by their entries.
func (t *scope) entities(entries map[string]string) map[string]string {
	entities := map[string]string{keys.Admin: keys.Admin, keys.Mon: keys.Mon}
	for _, d := range t.snapshot.Declared {
		switch d.Name.Type {
		case ceph.TypeMon:
		case ceph.TypeOSD:
			if d.Name.ID != "" || entries[keys.Entry(d.Name, d.Slot)] == "" {
				entities[keys.Entry(d.Name, d.Slot)] = d.Name.String()
			}
		case ceph.TypeMgr, ceph.TypeMDS, ceph.TypeRGW:
			entities[keys.Entry(d.Name, "")] = keys.Entity(d.Name)
		}
	}
	return entities
}

// writeKeys writes the entries. If none is lost, it makes the keyring with which the data of a monitor is made.
func (t *scope) writeKeys(ctx context.Context, entries map[string]string, complete bool) error {
	name := keys.SecretName(t.cluster.Name)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.cluster.Namespace, Labels: render.Labels(t.cluster.Name)}}
	err := t.Live.Get(ctx, types.NamespacedName{Namespace: t.cluster.Namespace, Name: name}, secret)
	fresh := lifecycle.ObjectMissing(err)
	if err != nil && !fresh {
		return fmt.Errorf("reading the keys of the cluster: %w", err)
	}
	for entry, text := range secret.Data { // a key that exists is never replaced by another one
		switch key, known := keys.KeyOf(string(text)); {
		case entry == keys.SeedEntry || !known:
		case strings.HasPrefix(entry, keys.OSDEntryPrefix) && entries[entry] != "":
			entity, _, _ := strings.Cut(strings.TrimPrefix(entries[entry], "["), "]")
			entries[entry] = keys.Keyring(entity, key)
		default:
			entries[entry] = string(text)
		}
	}
	if complete {
		entries[keys.SeedEntry] = keys.Seed(entries)
	} else if seed := string(secret.Data[keys.SeedEntry]); seed != "" {
		entries[keys.SeedEntry] = seed
	}
	secret.Data = map[string][]byte{}
	for entry, text := range entries {
		secret.Data[entry] = []byte(text)
	}
	if fresh {
		return t.write.Create(ctx, secret)
	}
	return t.write.Update(ctx, secret)
}

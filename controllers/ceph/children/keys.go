package children

import (
	"context"
	"fmt"
	"maps"
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
// has no owner.
func (t *scope) keys(ctx context.Context) error {
	entries := maps.Clone(t.snapshot.Keys)
	name := keys.SecretName(t.cluster.Name)
	if entries == nil && t.snapshot.Launched() {
		return observation.KeysLost(t.cluster.Name)
	}
	missing := map[string]string{}
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
	for entry, entity := range entities {
		keyring, known := entries[entry]
		key, _ := keys.KeyOf(keyring)
		if known && (!strings.HasPrefix(entry, keys.OSDEntryPrefix) || strings.HasPrefix(keyring, "["+entity+"]")) {
			continue
		}
		if key == "" {
			var err error
			if key, err = keys.New(t.Random, t.snapshot.Now); err != nil {
				return err
			}
		}
		missing[entry] = keys.Keyring(entity, key)
	}
	if len(missing) == 0 && !t.snapshot.KeysGone {
		return nil
	}
	if entries == nil {
		entries = map[string]string{}
	}
	maps.Copy(entries, missing)
	entries[keys.SeedEntry] = keys.Seed(entries)
	defer t.Forget(t.cluster)
	if err := t.writeKeys(ctx, name, entries); err != nil {
		return err
	}
	t.snapshot.Keys = entries
	return nil
}

func (t *scope) writeKeys(ctx context.Context, name string, entries map[string]string) error {
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
	entries[keys.SeedEntry] = keys.Seed(entries)
	secret.Data = map[string][]byte{}
	for entry, text := range entries {
		secret.Data[entry] = []byte(text)
	}
	if fresh {
		return t.write.Create(ctx, secret)
	}
	return t.write.Update(ctx, secret)
}

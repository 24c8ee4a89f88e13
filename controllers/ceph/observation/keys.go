package observation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// heldKeys are the keys of a cluster in this process, by entries of their Secret.
type heldKeys struct {
	entries map[string]string
	// read is when the Secret was last read; zero to read it again.
	read time.Time
	// gone means that the Secret did not exist then, or lacked entries that it had.
	gone bool
}

// keysAge is how long the keys count without another read. Nothing else changes them, but a user may delete the Secret, and no pod of a
// daemon can start without it.
const keysAge = time.Minute

// secret sets the keys in the snapshot. They are read again before a daemon is replaced. If the Secret is gone, those that this process has are
// kept, as the record is.
func (o *Collector) secret(ctx context.Context, c *cephv1.Cluster, s *Snapshot, request lifecycle.ObserveRequest) error {
	o.mu.Lock()
	held := o.keys[c.UID]
	o.mu.Unlock()
	recent := !request.Live && !held.gone && request.Now.Before(held.read.Add(keysAge))
	if s.Record == nil || held.entries != nil && recent {
		s.Keys = maps.Clone(held.entries)
		return nil
	}
	found := &corev1.Secret{}
	err := o.Live.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: keys.SecretName(c.Name)}, found)
	switch {
	case lifecycle.ObjectMissing(err):
		held.gone = held.entries != nil
	case err != nil:
		return fmt.Errorf("reading the keys of the cluster: %w", err)
	default:
		held = held.with(found.Data)
	}
	if held.entries == nil {
		return nil
	}
	held.read = request.Now
	s.Keys, s.KeysGone = maps.Clone(held.entries), held.gone
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.keys == nil {
		o.keys = map[types.UID]heldKeys{}
	}
	o.keys[c.UID] = held
	return nil
}

// with returns the keys after the Secret was read. An entry that it lacks is kept: another key would lock out its daemon.
func (h heldKeys) with(data map[string][]byte) heldKeys {
	out := heldKeys{entries: map[string]string{}}
	maps.Copy(out.entries, h.entries)
	for name := range h.entries {
		if _, present := data[name]; !present {
			out.gone = true
		}
	}
	for name, value := range data {
		out.entries[name] = string(value)
	}
	return out
}

// Forget makes the Secret of a cluster be read again, because it was written.
func (o *Collector) Forget(object types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if held, known := o.keys[object]; known {
		held.read = time.Time{}
		o.keys[object] = held
	}
}

var errKeysLost = errors.New("it is gone although the cluster was launched: restore it from a backup, or from the keyrings that ceph auth ls shows")

// KeysLost is that the Secret of a cluster that was launched is gone, and that this process does not have the keys. Others would lock out
// every daemon.
func KeysLost(cluster string) error {
	return fmt.Errorf("reading the keys in the Secret %s: %w", keys.SecretName(cluster), errKeysLost)
}

// LostKey is a key that Ceph knows and the Secret lacks.
type LostKey struct {
	// Entry of the Secret, and Entity that authenticates with the key.
	Entry, Entity string
}

// LostKeys returns the keys that Ceph knows, that the Secret lacks and that this process does not have, in the order of an upgrade. None is lost
// before the launch: the monitors are launched with the keys that are made.
func (s *Snapshot) LostKeys() (lost []LostKey) {
	if !s.Launched() {
		return nil
	}
	lacks := func(entry, entity string) {
		if _, has := keys.KeyOf(s.Keys[entry]); !has {
			lost = append(lost, LostKey{entry, entity})
		}
	}
	lacks(keys.Admin, keys.Admin)
	lacks(keys.Mon, keys.Mon)
	for _, d := range s.Declared {
		switch d.Name.Type {
		case ceph.TypeMon:
		case ceph.TypeOSD:
			if d.Name.ID != "" { // Ceph was given the key with the number
				lacks(keys.Entry(d.Name, d.Slot), d.Name.String())
			}
		case ceph.TypeMgr, ceph.TypeMDS, ceph.TypeRGW:
			if s.Record.Daemons[d.Name.String()].Authorized {
				lacks(keys.Entry(d.Name, ""), keys.Entity(d.Name))
			}
		}
	}
	return lost
}

// EntriesLost is that the Secret of a cluster lacks entries; nil if none is lost.
func EntriesLost(cluster string, lost []LostKey) error {
	if len(lost) == 0 {
		return nil
	}
	names := make([]string, len(lost))
	for i, l := range lost {
		if names[i] = l.Entry; l.Entity != l.Entry {
			names[i] += " of " + l.Entity
		}
	}
	return fmt.Errorf("reading the keys in the Secret %s: it lacks the entries %s, whose keys Ceph has: restore them from a backup, or from what ceph auth get <entity> shows",
		keys.SecretName(cluster), strings.Join(names, ", "))
}

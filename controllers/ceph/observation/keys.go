package observation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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

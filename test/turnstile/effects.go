package turnstile

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func (k *keeper) execute(ctx context.Context, t effectRequest) error {
	key := client.ObjectKeyFromObject(t.Object)
	if err := k.world.permits(key, t.Effect.Op); err != nil {
		return err
	}
	switch t.Effect.Op {
	case "replace":
		return k.replace(ctx, t)
	case "seal":
		return k.around(t.Effect.String(), func() error {
			k.world.seal(key, t.Effect.Value)
			return nil
		})
	case "unseal":
		return k.around(t.Effect.String(), func() error {
			k.world.unseal(key)
			return nil
		})
	case "switch":
		return set(ctx, t.Write, t.Object, t.Snapshot.Children[lampName(t.Object)], child(t.Object, lampName(t.Object), nil, map[string]string{"colour": t.Effect.Value}))
	default:
		return fmt.Errorf("executing %q: no such operation", t.Effect)
	}
}

// replace takes the old arm away; repair builds it as recorded.
func (k *keeper) replace(ctx context.Context, t effectRequest) error {
	old := t.Snapshot.Children[armName(t.Object, t.Effect.Arm)]
	if old == nil || old.Data["model"] == t.Effect.Value {
		return nil
	}
	if err := t.Write.Delete(ctx, old); err != nil {
		return err
	}
	k.world.log(client.ObjectKeyFromObject(t.Object), t.Effect.String())
	return nil
}

// Read returns the models of the arms as they are recorded.
func (k *keeper) Read(ctx context.Context, read client.Reader, t *api.Turnstile, _ string) (map[string]string, error) {
	record := &corev1.ConfigMap{}
	err := read.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: recordName(t)}, record)
	return record.Data, client.IgnoreNotFound(err)
}

// Write records models. The record itself is created by apply.
func (k *keeper) Write(ctx context.Context, read client.Reader, write lifecycle.Writer, t *api.Turnstile, entries []machines.RecordEntry) error {
	record := &corev1.ConfigMap{}
	if err := read.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: recordName(t)}, record); err != nil {
		return fmt.Errorf("reading the record of turnstile %s: %w", t.Name, err)
	}
	if record.Data == nil {
		record.Data = map[string]string{}
	}
	for _, e := range entries {
		record.Data[e.Key] = e.Value
	}
	return write.Update(ctx, record)
}

// repair builds lost arms as they are recorded.
func (k *keeper) repair(ctx context.Context, t *api.Turnstile, v Snapshot, write lifecycle.Writer) error {
	for _, arm := range slices.Sorted(maps.Keys(v.Recorded)) {
		if v.Children[armName(t, arm)] != nil {
			continue
		}
		next := child(t, armName(t, arm), map[string]string{"arm": arm}, map[string]string{"model": v.Recorded[arm]})
		if err := set(ctx, write, t, nil, next); err != nil {
			return err
		}
	}
	return nil
}

// apply records arms that are new, so that they are built.
func (k *keeper) apply(ctx context.Context, t *api.Turnstile, v Snapshot, write lifecycle.Writer) error {
	missing := map[string]string{}
	for _, arm := range arms(t) {
		if v.Recorded[arm] == "" {
			missing[arm] = t.Spec.Model
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := k.world.permits(client.ObjectKeyFromObject(t), "apply"); err != nil {
		return err
	}
	record := v.Children[recordName(t)]
	if record != nil {
		maps.Copy(missing, record.Data)
	}
	return set(ctx, write, t, record, child(t, recordName(t), nil, missing))
}

// set creates the child, or updates the one there is.
func set(ctx context.Context, write lifecycle.Writer, t *api.Turnstile, old, next *corev1.ConfigMap) error {
	if old != nil {
		changed := old.DeepCopy()
		changed.Data = next.Data
		return write.Update(ctx, changed)
	}
	if err := write.Own(next); err != nil {
		return fmt.Errorf("owning a child of turnstile %s: %w", t.Name, err)
	}
	return write.Create(ctx, next)
}

func child(t *api.Turnstile, name string, labels, data map[string]string) *corev1.ConfigMap {
	all := map[string]string{Label: t.Name}
	maps.Copy(all, labels)
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.Namespace, Labels: all}, Data: data}
}

func armName(t *api.Turnstile, arm string) string { return t.Name + "-arm-" + arm }

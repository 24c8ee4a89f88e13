package runtime

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
)

// ConfigMapRecords keeps the records of an object in one ConfigMap: the data entry "<record>.<key>" holds the text of a key. The
// kind must list ConfigMap in Owns if the records are Owned.
type ConfigMapRecords[O Object] struct {
	// Name returns the name of the ConfigMap. Required.
	Name func(object O) string
	// Labels returns the labels of the ConfigMap. Optional; default: none.
	Labels func(object O) map[string]string
	// Owned records are deleted with their object. Those of a previous object of the same name are not read, and nothing is recorded until
	// the garbage collector has removed them. Optional; default: records outlive their object, and an object of the same name adopts them.
	Owned bool
}

// Read implements Records.
func (r ConfigMapRecords[O]) Read(ctx context.Context, read client.Reader, object O, record string) (map[string]string, error) {
	home, err := r.home(ctx, read, object)
	if err != nil || home == nil || r.isForeign(home, object) {
		return nil, err
	}
	texts := map[string]string{}
	for name, text := range home.Data {
		if key, of := strings.CutPrefix(name, record+"."); of {
			texts[key] = text
		}
	}
	return texts, nil
}

// Write implements Records.
func (r ConfigMapRecords[O]) Write(ctx context.Context, read client.Reader, write Writer, object O, entries []machines.RecordEntry) error {
	home, err := r.home(ctx, read, object)
	if err != nil {
		return err
	}
	exists := home != nil
	if exists && r.isForeign(home, object) {
		return fmt.Errorf("ConfigMap %s/%s belongs to another object, such as a previous one of the same name: delete it unless it is removed soon: %w", home.Namespace, home.Name, ErrWait)
	}
	if !exists {
		home = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: r.Name(object)}}
		if r.Labels != nil {
			home.Labels = r.Labels(object)
		}
		if r.Owned {
			if err := write.Own(home); err != nil {
				return err
			}
		}
	}
	if home.Data == nil {
		home.Data = map[string]string{}
	}
	for _, e := range entries {
		home.Data[e.Record+"."+e.Key] = e.Value
	}
	if exists {
		return write.Update(ctx, home)
	}
	return write.Create(ctx, home)
}

// isForeign reports whether owned records are those of another object.
func (r ConfigMapRecords[O]) isForeign(home *corev1.ConfigMap, object O) bool {
	return r.Owned && !metav1.IsControlledBy(home, object)
}

// home returns the ConfigMap, or nil if it does not exist.
func (r ConfigMapRecords[O]) home(ctx context.Context, read client.Reader, object O) (*corev1.ConfigMap, error) {
	home := &corev1.ConfigMap{}
	err := read.Get(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: r.Name(object)}, home)
	switch {
	case ObjectMissing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", object.GetNamespace(), r.Name(object), err)
	}
	return home, nil
}

package children

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// configMap reads a ConfigMap from the API server; nil if there is none.
func configMap(ctx context.Context, read client.Reader, namespace, name string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := read.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	switch {
	case lifecycle.ObjectMissing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", namespace, name, err)
	}
	return found, nil
}

// WriteList writes the entry of a connector into the ConfigMap of a list. A ConfigMap that does not exist is created with the resource as
// an owner that does not control it. One that exists keeps everything else, and gets no owner.
func (r *Reconciler) WriteList(ctx context.Context, m *resource, write lifecycle.Writer, name, connector, document string) error {
	stored, err := configMap(ctx, r.Live, m.Namespace, name)
	if err != nil {
		return err
	}
	key := connect.EntryName(connector)
	if stored == nil {
		return write.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: m.Namespace, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: kafkav1beta2.GroupVersion().String(), Kind: kafkav1beta2.KindKafkaMirrorMaker2, Name: m.Name, UID: m.UID,
				Controller: new(false), BlockOwnerDeletion: new(false),
			}}},
			Data: map[string]string{key: document},
		})
	}
	if stored.Data[key] == document {
		return nil
	}
	if stored.Data == nil {
		stored.Data = map[string]string{}
	}
	stored.Data[key] = document
	return write.Update(ctx, stored)
}

// Keep keeps the offsets from before a change, with the body of the change.
func (r *Reconciler) Keep(ctx context.Context, m *resource, write lifecycle.Writer, connector string, d keep.Document) error {
	name := keep.BeforeName(m.Name)
	stored, err := configMap(ctx, r.Live, m.Namespace, name)
	if err != nil {
		return err
	}
	if stored == nil {
		stored = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: m.Namespace, Labels: render.Labels(m.Name)}}
	}
	keep.Put(stored, connector, d)
	if stored.ResourceVersion == "" {
		return write.Create(ctx, stored)
	}
	return write.Update(ctx, stored)
}

// Records stores the records of requests in the operator's ConfigMap.
type Records struct{}

var _ lifecycle.Records[*resource] = Records{}

// Read returns the records by the keys of their connectors.
func (Records) Read(ctx context.Context, read client.Reader, m *resource, _ string) (map[string]string, error) {
	stored, err := configMap(ctx, read, m.Namespace, keep.RequestName(m.Name))
	if err != nil || stored == nil {
		return nil, err
	}
	return stored.Data, nil
}

// Write stores the entries and keeps all others.
func (Records) Write(ctx context.Context, read client.Reader, write lifecycle.Writer, m *resource, entries []machines.RecordEntry) error {
	stored, err := configMap(ctx, read, m.Namespace, keep.RequestName(m.Name))
	if err != nil {
		return err
	}
	if stored == nil {
		stored = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: keep.RequestName(m.Name), Namespace: m.Namespace, Labels: render.Labels(m.Name)}}
	}
	data := maps.Clone(stored.Data)
	if data == nil {
		data = map[string]string{}
	}
	for _, e := range entries {
		data[e.Key] = e.Value
	}
	stored.Data = data
	if stored.ResourceVersion != "" {
		return write.Update(ctx, stored)
	}
	if err := write.Create(ctx, stored); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return lifecycle.ErrStale
}

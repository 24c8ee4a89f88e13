package store

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Client returns a client.Client for the store. Methods that no controller of this module uses are not implemented:
// some fail with an error that names them, the others panic. It is not safe for concurrent use, as the store is not.
func (s *Store) Client() client.Client { return &face{store: s} }

type face struct {
	client.Client // nil: methods that are not implemented below must not be called
	store         *Store
}

func (f *face) Scheme() *k8sruntime.Scheme { return f.store.scheme }

func (f *face) GroupVersionKindFor(object k8sruntime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, f.store.scheme)
}

func (f *face) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	return f.store.objects.Get(f.store.scheme, key, object)
}

func (f *face) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return f.store.objects.List(f.store.scheme, list, opts...)
}

func (f *face) Create(_ context.Context, object client.Object, opts ...client.CreateOption) error {
	var o client.CreateOptions
	o.ApplyOptions(opts)
	if len(o.DryRun) > 0 {
		_, err := f.store.objects.Creatable(f.store.scheme, object)
		return err
	}
	return f.store.create(object)
}

func (f *face) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return f.store.update(object, false)
}

func (f *face) Delete(_ context.Context, object client.Object, opts ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(opts)
	uid, revision := Preconditions(o.Preconditions)
	return f.store.delete(object, uid, revision)
}

func (f *face) Status() client.SubResourceWriter { return &statusFace{store: f.store} }

func (f *face) SubResource(name string) client.SubResourceClient {
	return &subresourceFace{name: name, store: f.store}
}

type statusFace struct {
	client.SubResourceWriter
	store *Store
}

func (f *statusFace) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return f.store.update(object, true)
}

type subresourceFace struct {
	client.SubResourceClient
	name  string
	store *Store
}

func (f *subresourceFace) Create(_ context.Context, object, sub client.Object, _ ...client.SubResourceCreateOption) error {
	pod, isPod := object.(*corev1.Pod)
	eviction, isEviction := sub.(*policyv1.Eviction)
	if f.name != "eviction" || !isPod || !isEviction {
		return fmt.Errorf("creating subresource %s of %T: not supported here", f.name, object)
	}
	return f.store.evict(pod, eviction)
}

func (f *subresourceFace) Update(ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	if f.name != "status" {
		return fmt.Errorf("updating subresource %s of %T: not supported here", f.name, object)
	}
	return (&statusFace{store: f.store}).Update(ctx, object, opts...)
}

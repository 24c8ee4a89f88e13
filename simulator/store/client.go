package store

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Client returns a client.Client for the store. Methods that no controller of this module uses are not implemented:
// some fail with an error that names them, the others panic. It is not safe for concurrent use, as the store is not.
func (s *Store) Client() client.WithWatch { return &storeClient{store: s} }

type storeClient struct {
	client.WithWatch // nil: methods that are not implemented below must not be called
	store            *Store
}

func (f *storeClient) Scheme() *k8sruntime.Scheme { return f.store.scheme }

func (f *storeClient) GroupVersionKindFor(object k8sruntime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, f.store.scheme)
}

// Get fails, as that of any client does, if the context has ended.
func (f *storeClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.store.objects.Get(f.store.scheme, key, object)
}

// List fails if the context has ended.
func (f *storeClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.store.objects.List(f.store.scheme, list, opts...)
}

func (f *storeClient) Create(_ context.Context, object client.Object, opts ...client.CreateOption) error {
	var o client.CreateOptions
	o.ApplyOptions(opts)
	if err := withinLimits(object); err != nil {
		return err
	}
	if len(o.DryRun) > 0 {
		_, err := f.store.objects.Creatable(f.store.scheme, object)
		return err
	}
	return f.store.create(object)
}

func (f *storeClient) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return f.store.update(object, false)
}

// Patch supports JSON patches of metadata, and patches of finalizers with an optimistic lock.
func (f *storeClient) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	if patch.Type() != types.JSONPatchType {
		return f.store.patchFinalizers(object)
	}
	text, err := patch.Data(object)
	if err != nil {
		return err
	}
	return f.store.patchJSON(object, text)
}

func (f *storeClient) Delete(_ context.Context, object client.Object, opts ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(opts)
	uid, revision := Preconditions(o.Preconditions)
	if p := o.PropagationPolicy; p != nil && *p == metav1.DeletePropagationOrphan {
		if err := f.store.orphan(object, uid, revision); err != nil {
			return err
		}
	}
	return f.store.delete(object, uid, revision, o.GracePeriodSeconds != nil && *o.GracePeriodSeconds == 0)
}

func (f *storeClient) DeleteAllOf(ctx context.Context, object client.Object, opts ...client.DeleteAllOfOption) error {
	kind, err := apiutil.GVKForObject(object, f.store.scheme)
	if err != nil {
		return err
	}
	var o client.DeleteAllOfOptions
	o.ApplyOptions(opts)
	for _, r := range f.store.objects.matching(kind, &o.ListOptions) {
		if err := f.Delete(ctx, r.Object, &o.DeleteOptions); err != nil && !apierrors.IsNotFound(err) { // its controller is among them
			return err
		}
	}
	return nil
}

func (f *storeClient) Status() client.SubResourceWriter { return &statusClient{store: f.store} }

func (f *storeClient) SubResource(name string) client.SubResourceClient {
	return &subresourceClient{name: name, store: f.store}
}

type statusClient struct {
	client.SubResourceWriter
	store *Store
}

func (f *statusClient) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return f.store.update(object, true)
}

type subresourceClient struct {
	client.SubResourceClient
	name  string
	store *Store
}

func (f *subresourceClient) Create(_ context.Context, object, sub client.Object, _ ...client.SubResourceCreateOption) error {
	pod, isPod := object.(*corev1.Pod)
	eviction, isEviction := sub.(*policyv1.Eviction)
	if f.name != "eviction" || !isPod || !isEviction {
		return fmt.Errorf("creating subresource %s of %T: not supported here", f.name, object)
	}
	return f.store.evict(pod, eviction)
}

func (f *subresourceClient) Update(ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	if f.name != "status" {
		return fmt.Errorf("updating subresource %s of %T: not supported here", f.name, object)
	}
	return (&statusClient{store: f.store}).Update(ctx, object, opts...)
}

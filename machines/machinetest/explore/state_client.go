package explore

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/detent-dev/detent/simulator/store"
)

// stateClient is the API client of the operator in one reconcile. It reads the cache's or the server's version of a state, writes to
// the server's, and injects the planned fault.
type stateClient struct {
	client.Client // nil: a method that is not implemented below panics, with the kind's code on the stack
	scenario      *Scenario
	live          bool
	calls         *calls
	// statusStored is called with every status that the operator stored.
	statusStored func(before, after client.Object)
}

func (f *stateClient) Scheme() *k8sruntime.Scheme { return f.scenario.scheme }

func (f *stateClient) GroupVersionKindFor(object k8sruntime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, f.scenario.scheme)
}

func (f *stateClient) store() objectStore {
	if f.live {
		return f.scenario.state.live
	}
	return f.scenario.state.seen
}

func (f *stateClient) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if err := f.calls.read(f.live); err != nil {
		return err
	}
	return f.store().Get(f.scenario.scheme, key, into)
}

func (f *stateClient) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := f.calls.read(f.live); err != nil {
		return err
	}
	return f.store().List(f.scenario.scheme, list, opts...)
}

// Create creates an object. A dry run is accepted and stores nothing.
func (f *stateClient) Create(_ context.Context, object client.Object, opts ...client.CreateOption) error {
	var o client.CreateOptions
	o.ApplyOptions(opts)
	if len(o.DryRun) > 0 {
		return f.calls.read(true)
	}
	return f.calls.write(func() error {
		s := f.scenario.state
		kind, err := s.live.Creatable(f.scenario.scheme, object)
		if err != nil {
			return err
		}
		stored, _ := object.DeepCopyObject().(client.Object)
		s.create(kind, stored, s.now)
		store.Set(object, stored.DeepCopyObject())
		return nil
	})
}

func (f *stateClient) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return f.calls.write(func() error {
		old, err := f.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := object.DeepCopyObject().(client.Object)
		next.SetUID(old.Object.GetUID())
		next.SetCreationTimestamp(old.Object.GetCreationTimestamp())
		next.SetGeneration(old.Object.GetGeneration() + 1)
		f.scenario.state.put(old, next)
		store.Set(object, next.DeepCopyObject())
		return nil
	})
}

// Patch supports JSON patches of metadata, and patches of finalizers with an optimistic lock.
func (f *stateClient) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return f.calls.write(func() error {
		if patch.Type() == types.JSONPatchType {
			return f.patchJSON(object, patch)
		}
		old, err := f.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := old.Object.DeepCopyObject().(client.Object)
		next.SetFinalizers(object.GetFinalizers())
		f.scenario.state.putFinalizers(old, next)
		store.Set(object, next.DeepCopyObject())
		return nil
	})
}

func (f *stateClient) patchJSON(object client.Object, patch client.Patch) error {
	text, err := patch.Data(object)
	if err != nil {
		return err
	}
	old, err := f.match(object, "", "")
	if err != nil {
		return err
	}
	next, err := store.Patched(f.scenario.scheme, old.Object, text)
	if err != nil {
		return err
	}
	f.scenario.state.put(old, next)
	store.Set(object, next.DeepCopyObject())
	return nil
}

func (f *stateClient) Delete(_ context.Context, object client.Object, opts ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(opts)
	uid, revision := store.Preconditions(o.Preconditions)
	return f.calls.write(func() error { return f.remove(object, uid, revision) })
}

func (f *stateClient) remove(object client.Object, uid types.UID, revision string) error {
	old, err := f.match(object, uid, revision)
	if err != nil {
		return err
	}
	f.scenario.state.remove(old)
	return nil
}

// match returns the stored object that a write refers to, or a conflict if its UID or resourceVersion differ.
func (f *stateClient) match(object client.Object, uid types.UID, revision string) (*record, error) {
	return f.scenario.state.live.Match(f.scenario.scheme, object, uid, revision)
}

func (f *stateClient) Status() client.SubResourceWriter { return &stateStatusClient{client: f} }

// SubResource supports evictions. A pod is removed at once, because no disruption budget exists here.
func (f *stateClient) SubResource(string) client.SubResourceClient {
	return &stateEvictionClient{client: f}
}

type stateStatusClient struct {
	client.SubResourceWriter
	client *stateClient
}

func (f *stateStatusClient) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return f.client.calls.status(func() error {
		old, err := f.client.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := object.DeepCopyObject().(client.Object)
		s := f.client.scenario.state
		s.put(old, next)
		if old.Kind == f.client.scenario.main {
			s.own, s.ownTerm = s.revision, f.client.scenario.term
		}
		store.Set(object, next.DeepCopyObject())
		f.client.statusStored(old.Object, next)
		return nil
	})
}

type stateEvictionClient struct {
	client.SubResourceClient
	client *stateClient
}

func (f *stateEvictionClient) Create(_ context.Context, object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return f.client.calls.evict(func() error { return f.client.remove(object, object.GetUID(), "") })
}

var _ client.Client = &stateClient{}

// changeMain stores a user's change of an object, and reports whether it changed anything.
func (s *state) changeMain(r *record, change func(client.Object)) bool {
	next, _ := r.Object.DeepCopyObject().(client.Object)
	change(next)
	if string(textOf(next)) == string(textOf(r.Object)) {
		return false
	}
	if specChanged(r.Object, next) {
		next.SetGeneration(next.GetGeneration() + 1)
	}
	s.put(r, next)
	return true
}

func specChanged(old, next client.Object) bool {
	plain := func(o client.Object) string {
		copied, _ := o.DeepCopyObject().(client.Object)
		copied.SetAnnotations(nil)
		copied.SetLabels(nil)
		copied.SetOwnerReferences([]metav1.OwnerReference{})
		return string(textOf(copied))
	}
	return plain(old) != plain(next)
}

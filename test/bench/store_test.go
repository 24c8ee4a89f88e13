// Package bench measures what a pass costs, on a store that costs next to nothing itself.
package bench

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello/api"
)

// store holds one greeting and its ConfigMap, typed, with nothing of an API server but resourceVersions. Controller-runtime's
// fake client takes half a millisecond for a status write; this one takes a copy.
type store struct {
	client.Client // nil: whatever is not below is not called
	scheme        *k8sruntime.Scheme
	greeting      *api.Greeting
	said          *corev1.ConfigMap
	revision      int
	writes        int
}

func (s *store) Scheme() *k8sruntime.Scheme { return s.scheme }

func (s *store) next() string {
	s.revision++
	s.writes++
	return strconv.Itoa(s.revision)
}

func (s *store) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch into := object.(type) {
	case *api.Greeting:
		s.greeting.DeepCopyInto(into)
	case *corev1.ConfigMap:
		if s.said == nil {
			return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
		}
		s.said.DeepCopyInto(into)
	}
	return nil
}

func (s *store) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return s.put(object)
}

func (s *store) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return s.put(object)
}

func (s *store) put(object client.Object) error {
	object.SetResourceVersion(s.next())
	if said, ok := object.(*corev1.ConfigMap); ok {
		s.said = said.DeepCopy()
	}
	return nil
}

func (s *store) Status() client.SubResourceWriter { return statusOf{store: s} }

type statusOf struct {
	client.SubResourceWriter
	store *store
}

func (w statusOf) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	greeting, ok := object.(*api.Greeting)
	if !ok || greeting.ResourceVersion != w.store.greeting.ResourceVersion {
		return apierrors.NewConflict(corev1.Resource("greetings"), object.GetName(), nil)
	}
	greeting.ResourceVersion = w.store.next()
	w.store.greeting = greeting.DeepCopy()
	return nil
}

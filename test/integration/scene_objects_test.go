package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

func (s *scene) name(v Visit) string { return strings.ToLower(v.Lifecycle + "-" + v.State) }

func (s *scene) key(v Visit) client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: s.name(v)}
}

// all returns the objects of the scene by name.
func (s *scene) all() map[string]lifecycle.Object {
	GinkgoHelper()
	found, _ := s.list()
	return found
}

// object returns the object of this name, nil if there is none.
func (s *scene) object(name string) lifecycle.Object {
	GinkgoHelper()
	found, _ := s.list(client.MatchingFields{"metadata.name": name})
	return found[name]
}

// list also returns the resourceVersion of the list.
func (s *scene) list(selected ...client.ListOption) (found map[string]lifecycle.Object, revision string) {
	GinkgoHelper()
	list := s.subject.List()
	Expect(admin.List(s, list, append(selected, client.InNamespace(s.namespace))...)).To(Succeed())
	found = map[string]lifecycle.Object{}
	Expect(meta.EachListItem(list, func(item k8sruntime.Object) error {
		object, ok := item.(lifecycle.Object)
		if !ok {
			return fmt.Errorf("%T has no lifecycles", item)
		}
		found[object.GetName()] = object
		return lab.Defect(object)
	})).To(Succeed())
	return found, list.GetResourceVersion()
}

// edit changes the object as a user does, without the status.
func (s *scene) edit(v Visit, change func(lifecycle.Object)) {
	GinkgoHelper()
	s.update(v, change, func(o lifecycle.Object) error { return admin.Update(s, o) })
}

// tamper changes the stored status, which only the operator may do.
func (s *scene) tamper(v Visit, change func(*lifecyclev1.Status)) {
	GinkgoHelper()
	s.update(v, func(o lifecycle.Object) { change(o.LifecycleStatus()) }, func(o lifecycle.Object) error { return admin.Status().Update(s, o) })
}

// editNamed is edit for an object that belongs to no visit.
func (s *scene) editNamed(name string, change func(lifecycle.Object)) {
	GinkgoHelper()
	s.updateNamed(name, change, func(o lifecycle.Object) error { return admin.Update(s, o) })
}

func (s *scene) update(v Visit, change func(lifecycle.Object), write func(lifecycle.Object) error) {
	GinkgoHelper()
	s.updateNamed(s.name(v), change, write)
}

func (s *scene) updateNamed(name string, change func(lifecycle.Object), write func(lifecycle.Object) error) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object := s.object(name)
		if object == nil {
			return fmt.Errorf("there is no object %s", name)
		}
		change(object)
		return write(object)
	})).To(Succeed())
}

// entryOf is the status of a lifecycle, of its worst instance if it has several, or an empty one.
func entryOf(o lifecycle.Object, name string) lifecyclev1.Lifecycle {
	for _, l := range o.LifecycleStatus().Lifecycles {
		if of, _ := machines.SplitEntryName(l.Name); of == name {
			return l
		}
	}
	return lifecyclev1.Lifecycle{}
}

func conditionOf(o lifecycle.Object, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(o.LifecycleStatus().Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

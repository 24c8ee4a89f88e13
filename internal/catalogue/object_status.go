package catalogue

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// objectStatus is the lifecycle status of an object of any kind.
type objectStatus struct {
	name   string
	status lifecyclev1.Status
}

func objectStatusOf(object *unstructured.Unstructured) (*objectStatus, error) {
	s := &objectStatus{name: object.GetKind() + " " + object.GetName()}
	status, _, err := unstructured.NestedMap(object.Object, "status")
	if err != nil {
		return nil, fmt.Errorf("reading the status of %s: %w", s.name, err)
	}
	if err := k8sruntime.DefaultUnstructuredConverter.FromUnstructured(status, &s.status); err != nil {
		return nil, fmt.Errorf("reading the status of %s: %w", s.name, err)
	}
	return s, nil
}

// lifecycle returns the entry with the name. An empty name selects the entry of the summary, or the only one.
func (s *objectStatus) lifecycle(name string) (*lifecyclev1.Lifecycle, error) {
	if name == "" && s.status.Summary != nil {
		name = s.status.Summary.Lifecycle
	}
	names := make([]string, len(s.status.Lifecycles))
	for i := range s.status.Lifecycles {
		entry := &s.status.Lifecycles[i]
		if entry.Name == name || name == "" && len(s.status.Lifecycles) == 1 {
			return entry, nil
		}
		names[i] = entry.Name
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("the status of %s holds no lifecycles: nothing has driven it yet", s.name)
	case name == "":
		return nil, fmt.Errorf("%s has several lifecycles: choose one with --lifecycle, of %s", s.name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s has no lifecycle %q: it has %s", s.name, name, strings.Join(names, ", "))
}

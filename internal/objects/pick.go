package objects

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Pick returns the one object that matches: by reference and namespace if they are given, otherwise the one with lifecycles in
// its status. An object that names no namespace is in the namespace default, as for kubectl. It returns an error that lists the candidates if
// none or several match.
func Pick(read []Manifest, meant *Reference, namespace string, definitions []*apiextensionsv1.CustomResourceDefinition) (*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	var there []string
	for _, m := range read {
		there = append(there, describe(m.Object))
		switch {
		case namespace != "" && cmp.Or(m.Object.GetNamespace(), metav1.NamespaceDefault) != namespace:
		case meant == nil && !hasLifecycles(m.Object):
		case meant != nil && !meant.Fits(m.Object, definitions):
		default:
			found = append(found, m.Object)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(there) == 0:
		return nil, errors.New("the input holds no object")
	case len(found) > 1:
		var several []string
		for _, o := range found {
			several = append(several, describe(o))
		}
		return nil, fmt.Errorf("several objects may be meant: %s: name one as TYPE/NAME, and its namespace with -n", few(several))
	case meant == nil:
		return nil, fmt.Errorf("no object in the input has lifecycles in its status: there are %s", few(there))
	}
	wanted := meant.String()
	if namespace != "" {
		wanted += " -n " + namespace
	}
	return nil, fmt.Errorf("%s is not in the input: there are %s", wanted, few(there))
}

func hasLifecycles(object *unstructured.Unstructured) bool {
	list, found, err := unstructured.NestedSlice(object.Object, "status", "lifecycles")
	return err == nil && found && len(list) > 0
}

// describe names an object in the form that commands accept.
func describe(object *unstructured.Unstructured) string {
	name := strings.ToLower(object.GetKind()) + "/" + object.GetName()
	if ns := object.GetNamespace(); ns != "" {
		name += " -n " + ns
	}
	return name
}

// few lists at most five names and the number of the others.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

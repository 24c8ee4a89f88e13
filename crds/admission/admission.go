// Package admission validates a resource against its CustomResourceDefinition as an API server does on admission, without an
// API server: names, types, bounds, uniqueness in lists and CEL rules. It is as strict as kubectl is by default: an unknown
// field is an error.
package admission

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/detent-dev/detent/crds"
)

// Schemas are the served versions of a set of kinds. They hold no state and are safe for concurrent use.
type Schemas struct {
	definitions []*apiextensionsv1.CustomResourceDefinition
	versions    map[schema.GroupVersionKind]*version
}

// Embedded compiles the definitions that are part of the binary: those of the operator's kinds. It takes tens of milliseconds, so that
// a caller keeps the result.
func Embedded() (*Schemas, error) {
	definitions, err := crds.Definitions()
	if err != nil {
		return nil, err
	}
	return New(definitions)
}

// New compiles the schemas and CEL rules of the definitions. It returns an error for a definition that an API server would reject.
func New(definitions []*apiextensionsv1.CustomResourceDefinition) (*Schemas, error) {
	schemas := &Schemas{definitions: definitions, versions: map[schema.GroupVersionKind]*version{}}
	for _, definition := range definitions {
		for i := range definition.Spec.Versions {
			served := &definition.Spec.Versions[i]
			kind := schema.GroupVersionKind{Group: definition.Spec.Group, Version: served.Name, Kind: definition.Spec.Names.Kind}
			compiled, err := compile(definition, served)
			if err != nil {
				return nil, fmt.Errorf("compiling the schema of %s: %w", kind, err)
			}
			schemas.versions[kind] = compiled
		}
	}
	return schemas, nil
}

// Definitions returns what the schemas were compiled from. The caller must not modify it.
func (s *Schemas) Definitions() []*apiextensionsv1.CustomResourceDefinition { return s.definitions }

// Knows reports whether there is a schema for a kind.
func (s *Schemas) Knows(kind schema.GroupVersionKind) bool {
	_, ok := s.versions[kind]
	return ok
}

// Create returns the errors with which an API server would reject the creation of a resource. An empty list means that the
// resource is valid. Every error names the field. A kind without a schema is an error too. The resource is not modified.
func (s *Schemas) Create(ctx context.Context, resource *unstructured.Unstructured) field.ErrorList {
	version, unknown := s.of(resource)
	if version == nil {
		return unknown
	}
	resource = resource.DeepCopy()
	if errs := version.decode(resource); len(errs) > 0 {
		return errs
	}
	return version.validate(ctx, resource)
}

// Default sets the defaults of the schema in a resource, as an API server does when it stores one.
func (s *Schemas) Default(resource *unstructured.Unstructured) {
	if version, _ := s.of(resource); version != nil {
		defaulting.Default(resource.Object, version.structural)
	}
}

// Update returns the errors with which an API server would reject the replacement of old by resource. As in an API server, an
// unchanged field that was invalid before is not an error (validation ratcheting). Neither object is modified.
func (s *Schemas) Update(ctx context.Context, resource, old *unstructured.Unstructured) field.ErrorList {
	version, unknown := s.of(resource)
	if version == nil {
		return unknown
	}
	resource = resource.DeepCopy()
	if errs := version.decode(resource); len(errs) > 0 {
		return errs
	}
	return version.validateUpdate(ctx, resource, old.DeepCopy())
}

func (s *Schemas) of(resource *unstructured.Unstructured) (*version, field.ErrorList) {
	kind := resource.GroupVersionKind()
	version, ok := s.versions[kind]
	if !ok {
		detail := fmt.Sprintf("no such kind in %q", kind.GroupVersion())
		return nil, field.ErrorList{field.Invalid(field.NewPath("kind"), kind.Kind, detail)}
	}
	return version, nil
}

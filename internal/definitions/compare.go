package definitions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Missing lists what the installed definition lacks of the wanted one so that the manager's writes are stored: the version, its
// status subresource, and fields of the schema. The API server drops unknown fields without an error. If the parents of a field
// are missing too, Missing lists only the topmost missing parent. It compares only the top-level fields that fields names.
func Missing(have, want *apiextensionsv1.CustomResourceDefinition, fields []string) []string {
	used := storageVersion(want)
	if used == nil {
		return nil
	}
	i := slices.IndexFunc(have.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == used.Name && v.Served })
	if i < 0 {
		return []string{"version " + used.Name}
	}
	served := &have.Spec.Versions[i]
	var missing []string
	if served.Subresources == nil || served.Subresources.Status == nil {
		missing = append(missing, "the status subresource of "+used.Name)
	}
	compare := func(v *apiextensionsv1.CustomResourceDefinitionVersion) {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			missing = append(missing, MissingFields(v.Schema.OpenAPIV3Schema, used.Schema.OpenAPIV3Schema, fields)...)
		}
	}
	compare(served)
	// The API server also prunes by the schema of the storage version when it stores an object.
	if stored := storageVersion(have); stored != nil && stored.Name != served.Name {
		compare(stored)
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

func storageVersion(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range d.Spec.Versions {
		if d.Spec.Versions[i].Storage {
			return &d.Spec.Versions[i]
		}
	}
	return nil
}

// MissingFields lists the paths in want that an object loses under have, below the top-level fields that fields names.
func MissingFields(have, want *apiextensionsv1.JSONSchemaProps, fields []string) []string {
	var missing []string
	for _, name := range fields {
		if w, ok := want.Properties[name]; ok {
			missing = append(missing, missingBelow(name, property(have, name), &w)...)
		}
	}
	return missing
}

// missingBelow compares the schemas of one path. have is nil if the path is missing.
func missingBelow(path string, have, want *apiextensionsv1.JSONSchemaProps) []string {
	switch {
	case have == nil:
		return []string{path}
	case have.Type != "" && want.Type != "" && have.Type != want.Type:
		return []string{fmt.Sprintf("%s as %s (it is %s)", path, want.Type, have.Type)}
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(want.Properties)) {
		w := want.Properties[name]
		missing = append(missing, missingBelow(path+"."+name, property(have, name), &w)...)
	}
	if w := want.AdditionalProperties; w != nil && len(have.Properties) == 0 && have.AdditionalProperties == nil && !keepsUnknown(have) {
		missing = append(missing, path+".*")
	}
	if w := want.Items; w != nil && w.Schema != nil {
		var items *apiextensionsv1.JSONSchemaProps
		if have.Items != nil {
			items = have.Items.Schema
		}
		if items == nil && keepsUnknown(have) {
			return missing
		}
		missing = append(missing, missingBelow(path+"[]", items, w.Schema)...)
	}
	return missing
}

// property returns the schema of a property, or nil if the API server drops the property.
func property(s *apiextensionsv1.JSONSchemaProps, name string) *apiextensionsv1.JSONSchemaProps {
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	switch {
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return s.AdditionalProperties.Schema
	case keepsUnknown(s):
		return &apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: new(true)}
	}
	return nil
}

func keepsUnknown(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// MissingText lists at most three missing paths and the number of the others.
func MissingText(missing []string) string {
	const most = 3
	if len(missing) <= most {
		return strings.Join(missing, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(missing[:most], ", "), len(missing)-most)
}

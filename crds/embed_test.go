package crds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/detent-dev/detent/crds"
)

func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The API server estimates the cost of every rule when a definition is created; a missing bound shows up here.
func TestDefinitionsAreValid(t *testing.T) {
	for _, definition := range definitions(t) {
		t.Run(definition.Name, func(t *testing.T) {
			apiextensionsv1.SetDefaults_CustomResourceDefinition(definition)
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
			internal := &apiextensions.CustomResourceDefinition{}
			if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definition, internal, nil); err != nil {
				t.Fatal(err)
			}
			internal.Status.StoredVersions = storageVersions(definition)
			for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), internal) {
				t.Error(err)
			}
		})
	}
}

func storageVersions(definition *apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, version := range definition.Spec.Versions {
		if version.Storage {
			names = append(names, version.Name)
		}
	}
	return names
}

func TestDefinitionsDescribeEveryProperty(t *testing.T) {
	walkAll(t, func(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
		// The description of metadata comes from the API server itself.
		if path != "metadata" && strings.TrimSpace(schema.Description) == "" {
			t.Errorf("%s has no description: add a comment to its Go field", path)
		}
	})
}

func TestDefinitionsSetTheTypeOfEveryList(t *testing.T) {
	lists := 0
	walkAll(t, func(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps) {
		if schema.Type != "array" {
			return
		}
		lists++
		if schema.XListType == nil {
			t.Errorf("%s has no x-kubernetes-list-type: add +listType to its Go field", path)
		}
	})
	if lists < 20 {
		t.Errorf("walked over %d lists, want at least 20: the walk misses some", lists)
	}
}

// walkAll calls visit for every property of every version of every definition, with its path.
func walkAll(t *testing.T, visit func(*testing.T, string, apiextensionsv1.JSONSchemaProps)) {
	t.Helper()
	for _, definition := range definitions(t) {
		for _, version := range definition.Spec.Versions {
			t.Run(definition.Spec.Names.Kind+"/"+version.Name, func(t *testing.T) {
				walk(t, "", *version.Schema.OpenAPIV3Schema, visit)
			})
		}
	}
}

func walk(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps, visit func(*testing.T, string, apiextensionsv1.JSONSchemaProps)) {
	for name, property := range schema.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		visit(t, at, property)
		walk(t, at, property, visit)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		walk(t, path+"[]", *schema.Items.Schema, visit)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		walk(t, path+"[*]", *schema.AdditionalProperties.Schema, visit)
	}
}

// Without a conversion webhook a resource is read in one version exactly as it was written in another, so all must agree.
func TestDefinitionsHaveOneSchemaForAllServedVersions(t *testing.T) {
	for _, definition := range definitions(t) {
		t.Run(definition.Spec.Names.Kind, func(t *testing.T) {
			if definition.Spec.Conversion != nil && definition.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
				t.Errorf("conversion is %s, want none", definition.Spec.Conversion.Strategy)
			}
			first := definition.Spec.Versions[0]
			for _, other := range definition.Spec.Versions[1:] {
				other.Name, other.Storage = first.Name, first.Storage
				if diff := cmp.Diff(first, other); diff != "" {
					t.Errorf("versions differ:\n%s", diff)
				}
			}
		})
	}
}

func TestDefinitionsByName(t *testing.T) {
	type summary struct {
		Served, Stored, ShortNames []string
		Subresources               string
	}
	want := map[string]summary{
		"kafkas.kafka.strimzi.io":             {Served: []string{"v1", "v1beta2"}, Stored: []string{"v1beta2"}, ShortNames: []string{"k"}, Subresources: "status"},
		"kafkanodepools.kafka.strimzi.io":     {Served: []string{"v1", "v1beta2"}, Stored: []string{"v1beta2"}, ShortNames: []string{"knp"}, Subresources: "status scale"},
		"kafkamirrormaker2s.kafka.strimzi.io": {Served: []string{"v1", "v1beta2"}, Stored: []string{"v1beta2"}, ShortNames: []string{"kmm2"}, Subresources: "status scale"},
		"clusters.ceph.rook.io":               {Served: []string{"v1"}, Stored: []string{"v1"}, ShortNames: []string{"ceph"}, Subresources: "status"},
		"strimzipodsets.core.strimzi.io":      {Served: []string{"v1beta2"}, Stored: []string{"v1beta2"}, ShortNames: []string{"sps"}, Subresources: "status"},
	}
	got := map[string]summary{}
	for _, definition := range definitions(t) {
		if _, ours := want[definition.Name]; !ours {
			continue
		}
		line := summary{Stored: storageVersions(definition), ShortNames: definition.Spec.Names.ShortNames, Subresources: "status"}
		for _, version := range definition.Spec.Versions {
			line.Served = append(line.Served, version.Name)
			if version.Subresources.Scale != nil && len(line.Served) == 1 {
				line.Subresources += " scale"
			}
		}
		got[definition.Name] = line
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefinitionsAreDecodedOnEveryCall(t *testing.T) {
	definitions(t)[0].Spec.Group = "changed"
	if got := definitions(t)[0].Spec.Group; got == "changed" {
		t.Error("a change to one caller's definitions reached another's")
	}
}

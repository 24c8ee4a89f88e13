package crds_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// An API server does not validate format. It would store an integer that does not fit into 32 bits, and then decoding a list of the
// kind would fail: one resource would stop the manager for all of them.
func TestDefinitionsBoundEvery32BitInteger(t *testing.T) {
	for _, definition := range definitions(t) {
		for i := range definition.Spec.Versions {
			version := &definition.Spec.Versions[i]
			t.Run(definition.Name+" "+version.Name, func(t *testing.T) { checkBounds(t, version.Schema.OpenAPIV3Schema, "") })
		}
	}
}

func checkBounds(t *testing.T, schema *apiextensionsv1.JSONSchemaProps, path string) {
	t.Helper()
	if schema.Format == "int32" && (schema.Maximum == nil || *schema.Maximum > 1<<31-1) {
		t.Errorf("%s has no maximum that 32 bits hold", path)
	}
	for name := range schema.Properties {
		child := schema.Properties[name]
		checkBounds(t, &child, path+"."+name)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		checkBounds(t, schema.Items.Schema, path+"[]")
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		checkBounds(t, schema.AdditionalProperties.Schema, path+"{}")
	}
}

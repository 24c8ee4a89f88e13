package definitions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/internal/definitions"
)

type schema = apiextensionsv1.JSONSchemaProps

func object(properties map[string]schema) schema {
	return schema{Type: "object", Properties: properties}
}

func listOf(items schema) schema {
	return schema{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}
}

func TestMissingFields(t *testing.T) {
	text, number := schema{Type: "string"}, schema{Type: "integer"}
	anything := schema{Type: "object", XPreserveUnknownFields: new(true)}
	texts := schema{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}}
	want := object(map[string]schema{
		"state": text, "data": texts, "history": listOf(object(map[string]schema{"from": text, "to": text})),
	})
	tests := map[string]struct {
		have schema
		want []string
	}{
		"the same":                                {have: want},
		"no status at all":                        {have: schema{}, want: []string{"status"}},
		"a field":                                 {have: object(map[string]schema{"data": texts, "history": want.Properties["history"]}), want: []string{"status.state"}},
		"all of it, by the topmost of each":       {have: object(nil), want: []string{"status.data", "status.history", "status.state"}},
		"whatever is written is kept":             {have: anything},
		"a list that keeps what it holds":         {have: object(map[string]schema{"state": text, "data": anything, "history": listOf(anything)})},
		"a field of the items of a list":          {have: object(map[string]schema{"state": text, "data": texts, "history": listOf(object(map[string]schema{"to": text}))}), want: []string{"status.history[].from"}},
		"values of a map":                         {have: object(map[string]schema{"state": text, "data": {Type: "object"}, "history": want.Properties["history"]}), want: []string{"status.data.*"}},
		"another type":                            {have: object(map[string]schema{"state": number, "data": texts, "history": want.Properties["history"]}), want: []string{"status.state as string (it is integer)"}},
		"more than is wanted is no contradiction": {have: object(map[string]schema{"state": text, "data": texts, "history": want.Properties["history"], "more": text})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			have := object(map[string]schema{})
			if tc.have.Type != "" {
				have.Properties["status"] = tc.have
			}
			wanted := object(map[string]schema{"status": want})
			if diff := cmp.Diff(tc.want, definitions.MissingFields(&have, &wanted, []string{"status"})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissingOfOwnDefinitionsIsEmpty(t *testing.T) {
	all, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if missing := definitions.Missing(d, d, []string{"spec", "status"}); len(missing) > 0 {
			t.Errorf("%s lacks %q", d.Name, missing)
		}
	}
}

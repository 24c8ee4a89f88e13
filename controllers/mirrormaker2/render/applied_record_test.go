package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
)

// TestAppliedRestores checks that the record restores the objects as they were rendered, and holds no secret that a user set as a property.
func TestAppliedRestores(t *testing.T) {
	c := cluster(t, secured)
	record, err := c.Applied()
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range record.Data {
		if strings.Contains(value, "hidden") || strings.Contains(value, `"secret"`) {
			t.Errorf("%s contains a secret: %s", key, value)
		}
	}
	restored, err := render.Restore(c.Namespace, c.Name, record)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := c.Entry(1)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := restored.Entry(1)
	if diff := cmp.Diff(string(want.Raw), string(got.Raw)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if !apiequality.Semantic.DeepEqual(c.ConfigMap(nil), restored.ConfigMap(nil)) || !apiequality.Semantic.DeepEqual(c.Objects(), restored.Objects()) {
		t.Error("the objects differ from those that were rendered")
	}
	record.Data = nil
	if _, err := render.Restore(c.Namespace, c.Name, record); err == nil {
		t.Error("a record without content is read")
	}
}

package resource_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/detent-dev/detent/internal/resource"
)

// A manager patches its objects only for the finalizer.
func TestKindManagerRightsPatchFinalizers(t *testing.T) {
	for name, want := range map[string]bool{"no machine declares a deletion": false, "a machine declares a deletion": true} {
		t.Run(name, func(t *testing.T) {
			kind := resource.Kind{Resource: schema.GroupVersionResource{Group: "bank.example.org", Version: "v1", Resource: "accounts"}, Finalizer: want}
			got := false
			for _, rule := range kind.ManagerRights() {
				got = got || slices.Contains(rule.Resources, "accounts") && slices.Contains(rule.Verbs, "patch")
			}
			if got != want {
				t.Errorf("patches accounts: %v, want %v: %+v", got, want, kind.ManagerRights())
			}
		})
	}
}

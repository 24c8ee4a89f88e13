package resource_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
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

// The manager may write the parts that it writes, and no others.
func TestKindManagerRightsOfParts(t *testing.T) {
	read := []string{"get", "list", "watch"}
	for name, tc := range map[string]struct {
		access resource.Access
		want   []string
	}{
		"declared": {resource.Declared, read},
		"watched":  {resource.Watched, read},
		"applied":  {resource.Applied, append(slices.Clone(read), "create", "update")},
		"removed":  {resource.Removed, append(slices.Clone(read), "create", "update", "delete")},
	} {
		t.Run(name, func(t *testing.T) {
			kind := resource.Kind{
				Resource: schema.GroupVersionResource{Group: "bank.example.org", Version: "v1", Resource: "accounts"},
				Parts:    []resource.Part{{Object: &corev1.Pod{}, Resource: corev1.SchemeGroupVersion.WithResource("pods"), Access: tc.access}},
			}
			var got []string
			for _, rule := range kind.ManagerRights() {
				if slices.Contains(rule.Resources, "pods") {
					got = append(got, rule.Verbs...)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("verbs on pods (-want +got):\n%s", diff)
			}
			if children := len(kind.Children()) > 0; children != tc.access.Written() {
				t.Errorf("are children: %v, want %v", children, tc.access.Written())
			}
		})
	}
}

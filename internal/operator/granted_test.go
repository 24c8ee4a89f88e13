package operator

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/resource"
)

// reviewer answers reviews of access.
type reviewer struct {
	client.Client
	denied    string // verb and resource, with the namespace if there is one
	forbidden bool
	asked     int
}

func (r *reviewer) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	r.asked++
	if r.forbidden {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "selfsubjectaccessreviews"}, "", nil)
	}
	review, ok := o.(*authorizationv1.SelfSubjectAccessReview)
	if !ok {
		return fmt.Errorf("%T is no review", o)
	}
	a := review.Spec.ResourceAttributes
	text := strings.TrimSpace(a.Verb + " " + strings.TrimSuffix(a.Resource+"/"+a.Subresource, "/") + " " + a.Namespace)
	review.Status.Allowed = text != r.denied
	return nil
}

func TestLimitKinds(t *testing.T) {
	common := Kind{Kind: resource.Kind{Name: "Common"}}
	apart := Kind{Kind: resource.Kind{
		Name: "Apart", Separate: "apart", Resource: schema.GroupVersionResource{Group: "g", Resource: "aparts"},
		Parts:  []resource.Part{{Resource: schema.GroupVersionResource{Resource: "pods"}}},
		Rights: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets", "pods/exec"}, Verbs: []string{"get"}}},
	}}
	needy := Kind{Kind: resource.Kind{Name: "Needy"}, Requires: "Common"}
	for name, tc := range map[string]struct {
		api       reviewer
		only      []string
		watch     []string
		want      []string
		says, err string
	}{
		"every right is granted":                 {want: []string{"Common", "Apart", "Needy"}},
		"the objects cannot be listed":           {api: reviewer{denied: "list aparts"}, want: []string{"Common", "Needy"}, says: "the right to list aparts in all namespaces is missing"},
		"a part cannot be listed":                {api: reviewer{denied: "list pods"}, want: []string{"Common", "Needy"}, says: "config/rbac-apart"},
		"a further right is missing":             {api: reviewer{denied: "get pods/exec"}, want: []string{"Common", "Needy"}, says: "the right to get pods/exec"},
		"one watched namespace lacks a right":    {api: reviewer{denied: "get secrets b"}, watch: []string{"a", "b"}, want: []string{"Common", "Needy"}, says: "in b is missing"},
		"the manager may not ask":                {api: reviewer{forbidden: true}, want: []string{"Common", "Apart", "Needy"}},
		"a kind is switched off":                 {only: []string{"Common"}, want: []string{"Common"}, says: "a kind is switched off"},
		"a kind is selected and lacks a right":   {api: reviewer{denied: "get secrets"}, only: []string{"Apart"}, err: "grant its rights with config/rbac-apart"},
		"a kind that does not exist is selected": {only: []string{"Apart", "Else"}, err: "Else is none: write names of Common, Apart, Needy"},
		"a kind is selected without another":     {only: []string{"Needy"}, err: "Needy requires Common, whose controllers create its pods: select both"},
		"a kind is selected with another":        {only: []string{"Needy", "Common"}, want: []string{"Common", "Needy"}, says: "a kind is switched off"},
	} {
		t.Run(name, func(t *testing.T) {
			said := ""
			o := &Options{Kinds: []Kind{common, apart, needy}, Only: tc.only, Namespaces: tc.watch, Log: funcr.New(func(_, args string) { said += args }, funcr.Options{})}
			err := limitKinds(t.Context(), &tc.api, o)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%v, want %q", err, tc.err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, names(o.Kinds)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if !strings.Contains(said, tc.says) || tc.says == "" && said != "" {
				t.Errorf("said %q, want %q", said, tc.says)
			}
			if len(tc.only) == 1 && tc.api.asked > 0 {
				t.Error("rights on a kind that is switched off were asked for")
			}
		})
	}
}

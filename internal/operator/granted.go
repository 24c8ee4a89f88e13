package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/resource"
)

// limitKinds leaves out the kinds that are switched off, and those whose rights are granted separately and are missing. A missing right of
// a kind that was selected by name is an error.
func limitKinds(ctx context.Context, c client.Client, o *Options) error {
	if unknown := slices.DeleteFunc(slices.Clone(o.Only), func(name string) bool {
		return slices.ContainsFunc(o.Kinds, func(k Kind) bool { return k.Name == name })
	}); len(unknown) > 0 {
		return fmt.Errorf("selecting the kinds: %s is none: write names of %s", strings.Join(unknown, ", "), strings.Join(names(o.Kinds), ", "))
	}
	if err := complete(o); err != nil {
		return err
	}
	var kept []Kind
	for i := range o.Kinds {
		k := o.Kinds[i]
		if len(o.Only) > 0 && !slices.Contains(o.Only, k.Name) {
			o.Log.Info("a kind is switched off", "kind", k.Name)
			continue
		}
		missing, err := missingRight(ctx, c, &k.Kind, o.Namespaces)
		switch {
		case err != nil:
			return err
		case missing != "" && len(o.Only) > 0:
			return fmt.Errorf("selecting the kind %s: %s: %s", k.Name, missing, grant(&k.Kind))
		case missing != "":
			o.Log.Info("a kind is not run: "+grant(&k.Kind)+", and start again if it is wanted", "kind", k.Name, "missing", missing)
			continue
		}
		kept = append(kept, k)
	}
	if o.Kinds = kept; len(kept) == 0 {
		return errors.New("selecting the kinds: none is left that may be run")
	}
	return nil
}

// complete checks that no kind is selected without the kind that it requires.
func complete(o *Options) error {
	for i := range o.Kinds {
		k := &o.Kinds[i]
		if k.Requires != "" && slices.Contains(o.Only, k.Name) && !slices.Contains(o.Only, k.Requires) {
			return fmt.Errorf("selecting the kinds: %s requires %s, whose controllers create its pods: select both", k.Name, k.Requires)
		}
	}
	return nil
}

func names(kinds []Kind) (out []string) {
	for i := range kinds {
		out = append(out, kinds[i].Name)
	}
	return out
}

// grant says how the rights on a kind are granted.
func grant(k *resource.Kind) string {
	return fmt.Sprintf("grant its rights with config/rbac-%s, or for watched namespaces with config/rbac-namespaced-%s", k.Separate, k.Separate)
}

// missingRight returns a right on a kind that the manager lacks, in words, or "". Only rights that are granted separately are looked for:
// those to list its objects and their parts, and those that follow from no part.
func missingRight(ctx context.Context, c client.Client, k *resource.Kind, namespaces []string) (string, error) {
	if k.Separate == "" {
		return "", nil
	}
	wanted := []rbacv1.PolicyRule{{APIGroups: []string{k.Resource.Group}, Resources: []string{k.Resource.Resource}, Verbs: []string{"list"}}}
	for i := range k.Parts {
		r := &k.Parts[i].Resource
		wanted = append(wanted, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, Verbs: []string{"list"}})
	}
	wanted = append(wanted, k.Rights...)
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		for i := range wanted {
			if missing, err := lacks(ctx, c, &wanted[i], namespace); missing != "" || err != nil {
				return missing, err
			}
		}
	}
	return "", nil
}

// lacks returns the first permission of a rule that the manager lacks in a namespace, or in all if it is empty.
func lacks(ctx context.Context, c client.Client, rule *rbacv1.PolicyRule, namespace string) (string, error) {
	for _, name := range rule.Resources {
		for _, verb := range rule.Verbs {
			resourceName, sub, _ := strings.Cut(name, "/")
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: rule.APIGroups[0], Resource: resourceName, Subresource: sub},
			}}
			err := c.Create(ctx, review)
			switch {
			case apierrors.IsForbidden(err):
				return "", nil // the manager may not ask: every user may by default
			case err != nil:
				return "", fmt.Errorf("asking for the manager's rights on %s: %w", name, err)
			case !review.Status.Allowed:
				return fmt.Sprintf("the right to %s %s in %s is missing", verb, name, cmp.Or(namespace, "all namespaces")), nil
			}
		}
	}
	return "", nil
}

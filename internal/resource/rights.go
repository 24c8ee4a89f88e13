package resource

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	read   = []string{"get", "list", "watch"}
	update = []string{"update"}
)

// verbs returns what the manager may do with the objects of the part.
func (p *Part) verbs() []string {
	switch p.Access {
	case Applied:
		return append(slices.Clone(read), "create", "update")
	case Removed:
		return append(slices.Clone(read), "create", "update", "delete")
	default:
		return read
	}
}

// ManagerRights are the permissions of the manager on the objects of the kind, in each namespace that it watches.
func (k *Kind) ManagerRights() []rbacv1.PolicyRule {
	var r rules
	r.add(k.Resource, "", read)
	if k.Finalizer {
		r.add(k.Resource, "", []string{"patch"})
	}
	r.add(k.Resource, "/status", update)
	r.add(k.Resource, "/finalizers", update) // owner references block the deletion of the object
	for i := range k.Parts {
		p := &k.Parts[i]
		r.add(p.Resource, "", p.verbs())
		if p.Status {
			r.add(p.Resource, "/status", update)
		}
		if p.Owner {
			r.add(p.Resource, "/finalizers", update)
		}
	}
	return slices.Concat(r.all, k.Rights)
}

// ViewerRights are the permissions of users who may view a namespace: on the kind and on its parts of custom API
// groups. Kubernetes has roles for its own.
func (k *Kind) ViewerRights() []rbacv1.PolicyRule {
	var r rules
	r.add(k.Resource, "", read)
	r.add(k.Resource, "/status", read)
	for i := range k.Parts {
		p := &k.Parts[i]
		if !custom(p.Resource.Group) {
			continue
		}
		r.add(p.Resource, "", read)
		if p.Status {
			r.add(p.Resource, "/status", read)
		}
		if p.Scale {
			r.add(p.Resource, "/scale", read)
		}
	}
	return r.all
}

// EditorRights are the permissions, in addition to ViewerRights, of users who may edit a namespace: on custom resources that users write.
func (k *Kind) EditorRights() []rbacv1.PolicyRule {
	write := []string{"create", "delete", "deletecollection", "patch", "update"}
	var r rules
	r.add(k.Resource, "", write)
	if k.Scale {
		r.add(k.Resource, "/scale", []string{"patch", "update"})
	}
	for i := range k.Parts {
		p := &k.Parts[i]
		if p.Access != Declared || !custom(p.Resource.Group) {
			continue
		}
		r.add(p.Resource, "", write)
		if p.Scale {
			r.add(p.Resource, "/scale", []string{"patch", "update"})
		}
	}
	return r.all
}

// custom reports whether an API group is not one of Kubernetes, whose resources have roles of their own.
func custom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// rules collects permissions, with one rule for the resources of an API group that have the same verbs.
type rules struct{ all []rbacv1.PolicyRule }

func (r *rules) add(resource schema.GroupVersionResource, subresource string, verbs []string) {
	name := resource.Resource + subresource
	for i := range r.all {
		if one := &r.all[i]; one.APIGroups[0] == resource.Group && slices.Equal(one.Verbs, verbs) {
			one.Resources = append(one.Resources, name)
			return
		}
	}
	r.all = append(r.all, rbacv1.PolicyRule{APIGroups: []string{resource.Group}, Resources: []string{name}, Verbs: verbs})
}

package operator

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/detent-dev/detent/internal/resource"
)

// Rules are all permissions of a manager that watches every namespace: NamespaceRules and ClusterRules.
func Rules(kinds []resource.Kind) []rbacv1.PolicyRule {
	return slices.Concat(NamespaceRules(kinds), ClusterRules(kinds))
}

// ClusterRules are the permissions on cluster-scoped resources. They are optional: without them the manager skips the checks that
// need them and logs which permission is missing. Permissions on cluster-scoped resources belong only here.
func ClusterRules(kinds []resource.Kind) []rbacv1.PolicyRule {
	out := []rbacv1.PolicyRule{{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"}}}
	for i := range kinds {
		out = append(out, kinds[i].ClusterRights...)
	}
	return out
}

// NamespaceRules are the permissions that the manager needs in each namespace that it watches.
func NamespaceRules(kinds []resource.Kind) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for i := range kinds {
		out = append(out, kinds[i].ManagerRights()...)
	}
	return append(out,
		rbacv1.PolicyRule{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"list"}},
	)
}

// LeaseRules are the permissions in the namespace of the lease: on the lease itself, and on events of the core API, by which the
// leader election announces the leader.
func LeaseRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}
}

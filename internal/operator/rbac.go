package operator

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Rules are all permissions of a manager that watches every namespace: NamespaceRules and ClusterRules.
func Rules() []rbacv1.PolicyRule { return slices.Concat(NamespaceRules(), ClusterRules()) }

// ClusterRules are the permissions on cluster-scoped resources. They are optional: without them the manager skips the checks that
// need them and logs which permission is missing. Permissions on cluster-scoped resources belong only here.
func ClusterRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"}},
		// Reports whether a kubelet is alive. Without it, the recovery of a cluster without a majority waits and names the permission.
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
	}
}

// NamespaceRules are the permissions that the manager needs in each namespace that it watches.
func NamespaceRules() []rbacv1.PolicyRule {
	read := []string{"get", "list", "watch"}
	write := []string{"get", "list", "watch", "create", "update"}
	remove := append(slices.Clone(write), "delete")
	rule := func(group string, verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	return []rbacv1.PolicyRule{
		rule("kafka.strimzi.io", read, "kafkas", "kafkanodepools"),
		rule("kafka.strimzi.io", []string{"update"}, "kafkas/status", "kafkanodepools/status"),
		rule("kafka.strimzi.io", []string{"update"}, "kafkas/finalizers"),
		rule("core.strimzi.io", write, "strimzipodsets"),
		rule("core.strimzi.io", []string{"update"}, "strimzipodsets/status"),
		rule("core.strimzi.io", []string{"update"}, "strimzipodsets/finalizers"),
		rule("", remove, "pods"),
		rule("", write, "configmaps", "services", "serviceaccounts", "persistentvolumeclaims"),
		rule("", []string{"create"}, "pods/eviction"),
		rule("apps", remove, "deployments"),
		rule("policy", write, "poddisruptionbudgets"),
		rule("events.k8s.io", []string{"create"}, "events"),
		rule("coordination.k8s.io", []string{"list"}, "leases"),
	}
}

// LeaseRules are the permissions in the namespace of the lease: on the lease itself, and on events of the core API, by which the
// leader election announces the leader.
func LeaseRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}
}

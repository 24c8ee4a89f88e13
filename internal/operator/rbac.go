package operator

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Rules are all rights of a manager that watches every namespace: those in each namespace and those on the cluster.
func Rules() []rbacv1.PolicyRule { return slices.Concat(NamespaceRules(), ClusterRules()) }

// ClusterRules are the rights on what is in no namespace. They are optional: without them the manager skips the checks that need
// them and logs which right is missing. Rights on cluster-scoped resources belong here and nowhere else.
func ClusterRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"}},
		// Whether a kubelet is alive. Without it, the recovery of a cluster of which no majority serves waits and names the right.
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
	}
}

// NamespaceRules are the rights that the manager needs in each namespace that it watches, and no others.
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

// LeaseRules are the rights on the lease in the manager's own namespace, and to tell there who leads: the election does so by an
// event of the older API.
func LeaseRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}
}

// Package config is what is installed in a cluster beside the CustomResourceDefinitions: the manager with an identity that may
// do what it must and nothing else, and what people may do with our kinds. The YAML in the folders below is generated from
// here, so that a manifest cannot say other rights than the code was tested with.
package config

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
)

//go:generate go run ../hack/manifests .

const (
	// Namespace that the manager lives in unless somebody chooses another.
	Namespace = "detent-system"
	// Account is the name of the manager, of its service account and of its roles.
	Account = "detent-manager"
	// Image of the manager, as the project's own build names it.
	Image = "detent:latest"

	healthPort  = 8081
	metricsPort = 8080
)

// Access is the manager's identity in a namespace, with its rights in all namespaces and those on its lease.
func Access(kinds []resource.Kind, namespace string) []client.Object {
	return slices.Concat(identity(namespace), clusterRole(namespace, Account, operator.Rules(kinds)))
}

// NamespacedAccess is the manager's identity in a namespace, with rights in the watched namespaces alone and those on its lease.
// An empty name among watched leaves the namespace to kubectl apply -n.
func NamespacedAccess(kinds []resource.Kind, namespace string, watched ...string) []client.Object {
	out := identity(namespace)
	for _, in := range watched {
		out = append(out, namespaceRole(kinds, namespace, in)...)
	}
	return out
}

// ClusterAccess are the rights on what is in no namespace, for a manager with NamespacedAccess. They are optional.
func ClusterAccess(kinds []resource.Kind, namespace string) []client.Object {
	return clusterRole(namespace, Account+"-cluster", operator.ClusterRules(kinds))
}

// KindAccess are the rights on one kind in all namespaces, in addition to those of Access on other kinds.
func KindAccess(kind resource.Kind, namespace string) []client.Object {
	return clusterRole(namespace, Account+"-"+kind.Separate, slices.Concat(kind.ManagerRights(), kind.ClusterRights))
}

// NamespacedKindAccess are the rights on one kind in one watched namespace, in addition to those of NamespacedAccess on other kinds.
func NamespacedKindAccess(kind resource.Kind, namespace, watched string) []client.Object {
	return role(Account+"-namespace-"+kind.Separate, namespace, watched, kind.ManagerRights())
}

// ClusterKindAccess are the rights of one kind on what is in no namespace, in addition to NamespacedKindAccess.
func ClusterKindAccess(kind resource.Kind, namespace string) []client.Object {
	return clusterRole(namespace, Account+"-cluster-"+kind.Separate, kind.ClusterRights)
}

// identity is the service account with its rights on the lease.
func identity(namespace string) []client.Object {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: Account, Namespace: namespace, Labels: labels()}}
	return append([]client.Object{account}, role(Account, namespace, namespace, operator.LeaseRules())...)
}

// namespaceRole are the rights of a manager in one namespace that it watches.
func namespaceRole(kinds []resource.Kind, manager, watched string) []client.Object {
	return role(Account+"-namespace", manager, watched, operator.NamespaceRules(kinds))
}

func role(name, manager, namespace string, rules []rbacv1.PolicyRule) []client.Object {
	local := metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels()}
	return []client.Object{
		&rbacv1.Role{ObjectMeta: local, Rules: rules},
		&rbacv1.RoleBinding{ObjectMeta: local, Subjects: subjects(manager), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}},
	}
}

func clusterRole(manager, name string, rules []rbacv1.PolicyRule) []client.Object {
	meta := metav1.ObjectMeta{Name: name, Labels: labels()}
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects(manager), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}},
	}
}

func subjects(manager string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: Account, Namespace: manager}}
}

// Users are rights for people: whoever may view, edit or administer a namespace may do so with our kinds in it. What the
// manager makes for itself is there to look at.
func Users(kinds []resource.Kind) []client.Object {
	var view, edit []rbacv1.PolicyRule
	for i := range kinds {
		view, edit = append(view, kinds[i].ViewerRights()...), append(edit, kinds[i].EditorRights()...)
	}
	role := func(name string, rules []rbacv1.PolicyRule, aggregateTo ...string) client.Object {
		r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels()}, Rules: rules}
		for _, to := range aggregateTo {
			r.Labels["rbac.authorization.k8s.io/aggregate-to-"+to] = "true"
		}
		return r
	}
	return []client.Object{role("detent-view", view, "view", "edit", "admin"), role("detent-edit", edit, "edit", "admin")}
}

// Manager is the manager itself: two replicas that take turns by a lease, under the restricted pod security standard.
// Its metrics are open to the pod network, so that they can be scraped.
func Manager(namespace, image string) []client.Object {
	selector := map[string]string{"app.kubernetes.io/name": "detent", "app.kubernetes.io/component": "manager"}
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(healthPort)}}}
	}
	// The manager answers once it has asked the API server for its rights, which takes minutes on a slow one.
	starting := probe("/healthz")
	starting.PeriodSeconds, starting.FailureThreshold = 10, 30
	container := corev1.Container{
		Name: "manager", Image: image,
		Args: []string{"manager", "--log-format=json", "--health-probe-bind-address=:8081", "--metrics-bind-address=:8080", "--lease-identity=$(POD_NAME)_$(POD_UID)"},
		Env:  []corev1.EnvVar{podField("POD_NAME", "metadata.name"), podField("POD_UID", "metadata.uid")},
		Ports: []corev1.ContainerPort{
			{Name: "health", ContainerPort: healthPort, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: apiresource.MustParse("50m"), corev1.ResourceMemory: apiresource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: apiresource.MustParse("512Mi")},
		},
		StartupProbe: starting, LivenessProbe: probe("/healthz"), ReadinessProbe: probe("/readyz"),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	return []client.Object{
		own(namespace),
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: Account, Namespace: namespace, Labels: labels()},
			Spec: appsv1.DeploymentSpec{
				Replicas: new(int32(2)),
				Selector: &metav1.LabelSelector{MatchLabels: selector},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: selector},
					Spec: corev1.PodSpec{
						ServiceAccountName: Account,
						SecurityContext: &corev1.PodSecurityContext{
							RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
							SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
						},
						Containers: []corev1.Container{container},
					},
				},
			},
		},
	}
}

// own is the namespace that the manager lives in.
func own(name string) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: restricted()}}
}

// podField is a variable with a field of the pod's metadata.
func podField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}

func labels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": "detent", "app.kubernetes.io/part-of": "detent"}
}

// restricted makes the API server refuse pods that ask for more than the manager's do.
func restricted() map[string]string {
	l := labels()
	l["pod-security.kubernetes.io/enforce"] = "restricted"
	return l
}

package controlplane

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Users of a local control plane. Each has a kubeconfig; see Kubeconfigs.
const (
	// AdminUser has all permissions. Admission still applies.
	AdminUser = "admin"
	// DeveloperUser is a user who works in a cluster without administering it: the
	// built-in role edit in every namespace, and read access to shared objects.
	DeveloperUser = "developer"
	// DeveloperGroup is the group with these permissions.
	DeveloperGroup = "detent:developers"
	// BreakGlassUser may override the operator in an emergency.
	BreakGlassUser = "break-glass"
	// BreakGlassGroup is the group by which admission policies recognize that user.
	// It is bound to cluster-admin.
	BreakGlassGroup = "detent:break-glass"

	// mastersGroup bypasses the authorizer.
	mastersGroup = "system:masters"
	// managerUser is the user name of kube-controller-manager.
	managerUser = "system:kube-controller-manager"
)

// managerKubeconfig is the name of its kubeconfig in the run directory.
const managerKubeconfig = "controller-manager.kubeconfig"

// Kubeconfigs are files in the run directory. Stop removes them.
type Kubeconfigs struct{ Admin, Developer, BreakGlass string }

// Config returns credentials of a user with the given name and groups. The user
// need not exist. Client-side rate limits are off, because they would distort
// tests; callers may set QPS and Burst.
func (c *ControlPlane) Config(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	cfg := c.anonymous()
	cfg.CertData, cfg.KeyData = pair.Cert, pair.Key
	return cfg, nil
}

// anonymous returns a configuration without credentials.
func (c *ControlPlane) anonymous() *rest.Config {
	return &rest.Config{
		Host:            c.URL(),
		QPS:             -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.PEM()},
	}
}

// ServiceAccountConfig returns credentials of an existing service account: a
// token from the TokenRequest API, as in a pod. The token expires after
// lifetime, but not before ten minutes, the minimum of the API.
func (c *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string, lifetime time.Duration) (*rest.Config, error) {
	core, err := coreclient.NewForConfig(c.admin)
	if err != nil {
		return nil, err
	}
	seconds := max(int64(lifetime/time.Second), 600)
	token, err := core.ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("requesting a token for service account %s/%s: %w", namespace, name, err)
	}
	cfg := c.anonymous()
	cfg.BearerToken = token.Status.Token
	return cfg, nil
}

// WriteKubeconfig writes credentials to a file that only the current user can
// read, with one context named detent.
func WriteKubeconfig(path string, cfg *rest.Config) error {
	const name = "detent"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: cfg.CertData,
		ClientKeyData:         cfg.KeyData,
		Token:                 cfg.BearerToken,
	}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", path, err)
	}
	return nil
}

// writeUser creates credentials of a user and writes the kubeconfig.
func (c *ControlPlane) writeUser(path, user string, groups ...string) error {
	cfg, err := c.Config(user, groups...)
	if err != nil {
		return err
	}
	return WriteKubeconfig(path, cfg)
}

// grant creates the roles and bindings of the developers and the break-glass group.
func (c *ControlPlane) grant(ctx context.Context) error {
	rbac, err := rbacclient.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	shared := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "detent:developers"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"namespaces", "nodes", "persistentvolumes"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}, Verbs: []string{"get", "list", "watch"}},
		},
	}
	if _, err := rbac.ClusterRoles().Create(ctx, shared, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the developers' role: %w", err)
	}
	for _, b := range []struct{ name, role, group string }{
		{"detent:developers", shared.Name, DeveloperGroup},
		{"detent:developers-edit", "edit", DeveloperGroup},
		{"detent:break-glass", "cluster-admin", BreakGlassGroup},
	} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: b.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: b.group}},
		}
		if _, err := rbac.ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("binding %s to role %s: %w", b.group, b.role, err)
		}
	}
	return nil
}

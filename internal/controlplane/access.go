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

// The people of a local control plane. Each has a kubeconfig; see Kubeconfigs.
const (
	// AdminUser may do anything; admission still applies.
	AdminUser = "admin"
	// DeveloperUser is somebody who works in a cluster without owning it: the
	// built-in role edit in every namespace, and a look at what is shared.
	DeveloperUser = "developer"
	// DeveloperGroup is the group that has those rights.
	DeveloperGroup = "detent:developers"
	// BreakGlassUser is the one who may override the operator in an emergency.
	BreakGlassUser = "break-glass"
	// BreakGlassGroup is the group by which policies know such a person. It is
	// bound to cluster-admin.
	BreakGlassGroup = "detent:break-glass"

	// mastersGroup passes the authorizer unasked.
	mastersGroup = "system:masters"
	// managerUser is the name under which kube-controller-manager is known.
	managerUser = "system:kube-controller-manager"
)

// managerKubeconfig is its file's name in the run directory.
const managerKubeconfig = "controller-manager.kubeconfig"

// Kubeconfigs are files in the run directory; Stop removes them.
type Kubeconfigs struct{ Admin, Developer, BreakGlass string }

// Config returns the credentials of a user with any name and groups, who need
// not exist before. Client-side rate limits are off, as they would hide what a
// test wants to see; set QPS and Burst to have them.
func (c *ControlPlane) Config(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	cfg := c.anonymous()
	cfg.CertData, cfg.KeyData = pair.Cert, pair.Key
	return cfg, nil
}

// anonymous is how the API server is reached by nobody in particular.
func (c *ControlPlane) anonymous() *rest.Config {
	return &rest.Config{
		Host:            c.URL(),
		QPS:             -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.PEM()},
	}
}

// ServiceAccountConfig returns credentials of an existing service account: a
// token from the TokenRequest API, as a pod would have it. It ends after
// lifetime, but not before ten minutes, the least that the API allows.
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

// WriteKubeconfig writes credentials to a file that only this user can read,
// with one context called detent.
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

// writeUser makes a user and writes the kubeconfig.
func (c *ControlPlane) writeUser(path, user string, groups ...string) error {
	cfg, err := c.Config(user, groups...)
	if err != nil {
		return err
	}
	return WriteKubeconfig(path, cfg)
}

// grant gives the developers and the break-glass group their rights.
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

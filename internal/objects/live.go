package objects

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster selects a cluster with kubectl's own flags and defaults.
type Cluster struct {
	// Kubeconfig, Context and Namespace override the environment and the kubeconfig. Optional.
	Kubeconfig, Context, Namespace string
}

// Get reads one object from the cluster.
func (c Cluster) Get(ctx context.Context, meant Reference) (*unstructured.Unstructured, error) {
	r, err := c.reach()
	if err != nil {
		return nil, err
	}
	return r.get(ctx, meant)
}

// reached is the connection to a cluster, with the default namespace.
type reached struct {
	config    *rest.Config
	namespace string
}

func (c Cluster) reach() (*reached, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.Context})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	r := &reached{config: config, namespace: c.Namespace}
	if r.namespace == "" {
		if r.namespace, _, err = loader.Namespace(); err != nil {
			return nil, fmt.Errorf("reading the kubeconfig: %w", err)
		}
	}
	return r, nil
}

func (r *reached) get(ctx context.Context, meant Reference) (*unstructured.Unstructured, error) {
	kinds, err := discovery.NewDiscoveryClientForConfig(r.config)
	if err != nil {
		return nil, fmt.Errorf("reaching the cluster: %w", err)
	}
	mapping, err := mappingOf(kinds, meant)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(r.config)
	if err != nil {
		return nil, fmt.Errorf("reaching the cluster: %w", err)
	}
	var from dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		from = client.Resource(mapping.Resource).Namespace(r.namespace)
	}
	object, err := from.Get(ctx, meant.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading %s in namespace %s: %w", meant, r.namespace, err)
	}
	return object, nil
}

// mappingOf resolves the type of a reference to a resource.
func mappingOf(kinds discovery.DiscoveryInterface, meant Reference) (*meta.RESTMapping, error) {
	cached := memory.NewMemCacheClient(kinds)
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	specific, general := schema.ParseResourceArg(meant.Type)
	resource := general.WithVersion("")
	if specific != nil {
		if found, err := mapper.KindFor(*specific); err == nil {
			return mapper.RESTMapping(found.GroupKind(), found.Version)
		}
	}
	kind, err := mapper.KindFor(resource)
	if err != nil {
		return nil, fmt.Errorf("finding type %q in the cluster: %w", meant.Type, err)
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

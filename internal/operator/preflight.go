package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/internal/definitions"
)

const (
	// leastKubernetes is the minimum version of Kubernetes.
	leastKubernetes = "1.31.0"
	// preflightTimeout is the timeout of each request.
	preflightTimeout = 10 * time.Second
)

// preflight returns a descriptive error at startup for problems that would otherwise show as watches that fail forever.
// It leaves out the kinds that are switched off, or whose rights are missing.
func preflight(ctx context.Context, o *Options) error {
	config := rest.CopyConfig(o.Config)
	config.Timeout = preflightTimeout
	if err := serverVersion(config); err != nil {
		return err
	}
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{apiextensionsv1.AddToScheme, coordinationv1.AddToScheme, authorizationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	if err := limitKinds(ctx, c, o); err != nil {
		return err
	}
	if err := demandDefinitions(ctx, c, *o); err != nil {
		return err
	}
	return otherOperator(ctx, c, *o)
}

func serverVersion(config *rest.Config) error {
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	info, err := d.ServerVersion()
	if err != nil {
		return fmt.Errorf("asking the API server %s for its version: %w: check the kubeconfig's server and whether it can be reached from here", config.Host, err)
	}
	have, err := version.ParseGeneric(info.GitVersion)
	if err != nil {
		return fmt.Errorf("reading the API server's version %q: %w", info.GitVersion, err)
	}
	if !have.AtLeast(version.MustParseGeneric(leastKubernetes)) {
		return fmt.Errorf("the API server %s runs Kubernetes %s: at least %s is needed", config.Host, info.GitVersion, leastKubernetes)
	}
	return nil
}

// install is the command that installs Detent's CRDs over those of another operator or version.
const install = "kubectl apply --server-side --force-conflicts -f crds/generated/"

// demandDefinitions returns an error unless Detent's CRDs are installed. The CRDs of another operator or version have the same
// names and a schema under which the API server drops fields that the manager writes, such as status.lifecycles.
func demandDefinitions(ctx context.Context, c client.Client, o Options) error {
	wanted, err := crds.Definitions()
	if err != nil {
		return err
	}
	var problems []error
	for _, want := range wanted {
		have := &apiextensionsv1.CustomResourceDefinition{}
		err := c.Get(ctx, client.ObjectKey{Name: want.Name}, have)
		switch {
		case apierrors.IsNotFound(err):
			problems = append(problems, fmt.Errorf("the CustomResourceDefinition %s is missing: install it with %s", want.Name, install))
		case apierrors.IsForbidden(err):
			o.Log.Info("the CustomResourceDefinitions are not checked: the right to get customresourcedefinitions is missing. "+
				"A status that they prune shows as Stalled, reason StatusPruned", "error", err.Error())
			return nil
		case err != nil:
			return fmt.Errorf("reading the CustomResourceDefinition %s: %w", want.Name, err)
		case !o.Adopt && rivalOf(o.Kinds, have) != "":
			rival := rivalOf(o.Kinds, have)
			problems = append(problems, fmt.Errorf("the CustomResourceDefinition %s is %s's: two operators must not serve one cluster. Stop %s, install the definitions of Detent (%s), then start with --adopt",
				want.Name, rival, rival, install))
		default:
			if missing := definitions.Missing(have, want, written(o.Kinds, want)); len(missing) > 0 {
				problems = append(problems, fmt.Errorf("the CustomResourceDefinition %s lacks %s: what the manager writes there would be dropped. Install it with %s",
					want.Name, definitions.MissingText(missing), install))
			}
		}
	}
	return errors.Join(problems...)
}

// rivalOf returns the name of the other operator that installed the definition; empty if there is none.
func rivalOf(kinds []Kind, definition *apiextensionsv1.CustomResourceDefinition) string {
	for i := range kinds {
		if rival := kinds[i].Rival; rival != nil && definition.Labels[rival.Label] == rival.LabelValue {
			return rival.Name
		}
	}
	return ""
}

// written returns the names of the top-level fields of a kind's schema that the manager writes.
func written(kinds []Kind, definition *apiextensionsv1.CustomResourceDefinition) []string {
	for i := range kinds {
		for _, p := range kinds[i].Parts {
			if p.Access.Written() && p.Resource.Group == definition.Spec.Group && p.Resource.Resource == definition.Spec.Names.Plural {
				return []string{"spec", "status"}
			}
		}
	}
	return []string{"status"}
}

// otherOperator returns an error if another operator of one of the kinds is running, or another manager with another lease. A manager without
// permission to list the leases of all namespaces checks the namespaces that it watches.
func otherOperator(ctx context.Context, c client.Client, o Options) error {
	var leases coordinationv1.LeaseList
	err := c.List(ctx, &leases)
	if apierrors.IsForbidden(err) {
		o.Log.Info("another operator's lease is looked for only in the watched namespaces: the right to list leases in all namespaces is missing", "error", err.Error())
		err = nil
		for _, ns := range o.Namespaces {
			var some coordinationv1.LeaseList
			if err := c.List(ctx, &some, client.InNamespace(ns)); err != nil && !apierrors.IsForbidden(err) {
				return fmt.Errorf("listing the leases of namespace %s: %w", ns, err)
			}
			leases.Items = append(leases.Items, some.Items...)
		}
	}
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	for i := range leases.Items {
		l := &leases.Items[i]
		if o.Adopt || !held(l) {
			continue
		}
		for _, k := range o.Kinds {
			if k.Rival != nil && k.Rival.Lease == l.Name {
				return fmt.Errorf("the operator of %s holds the lease %s/%s: two operators must not serve one cluster. Stop it, then start with --adopt", k.Rival.Name, l.Namespace, l.Name)
			}
		}
	}
	return otherManager(leases.Items, o, clock.RealClock{}.Now())
}

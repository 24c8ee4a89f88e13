//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/config"
)

// manager returns the Deployment of the manager.
func manager(ctx SpecContext) *appsv1.Deployment {
	GinkgoHelper()
	d := &appsv1.Deployment{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: config.Namespace, Name: config.Account}, d)).To(Succeed())
	return d
}

// changeManager changes the Deployment of the manager for the rest of the scenario.
func changeManager(ctx SpecContext, change func(*appsv1.DeploymentSpec)) {
	GinkgoHelper()
	d := manager(ctx)
	original := d.Spec
	change(&d.Spec)
	put := func(ctx SpecContext, spec appsv1.DeploymentSpec) {
		GinkgoHelper()
		d := manager(ctx)
		d.Spec = spec
		Expect(cluster.Client.Update(ctx, d)).To(Succeed())
		deployed(ctx, config.Namespace, config.Account)
	}
	DeferCleanup(put, original)
	put(ctx, *d.Spec.DeepCopy())
}

// managerWith adds arguments to the manager.
func managerWith(ctx SpecContext, args ...string) {
	GinkgoHelper()
	changeManager(ctx, func(spec *appsv1.DeploymentSpec) {
		spec.Template = *spec.Template.DeepCopy()
		container := &spec.Template.Spec.Containers[0]
		container.Args = append(container.Args, args...)
	})
	leader(ctx)
}

// Package ceph runs the Ceph kind on a real API server, with simulated daemons in simulated pods.
package ceph

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/definitions"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	"github.com/detent-dev/detent/kinds/ceph/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/kubelet"
)

var (
	plane  *controlplane.ControlPlane
	admin  client.Client
	scheme *k8sruntime.Scheme
)

func TestCeph(t *testing.T) {
	log.SetLogger(logr.Discard())
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(3 * time.Minute) // a busy machine is no failure
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	RunSpecs(t, "Ceph")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	scheme, err = resource.Scheme([]resource.Kind{manager.New(manager.Options{}).Kind})
	Expect(err).NotTo(HaveOccurred())
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	plane, err = controlplane.Start(ctx, controlplane.Options{Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	admin, err = client.New(plane.AdminConfig(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	all, err := crds.Definitions()
	Expect(err).NotTo(HaveOccurred())
	Expect(definitions.Install(ctx, admin, all)).To(Succeed())
	Expect(kubelet.CreateNodes(ctx, admin, time.Now(), "node-1", "node-2", "node-3")).To(Succeed())
}, NodeTimeout(15*time.Minute))

var _ = AfterSuite(func() {
	if plane != nil {
		Expect(plane.Stop()).To(Succeed())
	}
})

// operate runs an operator until the returned function is called.
func operate(ceph *simulated.Shared, namespace string) (stop func()) {
	GinkgoHelper()
	table, err := versions.Embedded()
	Expect(err).NotTo(HaveOccurred())
	kind := manager.New(manager.Options{Table: table, Connect: func(connection.Endpoint) (cephclient.Runner, func(), error) { return ceph, func() {}, nil }})
	options, err := resource.CacheOptions([]resource.Kind{kind.Kind}, []string{namespace}, nil)
	Expect(err).NotTo(HaveOccurred())
	mgr, err := ctrl.NewManager(plane.AdminConfig(), ctrl.Options{
		Scheme: scheme, Cache: options, NewClient: lifecycle.NewClient, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: new(5 * time.Second),
	})
	Expect(err).NotTo(HaveOccurred())
	closed, err := operator.AddControllers(mgr, []operator.Kind{kind}, operator.Wiring{Version: "test", Workers: 1, SkipNameValidation: true})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() {
		cancel()
		Eventually(ended).Should(Receive(Succeed()))
		closed()
	}
}

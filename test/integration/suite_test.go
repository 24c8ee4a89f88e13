// Package integration contains the law tests: each law of a machine, on each machine, in each of its states, against a
// real API server.
package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/definitions"
	"github.com/detent-dev/detent/test/lab"
)

// world of the suite: one control plane for each process of the suite, reused by every spec of the process; a namespace for each.
var (
	plane *controlplane.ControlPlane
	bench *lab.Lab
	admin client.Client
)

// lawsFile is where the table of laws is written. A suite of several processes prints only failures.
var lawsFile = flag.String("laws", "", "file to write the table of laws to; default: standard output")

// timeLimit of a spec.
const timeLimit = 5 * time.Minute

// subjects are the kinds whose machines are tested. To add a kind, write its Subject and add it here; every law then
// applies to it. The order is that of the time that their laws take, the longest first.
func subjects() []Subject {
	return []Subject{clusters{}, removals{}, gates{}, mirrors{}, cephs{}, savings{}, hello{}}
}

func TestLaws(t *testing.T) {
	log.SetLogger(logr.Discard())
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(4 * time.Minute) // a busy machine is no failure
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "Laws")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		Expect(add(scheme)).To(Succeed())
	}
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	config := plane.AdminConfig()
	for _, s := range subjects() {
		Expect(s.AddToScheme(scheme)).To(Succeed())
	}
	admin, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	for _, s := range subjects() {
		install(ctx, s)
	}
	web, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	var mapper meta.RESTMapper
	Eventually(func(g Gomega) { // a mapper keeps what discovery did not know yet
		mapper, err = apiutil.NewDynamicRESTMapper(config, web)
		g.Expect(err).NotTo(HaveOccurred())
		admin, err = client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
		g.Expect(err).NotTo(HaveOccurred())
		for _, s := range subjects() {
			g.Expect(admin.List(ctx, s.List())).To(Succeed())
			for _, child := range s.Children() {
				_, err := apiutil.IsObjectNamespaced(child, scheme, mapper)
				g.Expect(err).NotTo(HaveOccurred())
			}
		}
	}).Should(Succeed())
	bench = &lab.Lab{Config: config, Scheme: scheme, Mapper: mapper, Traffic: &lab.Traffic{}, Log: logr.Discard()}
	startWorld(ctx, config, scheme)
}, NodeTimeout(15*time.Minute))

var _ = AfterSuite(func() {
	if outside != nil {
		outside.stop()
	}
	if plane != nil {
		Expect(plane.Stop()).To(Succeed())
	}
})

var _ = ReportAfterSuite("the table of laws", func(report Report) {
	text, missing := tableOf(&report).text(subjects())
	if *lawsFile == "" {
		fmt.Println(text)
	} else {
		Expect(os.WriteFile(*lawsFile, []byte(text+"\n"), 0o600)).To(Succeed())
	}
	if len(missing) > 0 && report.SuiteSucceeded && report.SuiteConfig.FocusStrings == nil {
		Fail("states without a row, or rows without a law:\n  " + strings.Join(missing, "\n  "))
	}
})

func install(ctx context.Context, s Subject) {
	GinkgoHelper()
	needed, err := s.Definitions()
	Expect(err).NotTo(HaveOccurred())
	Expect(definitions.Install(ctx, admin, needed)).To(Succeed())
}

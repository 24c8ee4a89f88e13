//go:build e2e

package e2e

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/config"
	"github.com/detent-dev/detent/test/e2e/stage"
)

const (
	// root of the repository, from here.
	root = "../.."
	// pageEnv names the page of the documentation, from root, that a run writes; none by default.
	pageEnv = "E2E_PAGE"
)

// What every scenario plays on.
var (
	cluster *stage.Cluster
	report  stage.Report
)

func TestScenarios(t *testing.T) {
	log.SetLogger(logr.Discard())
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(3 * time.Minute)
	SetDefaultEventuallyPollingInterval(250 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "Scenarios on a real cluster")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	cluster, err = stage.Connect(root)
	Expect(err).NotTo(HaveOccurred())
	deployments := map[string]string{config.Account: config.Namespace, "hello": helloNamespace}
	var old []string // Deployments of an earlier run: their pods run the images of that run
	for name, namespace := range deployments {
		if _, err := cluster.Kubectl(ctx, "get", "deployment", "--namespace="+namespace, name); err == nil {
			old = append(old, name)
		}
	}
	Expect(cluster.Apply(ctx, "crds/generated", "examples/hello/crd")).To(Succeed())
	Eventually(func(ctx context.Context) error {
		return cluster.Apply(ctx, "config/manager", "config/rbac", "config/rbac-ceph", "examples/hello/deploy.yaml")
	}).WithContext(ctx).Should(Succeed())
	for _, name := range old {
		_, err := cluster.Kubectl(ctx, "rollout", "restart", "deployment", "--namespace="+deployments[name], name)
		Expect(err).NotTo(HaveOccurred())
	}
	for name, namespace := range deployments {
		deployed(ctx, namespace, name)
	}
})

var _ = AfterSuite(func(ctx SpecContext) {
	var text strings.Builder
	Expect(report.Write(filepath.Join(root, "dist", "e2e", "report.json"), &text)).To(Succeed())
	AddReportEntry("of this run, also in dist/e2e/report.json", "\n"+text.String())
	if page := os.Getenv(pageEnv); page != "" {
		writePage(ctx, page)
	}
})

// writePage writes the result of every scenario of this run to a page, which keeps those of others.
func writePage(ctx SpecContext, name string) {
	versions, err := cluster.Versions(ctx)
	Expect(err).NotTo(HaveOccurred())
	for i := range report.Results {
		report.Results[i].Revision = versions.Revision
	}
	file := filepath.Join(root, name)
	before, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		Expect(err).NotTo(HaveOccurred())
	}
	page, err := report.Page(versions, string(before))
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(file, []byte(page), 0o644)).To(Succeed())
}

// scenario begins one for the spec that calls it, and ends it with the spec.
func scenario(ctx SpecContext) *stage.Scenario {
	GinkgoHelper()
	s, err := cluster.Begin(ctx, CurrentSpecReport().FullText())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		failed := CurrentSpecReport().Failed()
		if failed {
			dir := filepath.Join(root, "dist", "e2e", slug(s.Name))
			if err := cluster.Keep(ctx, dir, s.Namespace, config.Namespace, helloNamespace); err != nil {
				GinkgoWriter.Printf("not everything could be kept: %v\n", err)
			}
			GinkgoWriter.Printf("what is known of %s is in %s\n", s.Namespace, dir)
		}
		result, err := s.End(ctx, failed)
		report.Results = append(report.Results, result)
		Expect(err).NotTo(HaveOccurred())
	})
	return s
}

// slug is a name for a directory.
func slug(name string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
}

//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/test/e2e/stage"
)

// A Ceph of one node stores and is healthy, from a manifest that is written by hand: what scenarios of its operator take for
// granted of the images.
var _ = DescribeTable("Images of Ceph", Label("images", "ceph"), func(ctx SpecContext, version string) {
	s := scenario(ctx)
	text, err := os.ReadFile(filepath.Join(root, "test", "e2e", "testdata", "ceph-by-hand.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.ApplyText(ctx, s.Namespace, []byte(strings.ReplaceAll(string(text), "VERSION", version)))).To(Succeed())
	Eventually(func(g Gomega, ctx context.Context) {
		pod := &corev1.Pod{}
		g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "ceph"}, pod)).To(Succeed())
		g.Expect(ready(pod)).To(BeTrue(), "monitor, manager and OSD are ready")
	}).WithContext(ctx).WithTimeout(6 * time.Minute).Should(Succeed()) // half a gigabyte is unpacked first

	Expect(inCeph(ctx, s, "ceph", "--version")).To(HavePrefix("ceph version " + version + " "))
	Eventually(askCeph).WithContext(ctx).WithArguments(s, "ceph", "versions").
		Should(MatchRegexp(`(?s)"overall": \{\s*"ceph version `+version+` [^"]*": 3\s*\}`), "all daemons are of the version")

	inCeph(ctx, s, "ceph", "osd", "pool", "create", "things", "8")
	inCeph(ctx, s, "ceph", "osd", "pool", "application", "enable", "things", "rados")
	inCeph(ctx, s, "sh", "-c", "printf 'kept by "+version+"' | rados --pool=things put greeting -")
	Expect(inCeph(ctx, s, "rados", "--pool=things", "get", "greeting", "-")).To(Equal("kept by " + version))

	By("asking a module of the manager, which have to have been loaded")
	Eventually(askCeph).WithContext(ctx).WithArguments(s, "ceph", "osd", "status").Should(ContainSubstring("exists,up"))
	// Before the manager knows of the groups, nothing is wrong with them either.
	Eventually(askCeph).WithContext(ctx).WithArguments(s, "ceph", "-s").Should(And(
		ContainSubstring("HEALTH_OK"), ContainSubstring("quorum a"), ContainSubstring("mgr: a(active"), ContainSubstring("1 osds: 1 up"),
		MatchRegexp(`pgs: +\d+ active\+clean\n`)))
	Expect(inCeph(ctx, s, "ceph", "health", "detail")).To(HavePrefix("HEALTH_OK"))
},
	Entry("14.2.21", Label("ceph-14.2.21"), SpecTimeout(9*time.Minute), "14.2.21"),
	Entry("16.2.15", Label("ceph-16.2.15"), SpecTimeout(9*time.Minute), "16.2.15"),
	Entry("18.2.7", Label("ceph-18.2.7"), SpecTimeout(9*time.Minute), "18.2.7"),
)

// askCeph runs a command in the pod of a Ceph that was made by hand, and returns what it prints.
func askCeph(ctx context.Context, s *stage.Scenario, command ...string) (string, error) {
	return cluster.Kubectl(ctx, append([]string{"--namespace=" + s.Namespace, "exec", "ceph", "--container=osd", "--"}, command...)...)
}

// inCeph runs a command there that has to go well.
func inCeph(ctx SpecContext, s *stage.Scenario, command ...string) string {
	GinkgoHelper()
	out, err := askCeph(ctx, s, command...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

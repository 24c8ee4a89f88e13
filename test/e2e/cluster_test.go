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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/test/e2e/stage"
)

// What every other scenario takes for granted of a cluster.
var _ = Describe("The cluster", Label("images"), func() {
	It("has names, addresses, readiness, volumes, logs and exec", SpecTimeout(5*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		text, err := os.ReadFile(filepath.Join(root, "test", "cluster", "node", "testdata", "exercise.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(cluster.ApplyText(ctx, s.Namespace, []byte(strings.ReplaceAll(string(text), "server.default.svc", "server."+s.Namespace+".svc")))).To(Succeed())
		deployed(ctx, s.Namespace, "server")
		// It is ready once it has reached a server by its name and written down what it said.
		readyPod(ctx, s, "writer")
		pods := strings.Fields(kubectl(ctx, s, "get", "pods", "--selector=app=server", "--output=custom-columns=:metadata.name", "--no-headers"))
		Expect(pods).To(HaveLen(2))
		Expect(pods).To(ContainElement(strings.TrimSpace(kubectl(ctx, s, "exec", "writer", "--", "/tools", "fetch", "http://server"))), "the host that answers by the Service's name")
		Expect(pods).To(ContainElement(strings.TrimSpace(kubectl(ctx, s, "exec", "writer", "--", "/tools", "fetch", "http://"+address(ctx, s, "server")))), "the host that answers at the Service's address")
		Expect(work(ctx, s, "logs", "serve", "--help")).To(ContainSubstring("Answer every request"), "what the log has of it")
		Expect(kubectl(ctx, s, "exec", "writer", "--", "/tools", "file", "write", "--count=50")).To(Equal("acknowledged 50\n"))
		Expect(kubectl(ctx, s, "exec", "writer", "--", "/tools", "file", "verify", "--count=50")).To(Equal("read 50, seen again 0\n"))
	})
})

// address of a Service.
func address(ctx SpecContext, s *stage.Scenario, name string) string {
	GinkgoHelper()
	service, err := cluster.Clientset.CoreV1().Services(s.Namespace).Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return service.Spec.ClusterIP
}

// readyPod waits for a pod.
func readyPod(ctx SpecContext, s *stage.Scenario, name string) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{}
	Eventually(func(g Gomega, ctx context.Context) {
		g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, pod)).To(Succeed())
		g.Expect(ready(pod)).To(BeTrue(), "pod %s is ready", name)
	}).WithContext(ctx).Should(Succeed())
	return pod
}

func kubectl(ctx SpecContext, s *stage.Scenario, args ...string) string {
	GinkgoHelper()
	out, err := cluster.Kubectl(ctx, append([]string{"--namespace=" + s.Namespace}, args...)...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

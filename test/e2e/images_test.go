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
)

// The images do by themselves, from manifests that are written by hand, what the scenarios take for granted.
var _ = DescribeTable("Images of Kafka", Label("images"), func(ctx SpecContext, version string) {
	s := scenario(ctx)
	text, err := os.ReadFile(filepath.Join(root, "test", "e2e", "testdata", "by-hand.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.ApplyText(ctx, s.Namespace, []byte(strings.ReplaceAll(string(text), "VERSION", version)))).To(Succeed())
	Eventually(func(g Gomega, ctx context.Context) {
		pod := &corev1.Pod{}
		g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "kafka"}, pod)).To(Succeed())
		g.Expect(ready(pod)).To(BeTrue(), "broker and worker are ready")
	}).WithContext(ctx).Should(Succeed())
	Expect(work(ctx, s, "produce", "produce", "--bootstrap=kafka:9092", "--count=10")).To(Equal("acknowledged 10"))
	Expect(work(ctx, s, "consume", "consume", "--bootstrap=kafka:9092", "--count=10")).To(Equal("read 10, seen again 0"))
	Expect(work(ctx, s, "plugins", "fetch", "http://kafka:8083/connector-plugins")).To(And(
		ContainSubstring(`"class":"org.apache.kafka.connect.mirror.MirrorSourceConnector","type":"source","version":"`+version+`"`),
		ContainSubstring(`"class":"org.apache.kafka.connect.file.FileStreamSinkConnector"`)))
},
	Entry("3.9.2", SpecTimeout(5*time.Minute), "3.9.2"),
	Entry("4.0.2", SpecTimeout(5*time.Minute), "4.0.2"),
	Entry("4.1.2", SpecTimeout(5*time.Minute), "4.1.2"),
	Entry("4.3.1", SpecTimeout(5*time.Minute), "4.3.1"),
)

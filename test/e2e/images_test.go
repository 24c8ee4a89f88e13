//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/test/e2e/stage"
)

// The images do by themselves, from manifests that are written by hand, what the scenarios take for granted.
var _ = DescribeTable("Images of Kafka", Label("images", "kafka"), func(ctx SpecContext, version string) {
	s := scenario(ctx)
	text, err := os.ReadFile(filepath.Join(root, "test", "e2e", "testdata", "by-hand.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.ApplyText(ctx, s.Namespace, []byte(strings.ReplaceAll(string(text), "VERSION", version)))).To(Succeed())
	pod := readyPod(ctx, s, "kafka")
	Expect(work(ctx, s, "produce", "produce", "--bootstrap=kafka:9092", "--count=10")).To(Equal("acknowledged 10"))
	Expect(work(ctx, s, "consume", "consume", "--bootstrap=kafka:9092", "--count=10")).To(Equal("read 10, seen again 0"))
	Expect(work(ctx, s, "plugins", "fetch", "http://kafka:8083/connector-plugins")).To(And(
		ContainSubstring(`"class":"org.apache.kafka.connect.mirror.MirrorSourceConnector","type":"source","version":"`+version+`"`),
		ContainSubstring(`"class":"org.apache.kafka.connect.file.FileStreamSinkConnector"`)))
	byDigest(ctx, s, pod.Status.ContainerStatuses[0].ImageID)
},
	Entry("3.9.2", Label("kafka-3.9.2"), SpecTimeout(5*time.Minute), "3.9.2"),
	Entry("4.0.2", Label("kafka-4.0.2"), SpecTimeout(5*time.Minute), "4.0.2"),
	Entry("4.1.2", Label("kafka-4.1.2"), SpecTimeout(5*time.Minute), "4.1.2"),
	Entry("4.3.1", Label("kafka-4.3.1"), SpecTimeout(5*time.Minute), "4.3.1"),
)

// byDigest starts a pod whose image is named by its digest, and is asked for anew under it.
func byDigest(ctx SpecContext, s *stage.Scenario, image string) {
	GinkgoHelper()
	Expect(image).To(MatchRegexp(`^(docker\.io/)?apache/kafka@sha256:[0-9a-f]{64}$`))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "by-digest"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "storage", Image: image, ImagePullPolicy: corev1.PullAlways, Command: []string{"/opt/kafka/bin/kafka-storage.sh", "random-uuid"},
			}},
		},
	}
	Expect(cluster.Client.Create(ctx, pod)).To(Succeed())
	Expect(result(ctx, pod)).To(MatchRegexp(`^[A-Za-z0-9_-]{22}$`), "what it printed")
}

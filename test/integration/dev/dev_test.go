package dev

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
)

const settled = "kubectl wait kafka --all --for=condition=VersionSettled --timeout=2m"

// pods is how many pods of each name the example clusters have had.
func pods(orders, tiny int) map[string]int {
	return map[string]int{
		"orders-brokers-0": orders, "orders-brokers-1": orders, "orders-brokers-2": orders,
		"orders-controllers-3": orders, "orders-controllers-4": orders, "orders-controllers-5": orders, "tiny-node-0": tiny,
	}
}

const mirror = `
apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata: {name: mirror}
spec:
  replicas: 2
  target:
    alias: b
    bootstrapServers: b:9092
    groupId: mirror
    configStorageTopic: mirror-config
    offsetStorageTopic: mirror-offset
    statusStorageTopic: mirror-status
  mirrors:
  - source: {alias: a, bootstrapServers: "a:9092"}
    topicsPattern: orders
    sourceConnector: {listOffsets: {toConfigMap: {name: listed}}}
`

var _ = Describe("a local world", func() {
	It("installs, upgrades through a killed operator, refuses a downgrade and leaves nothing behind", func(ctx SpecContext) {
		l := start("--speed", "4")
		Eventually(l.out).Should(gbytes.Say("leaves nothing behind"))

		By("installing both examples")
		l.run(ctx, settled)
		seen := l.watchPods(ctx)
		Eventually(seen.count).Should(Equal(pods(1, 1)))

		By("upgrading as the greeting says")
		l.run(ctx, l.line("version: 4.3.1"))
		Eventually(l.out).Should(gbytes.Say(`orders +version +RestartingNode +2/6`))

		By("killing the operator in the middle")
		before := l.manager()
		Expect(syscall.Kill(before, syscall.SIGKILL)).To(Succeed())
		Eventually(l.manager).ShouldNot(Equal(before))
		l.run(ctx, l.line("kubectl wait kafka/orders"))
		Eventually(l.out).Should(gbytes.Say(`orders +version +Settled +6/6`))
		Expect(seen.count()).To(Equal(pods(2, 1)), "every pod of orders restarts once")
		Expect(l.run(ctx, `kubectl get kafka orders -o jsonpath='{.status.kafkaVersion} {.status.kafkaMetadataVersion}'`)).To(Equal("4.3.1 4.3-IV0"))

		By("the Ceph cluster having settled meanwhile")
		l.run(ctx, "kubectl wait cluster/store --for=condition=Ready --timeout=2m")

		By("refusing a downgrade that would lose metadata")
		l.run(ctx, l.line("version: 4.2.0"))
		Eventually(l.out).Should(gbytes.Say(`orders +version +Refused`))
		Eventually(l.out).Should(gbytes.Say("metadata.version"))
		out, err := l.shell(ctx, "kubectl wait kafka/orders --for=condition=VersionSettled --timeout=2s")
		Expect(err).To(HaveOccurred(), out)
		Expect(seen.count()).To(Equal(pods(2, 1)), "a refused change restarts nothing")

		By("pressing Ctrl-C")
		family := l.family()
		Expect(len(family)).To(BeNumerically(">=", 5), "dev, manager, etcd, kube-apiserver and kube-controller-manager")
		Expect(l.cmd.Process.Signal(syscall.SIGINT)).To(Succeed())
		Eventually(l.ended).WithTimeout(30 * time.Second).Should(BeClosed())
		Expect(l.result).NotTo(HaveOccurred())
		Expect(alive(family)).To(BeEmpty())
		Expect(os.ReadDir(l.dir)).To(BeEmpty())
	}, NodeTimeout(8*time.Minute))

	It("leaves nothing behind when what it was piped into has ended first", func() {
		from, into, err := os.Pipe()
		Expect(err).NotTo(HaveOccurred())
		l := startInto(gbytes.BufferReader(from), into, nil, "--no-examples")
		Expect(into.Close()).To(Succeed()) // the process has it
		Eventually(l.out).Should(gbytes.Say("leaves nothing behind"))
		family := l.family()
		Expect(from.Close()).To(Succeed())
		Expect(l.cmd.Process.Signal(syscall.SIGINT)).To(Succeed())
		Eventually(l.ended).WithTimeout(30 * time.Second).Should(BeClosed())
		Expect(l.result).NotTo(HaveOccurred())
		Expect(alive(family)).To(BeEmpty())
		Expect(os.ReadDir(l.dir)).To(BeEmpty())
	})

	It("runs the connectors of a KafkaMirrorMaker2 on simulated Connect workers, and lists their offsets", func(ctx SpecContext) {
		l := start("--no-examples", "--speed", "4")
		Eventually(l.out).Should(gbytes.Say("leaves nothing behind"))
		l.run(ctx, "kubectl apply -f - <<'EOF'\n"+mirror+"EOF")
		l.run(ctx, "kubectl wait kafkamirrormaker2/mirror --for=condition=Ready --timeout=2m")
		l.run(ctx, "kubectl annotate kafkamirrormaker2 mirror strimzi.io/connector-offsets=list 'strimzi.io/mirrormaker-connector=a->b.MirrorSourceConnector'")
		Eventually(func() string {
			out, _ := l.shell(ctx, "kubectl get configmap listed -o yaml")
			return out
		}).Should(ContainSubstring("a--b.MirrorSourceConnector.json"))
		Eventually(func() string {
			return l.run(ctx, "kubectl get kafkamirrormaker2 mirror -o jsonpath='{.metadata.annotations}'")
		}).ShouldNot(ContainSubstring("strimzi.io/connector-offsets"))
		l.interrupt()
	}, NodeTimeout(5*time.Minute))

	It("keeps a plain user from what is the operator's", func(ctx SpecContext) {
		l := start("--no-examples", "--keep", filepath.Join(GinkgoT().TempDir(), "logs"))
		Eventually(l.out).Should(gbytes.Say("leaves nothing behind"))
		for question, want := range map[string]string{
			"patch kafkas.kafka.strimzi.io":                         "yes",
			"create kafkanodepools.kafka.strimzi.io":                "yes",
			"get strimzipodsets.core.strimzi.io":                    "yes",
			"patch strimzipodsets.core.strimzi.io":                  "no",
			"patch kafkas.kafka.strimzi.io --subresource=status":    "no",
			"delete customresourcedefinitions.apiextensions.k8s.io": "no",
		} {
			Eventually(func() string { // the built-in roles are filled by a controller
				out, _ := l.shell(ctx, "kubectl auth can-i "+question+" 2>/dev/null")
				return strings.TrimSpace(out)
			}).WithTimeout(20*time.Second).Should(Equal(want), question)
		}
		logs := l.cmd.Args[len(l.cmd.Args)-1]
		Expect(l.cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
		Eventually(l.ended).WithTimeout(30 * time.Second).Should(BeClosed())
		Expect(filepath.Join(logs, "manager.log")).To(BeARegularFile())
		Expect(os.ReadDir(l.dir)).To(BeEmpty())
	}, NodeTimeout(3*time.Minute))
})

var _ = DescribeTable("what cannot be started says why", func(ctx SpecContext, arguments func() []string, want string) {
	l := start(arguments()...)
	Eventually(l.ended).WithTimeout(time.Minute).Should(BeClosed())
	Expect(l.cmd.ProcessState.ExitCode()).To(Equal(1), l.text())
	Expect(l.text()).To(ContainSubstring(want))
	Expect(os.ReadDir(l.dir)).To(BeEmpty())
},
	Entry("a port that is taken", func() []string {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(taken.Close)
		_, port, err := net.SplitHostPort(taken.Addr().String())
		Expect(err).NotTo(HaveOccurred())
		return []string{"--port", port}
	}, "is taken by another program: end it or choose another port", NodeTimeout(2*time.Minute)),
	Entry("a table of versions that cannot be read", func() []string {
		file := filepath.Join(GinkgoT().TempDir(), "versions.yaml")
		Expect(os.WriteFile(file, []byte("- version: four\n"), 0o600)).To(Succeed())
		return []string{"--kafka-versions", file}
	}, "versions.yaml", NodeTimeout(time.Minute)),
	Entry("time that stands still", func() []string { return []string{"--speed", "-1"} }, fmt.Sprintf("a speed of %d", -1), NodeTimeout(time.Minute)),
)

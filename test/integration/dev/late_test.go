package dev

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
)

// firstRun is a machine on which not every program of the control plane lies ready.
type firstRun struct {
	// env makes detent dev see that machine.
	env []string
	// tools is the directory of the programs on PATH, and cache that of what is built.
	tools, cache string
	// gate is a file that lets builds end.
	gate string
}

// newFirstRun makes the named programs ready-made. The go command of that machine takes as long as the gate is closed, and
// then builds what was asked for.
func newFirstRun(ready ...string) *firstRun {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	f := &firstRun{tools: filepath.Join(dir, "tools"), cache: filepath.Join(dir, "cache"), gate: filepath.Join(dir, "gate")}
	assets := filepath.Join(dir, "assets")
	Expect(os.Mkdir(assets, 0o700)).To(Succeed())
	Expect(os.Mkdir(f.tools, 0o700)).To(Succeed())
	for _, path := range ready {
		Expect(os.Symlink(path, filepath.Join(assets, filepath.Base(path)))).To(Succeed())
	}
	for _, tool := range []string{"cp", "sleep"} {
		Expect(os.Symlink(filepath.Join("/bin", tool), filepath.Join(f.tools, tool))).To(Succeed())
	}
	script := strings.Join([]string{
		"#!/bin/sh",
		"trap 'exit 2' INT",
		`while [ "$1" != -o ]; do shift; done`,
		"out=$2",
		"while [ ! -e '" + f.gate + "' ]; do sleep 0.05; done",
		"shift 2",
		`for package in "$@"; do cp '` + filepath.Dir(programs.ControllerManager) + "'/${package##*/} $out; done",
		"",
	}, "\n")
	Expect(os.WriteFile(filepath.Join(f.tools, "go"), []byte(script), 0o700)).To(Succeed())
	f.env = []string{"KUBEBUILDER_ASSETS=" + assets, "XDG_CACHE_HOME=" + f.cache, "PATH=" + f.tools}
	return f
}

func (f *firstRun) finishBuilds() {
	GinkgoHelper()
	Expect(os.WriteFile(f.gate, nil, 0o600)).To(Succeed())
}

var _ = Describe("a first run", func() {
	It("settles both clusters from what setup-envtest downloads, and upgrades when the controller manager is built", func(ctx SpecContext) {
		f := newFirstRun(programs.Etcd, programs.APIServer, programs.Kubectl)
		l := startWith(f.env, "--speed", "4")
		Eventually(l.out).Should(gbytes.Say("kube-controller-manager is still being built"))
		Eventually(l.out).Should(gbytes.Say("leaves nothing behind"))
		Expect(l.text()).NotTo(ContainSubstring("There is no kubectl on PATH"))
		l.run(ctx, settled)
		seen := l.watchPods(ctx)
		Eventually(seen.count).Should(Equal(pods(1, 1)))

		By("asking for an upgrade, which waits for its first eviction")
		l.run(ctx, l.line("version: 4.3.1"))
		Eventually(l.out).Should(gbytes.Say(`orders +version +RestartingNode`))
		out, err := l.shell(ctx, "kubectl wait kafka/orders --for=condition=VersionSettled --timeout=5s")
		Expect(err).To(HaveOccurred(), out)
		Expect(seen.count()).To(Equal(pods(1, 1)), "no pod is restarted before the disruption controller runs")

		By("starting the controller manager once it is built")
		f.finishBuilds()
		Eventually(l.out).Should(gbytes.Say("kube-controller-manager runs"))
		l.run(ctx, l.line("kubectl wait kafka/orders"))
		Expect(seen.count()).To(Equal(pods(2, 1)), "every pod of orders restarts once")
		l.interrupt()
	}, NodeTimeout(6*time.Minute))

	It("builds kubectl where there is none", func(ctx SpecContext) {
		f := newFirstRun(programs.Etcd, programs.APIServer)
		f.finishBuilds()
		l := startWith(f.env, "--no-examples")
		Eventually(l.out).Should(gbytes.Say("There is no kubectl on PATH"))
		Eventually(l.out).Should(gbytes.Say("kubectl is ready"))
		l.run(ctx, "kubectl get kafka")
		l.interrupt()
	}, NodeTimeout(3*time.Minute))

	It("takes the kubectl that is on PATH", func(ctx SpecContext) {
		f := newFirstRun(programs.Etcd, programs.APIServer)
		Expect(os.Symlink(programs.Kubectl, filepath.Join(f.tools, "kubectl"))).To(Succeed())
		l := startWith(f.env, "--no-examples")
		Eventually(l.out).Should(gbytes.Say("leaves nothing behind"))
		Expect(l.text()).NotTo(ContainSubstring("There is no kubectl on PATH"))
		l.run(ctx, "kubectl get kafka")

		By("pressing Ctrl-C while the controller manager is being built")
		l.interrupt()
		left, err := filepath.Glob(filepath.Join(f.cache, "detent", "control-plane", "*", "*"))
		Expect(err).NotTo(HaveOccurred())
		Expect(left).To(BeEmpty(), "no build is left half done")
	}, NodeTimeout(3*time.Minute))
})

// interrupt presses Ctrl-C and expects that nothing is left behind.
func (l *local) interrupt() {
	GinkgoHelper()
	family := l.family()
	Expect(l.cmd.Process.Signal(syscall.SIGINT)).To(Succeed())
	Eventually(l.ended).WithTimeout(30 * time.Second).Should(BeClosed())
	Expect(l.result).NotTo(HaveOccurred())
	Expect(alive(family)).To(BeEmpty())
	Expect(os.ReadDir(l.dir)).To(BeEmpty())
}

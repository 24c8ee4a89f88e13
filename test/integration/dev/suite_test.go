// Package dev tests detent dev as a user runs it: the built binary, the lines it prints run in a shell, kill -9 and Ctrl-C.
package dev

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/controlplane"
)

var (
	// binary is the detent under test.
	binary string
	// programs of the control plane.
	programs controlplane.Paths
)

func TestDev(t *testing.T) {
	log.SetLogger(logr.Discard())
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	RunSpecs(t, "Dev")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	programs, err = controlplane.Binaries(ctx, controlplane.BinaryOptions{Log: GinkgoWriter}) // not on the clock of a spec
	Expect(err).NotTo(HaveOccurred())
	binary = filepath.Join(GinkgoT().TempDir(), "detent")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "../../../cmd/detent")
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}, NodeTimeout(15*time.Minute))

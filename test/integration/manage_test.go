package integration

import (
	"context"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/internal/operator"
)

// manage runs a manager until the spec ends. The spec fails if the manager ends earlier.
func manage(o operator.Options) {
	GinkgoHelper()
	o.MetricsAddress, o.SkipNameValidation, o.Log = "0", true, logr.Discard()
	if o.HealthAddress == "" {
		o.HealthAddress = "0"
	}
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(ended)
		Expect(operator.Run(running, o)).To(Succeed())
		Expect(running.Err()).To(HaveOccurred(), "the manager ended before the spec")
	}()
	DeferCleanup(func() {
		cancel()
		<-ended
	})
}

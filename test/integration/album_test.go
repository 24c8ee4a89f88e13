package integration

import (
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// album is every version of every object of a scene since it was started, in order, by
// name.
type album struct {
	mu       sync.Mutex
	versions map[string][]lifecycle.Object
}

// watched starts an album.
func watched(sc *scene) *album {
	GinkgoHelper()
	watching, err := client.NewWithWatch(plane.AdminConfig(), client.Options{Scheme: bench.Scheme, Mapper: bench.Mapper})
	Expect(err).NotTo(HaveOccurred())
	watcher, err := watching.Watch(sc, sc.subject.List(), client.InNamespace(sc.namespace))
	Expect(err).NotTo(HaveOccurred())
	a := &album{versions: map[string][]lifecycle.Object{}}
	go func() {
		for e := range watcher.ResultChan() {
			if o, ok := e.Object.(lifecycle.Object); ok {
				a.mu.Lock()
				a.versions[o.GetName()] = append(a.versions[o.GetName()], o)
				a.mu.Unlock()
			}
		}
	}()
	DeferCleanup(watcher.Stop)
	return a
}

// until returns every version of an object up to the given one, and waits for that version.
func (a *album) until(last lifecycle.Object) (out []lifecycle.Object) {
	GinkgoHelper()
	Eventually(func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		all := a.versions[last.GetName()]
		i := slices.IndexFunc(all, func(o lifecycle.Object) bool { return o.GetResourceVersion() == last.GetResourceVersion() })
		out = all[:i+1]
		return i
	}).Should(BeNumerically(">=", 0), "%s at version %s was never seen", last.GetName(), last.GetResourceVersion())
	return out
}

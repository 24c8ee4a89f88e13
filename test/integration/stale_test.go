package integration

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/lab"
)

// lagFor is how long a cache is stale: longer than the second after which the server is read directly.
const lagFor = 1600 * time.Millisecond

func repeatsNothing(s Subject) {
	for law, frozen := range map[string]func() []client.Object{
		lawStale:    func() []client.Object { return []client.Object{s.World().Make("", "")} },
		lawChildren: s.Children,
	} {
		if reservation(s, law) != "" {
			continue
		}
		It("repeats nothing: "+law, func(ctx SpecContext) {
			sc := newScene(ctx, s, visitsFor(s, law))
			gate := lab.NewGate()
			sc.start(gate)
			sc.make()
			sc.visit()
			gate.Freeze(frozen()...)
			for _, v := range sc.visits {
				sc.edit(v, sc.world.Release)
			}
			Consistently(func() int { return len(sc.all()) }, lagFor, lagFor/5).Should(Equal(len(sc.visits)))
			gate.Thaw()
			sc.rest()
			sc.settle()
			sc.same(law)
		})
	}
	if reservation(s, lawFailOver) == "" {
		It("repeats nothing: "+lawFailOver, func(ctx SpecContext) { failsOver(ctx, s) })
	}
}

// failsOver starts a successor whose caches begin at the time when every object was in its state, although all are at rest
// since.
func failsOver(ctx SpecContext, s Subject) {
	GinkgoHelper()
	sc := newScene(ctx, s, visitsFor(s, lawFailOver))
	sc.start(nil)
	sc.make()
	sc.visit()
	sc.kill()
	_, revision := sc.list()
	sc.start(nil)
	sc.release()
	sc.settle()
	sc.kill()
	wipedSince := func(status *lifecyclev1.Status) bool { return len(status.Lifecycles) == 0 }
	for name, o := range sc.all() {
		Expect(wipedSince(o.LifecycleStatus())).To(BeFalse(), name)
	}
	before := len(bench.Traffic.Of(sc.namespace, lab.Request.Writes))
	gate := lab.NewGate()
	gate.FreezeAt(revision, append(s.Children(), s.World().Make("", ""))...)
	sc.start(gate)
	Eventually(func() int { return len(bench.Traffic.Of(sc.namespace, isLiveGet(s))) }).Should(BeNumerically(">", 0))
	Consistently(func() []string { return doneSince(sc, before) }, lagFor, lagFor/5).Should(BeEmpty(), "written on a cache from before")
	gate.Thaw()
	sc.rest()
	sc.settle()
	sc.same(lawFailOver)
}

// doneSince are the writes that were executed since then, without events, which change nothing.
func doneSince(sc *scene, since int) []string {
	var out []string
	for _, r := range bench.Traffic.Of(sc.namespace, lab.Request.Writes)[since:] {
		if r.Done() && r.Resource != "events" {
			out = append(out, r.String())
		}
	}
	return out
}

// isLiveGet selects reads of a single object that bypassed the cache.
func isLiveGet(s Subject) func(lab.Request) bool {
	return func(r lab.Request) bool {
		return r.Method == http.MethodGet && r.Name != "" && strings.HasPrefix(r.Resource, strings.TrimSuffix(fmt.Sprintf("%ss", kindName(s)), "es"))
	}
}

func kindName(s Subject) string {
	object := s.World().Make("", "")
	name := fmt.Sprintf("%T", object)
	return strings.ToLower(name[strings.LastIndex(name, ".")+1:])
}

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
)

var _ = Describe("In the middle of an upgrade", Label("kafka"), func() {
	It("a revert takes back the nodes that had moved, and no other", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		up := b.change(ctx, "4.3.1", "")
		entered(ctx, up, versionChange, roll.AwaitingReady, 2)
		moved, _ := up.Order()
		back := b.change(ctx, "4.1.2", "")
		b.settled(ctx, "4.1.2")
		back.End()
		checked := back.Entered(versionChange, kafkaversion.Checking)
		Expect(checked).NotTo(BeEmpty(), "times that the target was changed")
		acted := checked[0].Sub(back.Begun())
		s.Note("acted on the revert after %.1f s", acted.Seconds())
		Expect(acted).To(BeNumerically("<=", 2*time.Second), "time until the revert is acted on")
		b.noteFirstStart(back, "revert")
		b.noteReady(back, "revert")
		want := map[string]int{}
		for _, pod := range moved {
			want[pod] = 1
		}
		Expect(back.Starts()).To(Equal(want), "nodes that go back: those that had moved, %v", moved)
		Expect(back.MostDown()).To(Equal(1), "nodes down at once")
		b.quiet(back)
		b.finish(ctx)
	})

	It("a lost node returns as it last ran", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		up := b.change(ctx, "4.3.1", "4.1")
		entered(ctx, up, versionChange, roll.AwaitingReady, 1)
		moved, _ := up.Order()
		var waiting []string
		for _, pod := range b.nodes(ctx) {
			if !slices.Contains(moved, pod.Name) {
				waiting = append(waiting, pod.Name)
			}
		}
		b.remove(ctx, waiting[0])
		b.settled(ctx, "4.3.1")
		up.End()
		Expect(up.Images(waiting[0])).To(Equal([]string{"apache/kafka:4.1.2", "apache/kafka:4.3.1"}), "what the lost node was started with")
		Expect(up.Images(waiting[1])).To(Equal([]string{"apache/kafka:4.3.1"}), "what the third node was started with")

		By("while the levels cannot be read")
		for _, pod := range b.nodes(ctx) {
			Expect(cluster.Chaos(ctx, "pause", b.Namespace+"/"+pod.Name)).To(Succeed())
		}
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })
		down := b.change(ctx, "4.1.2", "")
		b.says(ctx, time.Minute, "Kafka did not answer")
		b.remove(ctx, waiting[1])
		Eventually(func() []string { return down.Images(waiting[1]) }).WithContext(ctx).Should(Equal([]string{"apache/kafka:4.3.1"}))
		Expect(down.Starts()).To(Equal(map[string]int{waiting[1]: 1}), "nodes started while Kafka does not answer")
		for _, name := range []string{moved[0], waiting[0]} {
			Expect(cluster.Chaos(ctx, "resume", b.Namespace+"/"+name)).To(Succeed())
		}
		b.settled(ctx, "4.1.2")
		b.finish(ctx)
	})

	It("an image that cannot be pulled is named, stalls the roll, and is corrected by the spec", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		managerWith(ctx, "--deadline-scale=0.1")
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		p := s.Phase("an image that does not exist")
		b.edit(ctx, `{"spec":{"kafka":{"version":"4.3.1","images":{"4.3.1":"apache/kafka:absent"}}}}`)
		b.says(ctx, 2*time.Minute, "apache/kafka:absent")
		named := time.Since(p.Begun())
		s.Note("the image is named in the status after %.1f s", named.Seconds())
		Expect(named).To(BeNumerically("<=", 15*time.Second), "time until the status names the image")
		b.says(ctx, 5*time.Minute, "Stalled=True", "apache/kafka:absent")
		s.Note("Stalled after %.0f s, with deadlines a tenth of the usual ones", time.Since(p.Begun()).Seconds())
		p.End()
		Expect(p.Starts()).To(HaveLen(1), "nodes restarted")

		fixed := s.Phase("the image is corrected")
		b.edit(ctx, `{"spec":{"kafka":{"images":null}}}`)
		b.settled(ctx, "4.3.1")
		fixed.End()
		b.noteReady(fixed, "correction")
		Expect(fixed.Starts()).To(Equal(b.each(ctx, 1)), "starts of each node")
		Expect(fixed.MostDown()).To(Equal(1), "nodes down at once")
		b.finish(ctx)
	})

	It("an image that cannot be pulled for a while stalls the roll, which continues by itself", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		managerWith(ctx, "--deadline-scale=0.1")
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })
		p := s.Phase("the registry does not answer")
		Expect(cluster.Chaos(ctx, "stop", "registry")).To(Succeed())
		image := b.Namespace + ".example.org/apache/kafka:4.3.1" // the machine has pulled no image under this name before
		b.edit(ctx, fmt.Sprintf(`{"spec":{"kafka":{"version":"4.3.1","images":{"4.3.1":%q}}}}`, image))
		b.says(ctx, 5*time.Minute, "Stalled=True", "cannot pull image "+image)
		p.End()
		Expect(p.Starts()).To(HaveLen(1), "nodes restarted")
		Expect(p.MostDown()).To(Equal(1), "nodes down at once")

		answers := s.Phase("the registry answers")
		Expect(cluster.Chaos(ctx, "start", "registry")).To(Succeed())
		b.settled(ctx, "4.3.1")
		answers.End()
		b.noteReady(answers, "start of the registry")
		Expect(answers.Starts()).To(And(HaveLen(2), HaveEach(1)), "starts of the other nodes")
		Expect(answers.MostDown()).To(Equal(1), "nodes down at once")
		b.finish(ctx)
	})
})

// pass waits a time, which is the fault itself.
func pass(ctx SpecContext, d time.Duration) {
	GinkgoHelper()
	Eventually(ctx, time.After(d)).WithTimeout(d + time.Minute).Should(Receive())
}

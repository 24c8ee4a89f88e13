//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// late are the records that the source gets while a worker is frozen. A task that continues finds them.
const late = 20

// continueAfterAlter freezes a worker of which Connect fences the tasks, and continues it once the offsets are altered. Its liveness probe
// is patient: the same process continues.
func continueAfterAlter(ctx SpecContext, m *mirror, leads bool) {
	GinkgoHelper()
	frozen := m.spread(ctx, leads)
	m.committed(ctx, 100)
	want := m.moved(ctx, half)
	process := m.freeze(ctx, frozen)
	m.unready(ctx, frozen)
	p := m.Phase("stop and alter while " + frozen + " is frozen")
	m.edit(ctx, requesting("alter", sourceConnector), source(stopped))
	m.reaches(ctx, connectoroffsets.Verifying) // to verify waits for every worker
	Eventually(func() []stage.Step { return p.Steps(offsetsOfSource) }).WithContext(ctx).Should(ContainElement(HaveField("Event", "confirmed")), "Connect has altered the offsets")
	m.produce(ctx, 100, late)
	Expect(m.process(ctx, frozen)).To(Equal(process), "the process that is frozen")
	p = m.Phase("verify after " + frozen + " has continued")
	continued := time.Now()
	Expect(cluster.Chaos(ctx, "undo")).To(Succeed())
	m.settled(ctx)
	p.End()
	pass(ctx, 2*m.flush) // it has had the time to commit
	Expect(m.process(ctx, frozen)).To(Equal(process), "the process that continued")
	Expect(m.record(ctx).Sends).To(Equal(1), "changes sent to Connect")
	Expect(m.listed(ctx, stopped)).To(Equal(want))
	records, different := m.records(ctx)
	Expect([]int{records, different}).To(Equal([]int{100, 100}), "records, and different ones, before the connector runs again")
	m.noteFenced(ctx, frozen, continued)

	p = m.Phase("resume")
	m.edit(ctx, source(running))
	m.copied(ctx, 200-want.copied()+late, 100+late)
	p.End()
}

// endBeforeAlter freezes a worker that Connect does not fence: the operator ends it before it alters the offsets.
func endBeforeAlter(ctx SpecContext, m *mirror, leads bool) {
	GinkgoHelper()
	frozen := m.spread(ctx, leads)
	pass(ctx, m.flush+10*time.Second)
	m.committed(ctx, 100)
	m.produce(ctx, 0, 50) // these are copied, and their offsets are not committed yet
	m.copied(ctx, 150, 100)
	want := m.moved(ctx, half)
	process := m.freeze(ctx, frozen)
	p := m.Phase("stop and alter while " + frozen + " is frozen")
	m.edit(ctx, requesting("alter", sourceConnector), source(stopped))
	m.reaches(ctx, connectoroffsets.RestartingWorker)
	m.settled(ctx)
	p.End()
	Expect(m.process(ctx, frozen)).NotTo(Equal(process), "the process that was frozen is ended")
	restarted, applied := p.Entered(offsetsOfSource, connectoroffsets.RestartingWorker), p.Entered(offsetsOfSource, connectoroffsets.Applying)
	Expect(restarted).To(HaveLen(1), "times that a worker was restarted")
	Expect(applied).To(HaveLen(1), "times that the change was applied")
	Expect(applied[0]).To(BeTemporally(">", restarted[0]))
	Expect(cluster.Chaos(ctx, "undo")).To(Succeed())
	pass(ctx, 2*m.flush)
	Expect(m.listed(ctx, stopped)).To(Equal(want))
	before, _ := m.records(ctx) // the tasks of the frozen worker may have copied again on the other one
	m.edit(ctx, source(running))
	m.copied(ctx, before+150-want.copied(), 100)
}

// spread makes each worker run one task of the source connector, which is the only one. It returns the pod of the worker that leads, or of
// the other one. Connect assigns the tasks of a connector that is resumed to all its workers; those that were assigned before the second
// worker had joined may stay together.
func (m *mirror) spread(ctx SpecContext, leads bool) string {
	GinkgoHelper()
	m.edit(ctx, onlySource())
	m.settled(ctx)
	apart := ConsistOf(mirrorName+"-mirrormaker2-0", mirrorName+"-mirrormaker2-1")
	Eventually(func() []string {
		workers := m.workersOfTasks(ctx)
		if they, err := apart.Match(workers); err == nil && they {
			return workers
		}
		m.edit(ctx, source(stopped))
		m.settled(ctx)
		m.edit(ctx, source(running))
		m.settled(ctx)
		return m.workersOfTasks(ctx)
	}).WithContext(ctx).WithTimeout(patience).Should(apart, "workers of the tasks")
	return m.worker(ctx, leads)
}

// workersOfTasks returns the pod of the worker of each task of the source connector, once both run.
func (m *mirror) workersOfTasks(ctx SpecContext) []string {
	GinkgoHelper()
	var of []string
	Eventually(func(g Gomega, ctx context.Context) {
		found, err := m.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Status.Connectors).To(HaveLen(1))
		var status connect.Status
		g.Expect(json.Unmarshal(found.Status.Connectors[0].Raw, &status)).To(Succeed())
		of = nil
		for _, task := range status.Tasks {
			g.Expect(task.State).To(Equal(connect.Running))
			name, _, _ := strings.Cut(task.Worker, ".")
			of = append(of, name)
		}
		g.Expect(of).To(HaveLen(2))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), m.said(ctx))
	return of
}

// freeze a worker with SIGSTOP until the faults are undone. It returns the process.
func (m *mirror) freeze(ctx SpecContext, name string) string {
	GinkgoHelper()
	process := m.process(ctx, name)
	Expect(cluster.Chaos(ctx, "pause", m.Namespace+"/"+name)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })
	return process
}

// unready waits until the Service does not route to a worker. A request that a frozen worker has received is carried out when that
// continues: a change would be sent before it, and have its effect after it.
func (m *mirror) unready(ctx SpecContext, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		pod := m.pod(name)
		g.Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
		g.Expect(pod.Status.Conditions).To(ContainElement(And(HaveField("Type", corev1.PodReady), HaveField("Status", corev1.ConditionFalse))))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
}

// fenced recognizes a line in which a worker reports that its producer was fenced.
var fenced = regexp.MustCompile(`(?i)fenced|InvalidProducerEpoch`)

// noteFenced notes what a worker has logged since a time about producers that Connect fenced.
func (m *mirror) noteFenced(ctx SpecContext, name string, since time.Time) {
	GinkgoHelper()
	text, err := cluster.Clientset.CoreV1().Pods(m.Namespace).GetLogs(name, &corev1.PodLogOptions{SinceTime: new(metav1.NewTime(since))}).DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(text)) {
		if fenced.MatchString(line) {
			m.Note("the process continued, and Connect had fenced it: %s", strings.TrimSpace(line))
			return
		}
	}
	m.Note("the process continued, and committed nothing")
}

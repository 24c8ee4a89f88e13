//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// often is how often a state is read that does not last.
const often = 20 * time.Millisecond

// offsetsOfSource is the lifecycle of the offsets of the source connector.
var offsetsOfSource = machines.EntryName(connectoroffsets.Name, sourceConnector)

// state of the lifecycle of the offsets of the source connector.
func (m *mirror) state(ctx context.Context) (string, error) {
	found, err := m.get(ctx)
	for i := range found.Status.Lifecycles {
		if l := &found.Status.Lifecycles[i]; l.Name == offsetsOfSource {
			return l.State, err
		}
	}
	return "", err
}

// reaches waits until the lifecycle of the offsets of the source connector is in a state.
func (m *mirror) reaches(ctx SpecContext, state string) {
	GinkgoHelper()
	Eventually(m.state).WithContext(ctx).WithTimeout(patience).WithPolling(often).Should(Equal(state), m.said(ctx))
}

// entered are the states that the lifecycle of the offsets of the source connector has entered in a phase. Some last for milliseconds.
func (m *mirror) entered(ctx context.Context, p *stage.Phase) ([]string, error) {
	var states []string
	for _, step := range p.Steps(offsetsOfSource) {
		states = append(states, step.To)
	}
	now, err := m.state(ctx)
	if now != "" {
		states = append(states, now)
	}
	return states, err
}

// inEveryState disturbs each state that the lifecycle of the offsets of the source connector enters in a phase, as soon as it is seen,
// until its request is done. It returns the states.
func (m *mirror) inEveryState(ctx SpecContext, p *stage.Phase, operation connectoroffsets.Operation, disturb func()) []string {
	var disturbed []string
	Eventually(func(g Gomega, ctx SpecContext) {
		r := m.record(ctx)
		states, err := m.entered(ctx, p)
		g.Expect(err).NotTo(HaveOccurred())
		for _, state := range states {
			if !slices.Contains(disturbed, state) {
				disturbed = append(disturbed, state)
				By("in state " + state)
				disturb()
			}
		}
		g.Expect([]any{r.Operation, r.Phase}).To(Equal([]any{operation, connectoroffsets.Done}))
	}).WithContext(ctx).WithTimeout(2*patience).WithPolling(often).Should(Succeed(), m.said(ctx))
	return disturbed
}

// once edits, and waits until the change of the offsets of the source connector that the edit requests is carried out. If the scenario
// kills the manager, it is killed in every state, and Connect must have written the value for each of the two partitions once.
func (m *mirror) once(ctx SpecContext, phase string, operation connectoroffsets.Operation, value string, changes ...change) {
	GinkgoHelper()
	if !m.killing {
		m.carriedOut(ctx, phase, changes...)
		return
	}
	before := m.written(ctx, value)
	p := m.Phase(phase)
	m.edit(ctx, changes...)
	killed := m.inEveryState(ctx, p, operation, func() { replaceManager(ctx) })
	m.settled(ctx)
	p.End()
	for _, state := range []string{
		connectoroffsets.Accepting, connectoroffsets.AwaitingStopped, connectoroffsets.SavingBefore, connectoroffsets.Applying, connectoroffsets.Verifying,
	} {
		Expect(killed).To(ContainElement(state), "states in which the manager was killed")
	}
	r := m.record(ctx)
	m.Note("%s: the manager was killed %d times; changes sent to Connect: %d", operation, len(killed), r.Sends)
	Expect(r.Sends).To(BeElementOf(1, 2), "a second one follows only if the first was lost with the manager")
	Expect(m.written(ctx, value)-before).To(Equal(2), "offsets that Connect wrote for the change, one of each partition")
}

// written counts the records with a value among the offsets that Connect has stored of the source connector. An empty value is that of a
// partition whose offset was removed.
func (m *mirror) written(ctx SpecContext, value string) (records int) {
	GinkgoHelper()
	text := m.run(ctx, "tally", "--bootstrap=west-kafka-bootstrap:9092", "--topic=mirrormaker2-cluster-offsets", "--timeout=2m", "--key="+sourceConnector, "--value="+value)
	_, err := fmt.Sscanf(text, "records %d", &records)
	Expect(err).NotTo(HaveOccurred(), text)
	return records
}

// value of the offset of every partition, as Connect stores it.
func (d document) value() string {
	GinkgoHelper()
	Expect(d.Offsets).To(HaveLen(2))
	Expect(d.Offsets[1].Offset).To(Equal(d.Offsets[0].Offset), "each partition has as many records")
	text, err := json.Marshal(d.Offsets[0].Offset)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// replaceManager kills the manager that leads with SIGKILL. It is another pod afterwards: a container that is killed again and again is
// started after ever longer pauses.
func replaceManager(ctx SpecContext) {
	GinkgoHelper()
	pod := leader(ctx)
	Expect(cluster.Kill(ctx, pod)).To(Succeed())
	Expect(client.IgnoreNotFound(cluster.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)))).To(Succeed())
}

// repeated applies a request that is done until it is recognized as a repetition. One that is applied while its annotations are being
// removed is removed with them.
func (m *mirror) repeated(ctx SpecContext, apply func()) {
	GinkgoHelper()
	Eventually(func(ctx SpecContext) (string, error) {
		apply()
		return m.state(ctx)
	}).WithContext(ctx).WithPolling(time.Second).Should(Equal(connectoroffsets.Repeated), m.said(ctx))
}

// wipe deletes the status.
func (m *mirror) wipe(ctx SpecContext) {
	GinkgoHelper()
	k := &kafkav1beta2.KafkaMirrorMaker2{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: mirrorName}}
	Expect(cluster.Client.Status().Patch(ctx, k, client.RawPatch(types.MergePatchType, []byte(`{"status":null}`)))).To(Succeed())
	m.wiped++
}

// process is the id of the container of a pod.
func (m *mirror) process(ctx SpecContext, name string) string {
	GinkgoHelper()
	pod := m.pod(name)
	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
	return pod.Status.ContainerStatuses[0].ContainerID
}

// pod with a name.
func (m *mirror) pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: name}}
}

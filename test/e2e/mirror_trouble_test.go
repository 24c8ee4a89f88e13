//go:build e2e

package e2e

import (
	"context"
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
)

// often is how often a state is read that does not last.
const often = 20 * time.Millisecond

// state of the lifecycle of the offsets of the source connector.
func (m *mirror) state(ctx context.Context) (string, error) {
	found, err := m.get(ctx)
	for i := range found.Status.Lifecycles {
		if l := &found.Status.Lifecycles[i]; l.Name == machines.EntryName(connectoroffsets.Name, sourceConnector) {
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

// inEveryState disturbs each state that the lifecycle of the offsets of the source connector enters, until its request is done.
func (m *mirror) inEveryState(ctx SpecContext, disturb func()) {
	GinkgoHelper()
	disturbed := map[string]bool{"": true}
	Eventually(func(g Gomega, ctx SpecContext) {
		state, err := m.state(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		if !disturbed[state] {
			disturbed[state] = true
			By("in state " + state)
			disturb()
		}
		r := m.record(ctx)
		g.Expect([]any{r.Operation, r.Phase}).To(Equal([]any{connectoroffsets.Alter, connectoroffsets.Done}))
	}).WithContext(ctx).WithTimeout(patience).WithPolling(often).Should(Succeed(), m.said(ctx))
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

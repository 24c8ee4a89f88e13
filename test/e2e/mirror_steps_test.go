//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/test/e2e/stage"
)

const (
	mirrorName = "mirror"
	// sourceConnector copies the records.
	sourceConnector = "east->west.MirrorSourceConnector"
	// mirroredTopic in the target cluster.
	mirroredTopic = "east.numbers"

	annotationOffsets   = "strimzi.io/connector-offsets"
	annotationConnector = "strimzi.io/mirrormaker-connector"
)

// mirror is the KafkaMirrorMaker2 of a scenario, with its two clusters.
type mirror struct {
	*stage.Scenario
	jobs int
	// killing is true if the manager is killed after each edit.
	killing bool
}

// installMirror waits until the first records are copied.
func installMirror(ctx SpecContext, s *stage.Scenario, version string, exactlyOnce bool, records int) *mirror {
	GinkgoHelper()
	p := s.Phase("install " + version)
	m := &mirror{Scenario: s}
	text, err := os.ReadFile(filepath.Join(root, "test/e2e/testdata/mirror.yaml"))
	Expect(err).NotTo(HaveOccurred())
	support := map[bool]string{true: "enabled", false: "disabled"}[exactlyOnce]
	manifest := strings.NewReplacer("${VERSION}", version, "${EXACTLY_ONCE}", support).Replace(string(text))
	Expect(cluster.ApplyText(ctx, s.Namespace, []byte(manifest))).To(Succeed())
	for _, name := range []string{"east", "west"} {
		Eventually(func(g Gomega, ctx context.Context) {
			k := &kafkav1beta2.Kafka{}
			g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, k)).To(Succeed())
			holds(g, k, k.Status.Conditions, "Ready")
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}
	m.produce(ctx, records)
	m.settled(ctx)
	m.copied(ctx, records, records)
	p.End()
	return m
}

// run a tool of its own pod.
func (m *mirror) run(ctx SpecContext, args ...string) string {
	GinkgoHelper()
	m.jobs++
	return work(ctx, m.Scenario, fmt.Sprintf("%s-%d", args[0], m.jobs), args...)
}

// produce records with the numbers from 0 into the source.
func (m *mirror) produce(ctx SpecContext, records int) {
	GinkgoHelper()
	Expect(m.run(ctx, "produce", "--bootstrap=east-kafka-bootstrap:9092", fmt.Sprintf("--count=%d", records))).To(Equal(fmt.Sprintf("acknowledged %d", records)))
}

// copied waits until the target has a number of records, so many of them different, and no more after another while.
func (m *mirror) copied(ctx SpecContext, records, different int) {
	GinkgoHelper()
	want := fmt.Sprintf("records %d, different %d", records, different)
	tally := func(ctx SpecContext) string {
		return m.run(ctx, "tally", "--bootstrap=west-kafka-bootstrap:9092", "--topic="+mirroredTopic, "--timeout=2m")
	}
	Eventually(tally).WithContext(ctx).WithArguments(ctx).WithTimeout(patience).WithPolling(time.Second).Should(Equal(want))
	Expect(tally(ctx)).To(Equal(want), "records in the target, read again")
}

func (m *mirror) get(ctx context.Context) (*kafkav1beta2.KafkaMirrorMaker2, error) {
	found := &kafkav1beta2.KafkaMirrorMaker2{}
	return found, cluster.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: mirrorName}, found)
}

// said is what the status says, for a failure.
func (m *mirror) said(ctx context.Context) func() string {
	return func() string {
		found, err := m.get(ctx)
		if err != nil {
			return err.Error()
		}
		text, err := json.MarshalIndent(found.Status, "", "  ")
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
}

// settled waits until no request is open and everything is as declared.
func (m *mirror) settled(ctx SpecContext) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		found, err := m.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Annotations).NotTo(HaveKey(annotationOffsets))
		holds(g, found, found.Status.Conditions, "Ready")
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), m.said(ctx))
}

// edit changes annotations and the source connector's spec in one update, and kills the manager afterwards if the scenario does so.
func (m *mirror) edit(ctx SpecContext, annotations map[string]string, state string, more string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		found, err := m.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		for key, value := range annotations {
			metav1.SetMetaDataAnnotation(&found.ObjectMeta, key, value)
		}
		source := found.Spec.Mirrors[0].SourceConnector
		source.State = kafkav1beta2.ConnectorState(state)
		if more != "" {
			source.AlterOffsets.FromConfigMap.Name = more
		}
		g.Expect(cluster.Client.Update(ctx, found)).To(Succeed())
	}).WithContext(ctx).Should(Succeed())
	if m.killing {
		Expect(cluster.Kill(ctx, leader(ctx))).To(Succeed())
	}
}

// request an operation on the offsets of connectors.
func (m *mirror) request(ctx SpecContext, operation, connector, state, from string) {
	GinkgoHelper()
	m.edit(ctx, map[string]string{annotationOffsets: operation, annotationConnector: connector}, state, from)
}

// entry of a ConfigMap.
func (m *mirror) entry(ctx SpecContext, name, connector string) string {
	GinkgoHelper()
	found := &corev1.ConfigMap{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: name}, found)).To(Succeed())
	return found.Data[strings.ReplaceAll(connector, "->", "--")+".json"]
}

// listed requests a list and returns the document.
func (m *mirror) listed(ctx SpecContext, state string) string {
	GinkgoHelper()
	m.request(ctx, "list", sourceConnector, state, "")
	m.settled(ctx)
	return m.entry(ctx, "source-offsets", sourceConnector)
}

// offset sets the offset in the ConfigMap from which an alter takes it.
func (m *mirror) offset(ctx SpecContext, offset int) {
	GinkgoHelper()
	document := fmt.Sprintf(`{"offsets":[{"partition":{"cluster":"east","partition":0,"topic":"numbers"},"offset":{"offset":%d}}]}`, offset)
	patch, err := json.Marshal(map[string]any{"data": map[string]string{strings.ReplaceAll(sourceConnector, "->", "--") + ".json": document}})
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.Client.Patch(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: "source-offsets"}}, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

const (
	stopped = "stopped"
	running = "running"
)

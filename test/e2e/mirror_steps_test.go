//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/test/e2e/stage"
)

const (
	mirrorName = "mirror"
	// sourceConnector copies the records.
	sourceConnector = "east->west.MirrorSourceConnector"
	// mirroredTopic in the target cluster.
	mirroredTopic = "east.numbers"
	// partitions of the topic, one for each worker.
	partitions = "--partitions=2"
)

// mirror is the KafkaMirrorMaker2 of a scenario, with its two clusters.
type mirror struct {
	*stage.Scenario
	// jobs counts the tools that ran.
	jobs int
	// killing is true if the manager is killed after each edit.
	killing bool
}

// workers are how the workers of a mirror run.
type workers struct {
	version     string
	exactlyOnce bool
	// flush is how often offsets are committed, in milliseconds.
	flush int
}

// installMirror waits until the first records are copied.
func installMirror(ctx SpecContext, s *stage.Scenario, w workers, records int) *mirror {
	GinkgoHelper()
	p := s.Phase("install " + w.version)
	m := &mirror{Scenario: s}
	text, err := os.ReadFile(filepath.Join(root, "test/e2e/testdata/mirror.yaml"))
	Expect(err).NotTo(HaveOccurred())
	support := map[bool]string{true: "enabled", false: "disabled"}[w.exactlyOnce]
	manifest := strings.NewReplacer("${VERSION}", w.version, "${EXACTLY_ONCE}", support, "${FLUSH}", strconv.Itoa(w.flush)).Replace(string(text))
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
	Expect(m.run(ctx, "produce", "--bootstrap=east-kafka-bootstrap:9092", fmt.Sprintf("--count=%d", records), partitions)).To(Equal(fmt.Sprintf("acknowledged %d", records)))
}

// records in the target, and how many of them are different.
func (m *mirror) records(ctx SpecContext) (records, different int) {
	GinkgoHelper()
	text := m.run(ctx, "tally", "--bootstrap=west-kafka-bootstrap:9092", "--topic="+mirroredTopic, "--timeout=2m", partitions)
	_, err := fmt.Sscanf(text, "records %d, different %d", &records, &different)
	Expect(err).NotTo(HaveOccurred(), text)
	return records, different
}

// copied waits until the target has a number of records, so many of them different, and no more after another while.
func (m *mirror) copied(ctx SpecContext, records, different int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		got, gotDifferent := m.records(ctx)
		g.Expect([]int{got, gotDifferent}).To(Equal([]int{records, different}), "records, and different ones, in the target")
	}).WithContext(ctx).WithTimeout(patience).WithPolling(time.Second).Should(Succeed())
	got, _ := m.records(ctx)
	Expect(got).To(Equal(records), "records in the target, counted again")
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
		g.Expect(found.Annotations).NotTo(HaveKey(request.OperationAnnotation))
		holds(g, found, found.Status.Conditions, "Ready")
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), m.said(ctx))
}

// edit changes annotations, the state of the source connector and the ConfigMap of an alter in one update, and kills the manager afterwards if the scenario does so.
func (m *mirror) edit(ctx SpecContext, annotations map[string]string, state kafkav1beta2.ConnectorState, alterFrom string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		found, err := m.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		for key, value := range annotations {
			metav1.SetMetaDataAnnotation(&found.ObjectMeta, key, value)
		}
		source := found.Spec.Mirrors[0].SourceConnector
		source.State = state
		if alterFrom != "" {
			source.AlterOffsets.FromConfigMap.Name = alterFrom
		}
		g.Expect(cluster.Client.Update(ctx, found)).To(Succeed())
	}).WithContext(ctx).Should(Succeed())
	if m.killing { // without grace, and a new pod: one container that is killed again and again is started after ever longer pauses
		Expect(cluster.Client.Delete(ctx, leader(ctx), client.GracePeriodSeconds(0))).To(Succeed())
	}
}

// request an operation on the offsets of connectors.
func (m *mirror) request(ctx SpecContext, operation, connector string, state kafkav1beta2.ConnectorState, alterFrom string) {
	GinkgoHelper()
	m.edit(ctx, map[string]string{request.OperationAnnotation: operation, request.ConnectorAnnotation: connector}, state, alterFrom)
}

// entry of a ConfigMap.
func (m *mirror) entry(ctx SpecContext, name, connector string) string {
	GinkgoHelper()
	found := &corev1.ConfigMap{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: name}, found)).To(Succeed())
	return found.Data[connect.EntryName(connector)]
}

// listed requests a list and returns the document.
func (m *mirror) listed(ctx SpecContext, state kafkav1beta2.ConnectorState) string {
	GinkgoHelper()
	m.request(ctx, "list", sourceConnector, state, "")
	m.settled(ctx)
	return m.entry(ctx, "source-offsets", sourceConnector)
}

// document is what Connect says of the offsets of the source connector.
type document struct {
	Offsets []struct {
		Partition json.RawMessage `json:"partition"`
		Offset    struct {
			Offset int `json:"offset"`
		} `json:"offset"`
	} `json:"offsets"`
}

// copied is how many records of the source lie before the offsets. An offset is that of the last record that was copied.
func (d document) copied() int {
	sum := 0
	for _, one := range d.Offsets {
		sum += one.Offset.Offset + 1
	}
	return sum
}

func parse(text string) document {
	GinkgoHelper()
	var d document
	Expect(json.Unmarshal([]byte(text), &d)).To(Succeed(), text)
	return d
}

// halve changes the ConfigMap from which an alter takes the offsets: half of each. It returns them, and how many records are copied
// again if they are applied.
func (m *mirror) halve(ctx SpecContext) (halved document, again int) {
	GinkgoHelper()
	halved = parse(m.entry(ctx, "source-offsets", sourceConnector))
	before := halved.copied()
	for i := range halved.Offsets {
		halved.Offsets[i].Offset.Offset /= 2
	}
	text, err := json.Marshal(halved)
	Expect(err).NotTo(HaveOccurred())
	patch, err := json.Marshal(map[string]any{"data": map[string]string{connect.EntryName(sourceConnector): string(text)}})
	Expect(err).NotTo(HaveOccurred())
	list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: "source-offsets"}}
	Expect(cluster.Client.Patch(ctx, list, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	return halved, before - halved.copied()
}

// worker is the name of the pod that leads the group of the workers, or of the other one.
func (m *mirror) worker(ctx SpecContext, leads bool) string {
	GinkgoHelper()
	leader := m.run(ctx, "leader", "--bootstrap=west-kafka-bootstrap:9092", "--group=mirrormaker2-cluster")
	names := []string{mirrorName + "-mirrormaker2-0", mirrorName + "-mirrormaker2-1"}
	Expect(leader).To(Or(ContainSubstring(names[0]), ContainSubstring(names[1])))
	if leads != strings.Contains(leader, names[0]) {
		return names[1]
	}
	return names[0]
}

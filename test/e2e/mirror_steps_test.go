//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/test/e2e/stage"
)

const (
	mirrorName = "mirror"
	// sourceConnector copies the records.
	sourceConnector     = "east->west.MirrorSourceConnector"
	checkpointConnector = "east->west.MirrorCheckpointConnector"
	heartbeatConnector  = "east->west.MirrorHeartbeatConnector"
	// mirroredTopic in the target cluster.
	mirroredTopic = "east.numbers"
	// partitions of the topic, one for each worker.
	partitions = "--partitions=2"
)

// mirror is the KafkaMirrorMaker2 of a scenario, with its two clusters.
type mirror struct {
	*stage.Scenario
	workers
	// jobs counts the tools that ran.
	jobs int
	// killing is true if the manager is killed in every state of a change.
	killing bool
	// wiped counts the times that the status was deleted.
	wiped int
}

// workers are how the workers of a mirror run.
type workers struct {
	version     string
	exactlyOnce bool
	// flush is how often offsets are committed.
	flush time.Duration
	// patient is true if their liveness probes permit that they hang for an hour.
	patient bool
}

// installMirror waits until the first records are copied.
func installMirror(ctx SpecContext, s *stage.Scenario, w workers, records int) *mirror {
	GinkgoHelper()
	p := s.Phase("install " + w.version)
	m := &mirror{Scenario: s, workers: w}
	m.apply(ctx, nil, kafkav1beta2.ConnectorRunning)
	for _, name := range []string{"east", "west"} {
		Eventually(func(g Gomega, ctx context.Context) {
			k := &kafkav1beta2.Kafka{}
			g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, k)).To(Succeed())
			holds(g, k, k.Status.Conditions, "Ready")
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}
	m.produce(ctx, 0, records)
	m.settled(ctx)
	m.copied(ctx, records, records)
	p.End()
	return m
}

// apply the manifests as a GitOps tool has them: with annotations, and with a state of the source connector.
func (m *mirror) apply(ctx SpecContext, annotations map[string]string, state kafkav1beta2.ConnectorState) {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, "test/e2e/testdata/mirror.yaml"))
	Expect(err).NotTo(HaveOccurred())
	noted, err := json.Marshal(annotations)
	Expect(err).NotTo(HaveOccurred())
	manifest := strings.NewReplacer("${VERSION}", m.version, "${EXACTLY_ONCE}", map[bool]string{true: "enabled", false: "disabled"}[m.exactlyOnce],
		"${FLUSH}", strconv.FormatInt(m.flush.Milliseconds(), 10), "${FAILURES}", map[bool]string{true: "360", false: "6"}[m.patient], "${ANNOTATIONS}", string(noted), "${STATE}", string(state)).Replace(string(text))
	Expect(cluster.ApplyText(ctx, m.Namespace, []byte(manifest))).To(Succeed())
}

// run a tool of its own pod.
func (m *mirror) run(ctx SpecContext, args ...string) string {
	GinkgoHelper()
	m.jobs++
	return work(ctx, m.Scenario, fmt.Sprintf("%s-%d", args[0], m.jobs), args...)
}

// produce records with consecutive numbers, one after the other into each partition of the source.
func (m *mirror) produce(ctx SpecContext, first, records int) {
	GinkgoHelper()
	Expect(m.run(ctx, "produce", "--bootstrap=east-kafka-bootstrap:9092", fmt.Sprintf("--first=%d", first), fmt.Sprintf("--count=%d", records), partitions)).
		To(Equal(fmt.Sprintf("acknowledged %d", records)))
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
	return said(func() (any, error) {
		found, err := m.get(ctx)
		return found.Status, err
	})
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

// change of a KafkaMirrorMaker2.
type change func(*kafkav1beta2.KafkaMirrorMaker2)

// requesting an operation on the offsets of connectors.
func requesting(operation, connectors string) change {
	return func(k *kafkav1beta2.KafkaMirrorMaker2) {
		metav1.SetMetaDataAnnotation(&k.ObjectMeta, request.OperationAnnotation, operation)
		metav1.SetMetaDataAnnotation(&k.ObjectMeta, request.ConnectorAnnotation, connectors)
	}
}

// source declares the state of the source connector.
func source(state kafkav1beta2.ConnectorState) change {
	return func(k *kafkav1beta2.KafkaMirrorMaker2) { k.Spec.Mirrors[0].SourceConnector.State = state }
}

// all declares the state of every connector.
func all(state kafkav1beta2.ConnectorState) change {
	return func(k *kafkav1beta2.KafkaMirrorMaker2) {
		first := &k.Spec.Mirrors[0]
		for _, c := range []*kafkav1beta2.MirrorMaker2Connector{first.SourceConnector, first.CheckpointConnector, first.HeartbeatConnector} {
			c.State = state
		}
	}
}

// onlySource declares no other connector than the source connector.
func onlySource() change {
	return func(k *kafkav1beta2.KafkaMirrorMaker2) {
		k.Spec.Mirrors[0].CheckpointConnector, k.Spec.Mirrors[0].HeartbeatConnector = nil, nil
	}
}

// alterFrom names the ConfigMap of an alter.
func alterFrom(name string) change {
	return func(k *kafkav1beta2.KafkaMirrorMaker2) {
		k.Spec.Mirrors[0].SourceConnector.AlterOffsets.FromConfigMap.Name = name
	}
}

// edit makes all changes in one update.
func (m *mirror) edit(ctx SpecContext, changes ...change) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		found, err := m.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		for _, c := range changes {
			c(found)
		}
		g.Expect(cluster.Client.Update(ctx, found)).To(Succeed())
	}).WithContext(ctx).Should(Succeed())
}

// carriedOut edits, and waits until the request of the edit is carried out.
func (m *mirror) carriedOut(ctx SpecContext, phase string, changes ...change) {
	GinkgoHelper()
	p := m.Phase(phase)
	m.edit(ctx, changes...)
	m.settled(ctx)
	p.End()
}

// entry of a ConfigMap.
func (m *mirror) entry(ctx SpecContext, name, connector string) string {
	GinkgoHelper()
	found := &corev1.ConfigMap{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: name}, found)).To(Succeed())
	return found.Data[connect.EntryName(connector)]
}

// listed requests a list of the source connector, which is in that state, and returns its offsets.
func (m *mirror) listed(ctx SpecContext, state kafkav1beta2.ConnectorState) document {
	GinkgoHelper()
	m.carriedOut(ctx, "list", requesting("list", sourceConnector), source(state))
	return parse(m.entry(ctx, "source-offsets", sourceConnector))
}

// committed waits until the listed offsets of the running source connector are behind a number of records. Workers commit offsets some
// time after they have copied records.
func (m *mirror) committed(ctx SpecContext, records int) {
	GinkgoHelper()
	listed := func() int { return m.listed(ctx, running).copied() }
	Eventually(listed).WithContext(ctx).WithTimeout(patience).Should(Equal(records), "records whose offsets are committed")
}

// document is what Connect says of the offsets of the source connector.
type document struct {
	Offsets []partitionOffset `json:"offsets"`
}

// partitionOffset is where the source connector is in a partition.
type partitionOffset struct {
	Partition json.RawMessage `json:"partition"`
	Offset    struct {
		Offset int `json:"offset"`
	} `json:"offset"`
}

// copied is how many records of the source lie before the offsets. An offset is that of the last record that was copied.
func (d document) copied() int {
	sum := 0
	for _, one := range d.Offsets {
		sum += one.Offset.Offset + 1
	}
	return sum
}

// parse a document. Connect lists partitions in any order, and ConfigMaps have them with and without spaces.
func parse(text string) document {
	GinkgoHelper()
	var d document
	Expect(json.Unmarshal([]byte(text), &d)).To(Succeed(), text)
	for i := range d.Offsets {
		var compact bytes.Buffer
		Expect(json.Compact(&compact, d.Offsets[i].Partition)).To(Succeed(), text)
		d.Offsets[i].Partition = compact.Bytes()
	}
	slices.SortFunc(d.Offsets, func(a, b partitionOffset) int { return bytes.Compare(a.Partition, b.Partition) })
	return d
}

// write an entry of a ConfigMap that a list has created.
func (m *mirror) write(ctx SpecContext, name, connector, text string) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"data": map[string]string{connect.EntryName(connector): text}})
	Expect(err).NotTo(HaveOccurred())
	list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: name}}
	Expect(cluster.Client.Patch(ctx, list, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// moved changes the ConfigMap from which an alter takes the offsets: each offset of the last list becomes another one.
func (m *mirror) moved(ctx SpecContext, to func(offset int) int) document {
	GinkgoHelper()
	d := parse(m.entry(ctx, "source-offsets", sourceConnector))
	for i := range d.Offsets {
		d.Offsets[i].Offset.Offset = to(d.Offsets[i].Offset.Offset)
	}
	text, err := json.Marshal(d)
	Expect(err).NotTo(HaveOccurred())
	m.write(ctx, "source-offsets", sourceConnector, string(text))
	return d
}

// record of the request of the source connector.
func (m *mirror) record(ctx SpecContext) connectoroffsets.Record {
	return m.recordOf(ctx, sourceConnector)
}

// recordOf is the record of the request of a connector.
func (m *mirror) recordOf(ctx SpecContext, connector string) connectoroffsets.Record {
	GinkgoHelper()
	found := &corev1.ConfigMap{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: keep.RequestName(mirrorName)}, found)).To(Succeed())
	r, err := connectoroffsets.ReadRecord(found.Data, keep.Key(connector))
	Expect(err).NotTo(HaveOccurred())
	return r
}

// half of an offset.
func half(offset int) int { return offset / 2 }

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

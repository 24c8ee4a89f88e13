package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	connectrest "github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/config"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	kafkaobservation "github.com/detent-dev/detent/controllers/kafka/observation"
	mirrormaker2controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	mirrormaker2manager "github.com/detent-dev/detent/kinds/mirrormaker2/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/connect/wire"
)

// mirrorMaker2 is a KafkaMirrorMaker2 of a spec.
type mirrorMaker2 struct{ key client.ObjectKey }

// mirroredIn creates the resource that is declared as mirrored.
func mirroredIn(ctx context.Context, namespace string) mirrorMaker2 {
	GinkgoHelper()
	m := &kafkav1beta2.KafkaMirrorMaker2{}
	Expect(yaml.UnmarshalStrict([]byte(mirrored), m)).To(Succeed())
	m.Namespace = namespace
	Expect(admin.Create(ctx, m)).To(Succeed())
	return mirrorMaker2{key: client.ObjectKeyFromObject(m)}
}

func (m mirrorMaker2) read(ctx context.Context, g Gomega) *kafkav1beta2.KafkaMirrorMaker2 {
	now := &kafkav1beta2.KafkaMirrorMaker2{}
	g.Expect(admin.Get(ctx, m.key, now)).To(Succeed())
	return now
}

// edit changes the resource, again after a conflict.
func (m mirrorMaker2) edit(ctx context.Context, change func(*kafkav1beta2.KafkaMirrorMaker2)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		now := m.read(ctx, g)
		change(now)
		g.Expect(admin.Update(ctx, now)).To(Succeed())
	}).Should(Succeed())
}

// mirroring is a KafkaMirrorMaker2 on simulated workers, run by a manager with the rights of an installation.
type mirroring struct {
	mirrorMaker2
	server *wire.Server
}

// mirroringIn creates the resource that is declared as mirrored, with its manager.
func mirroringIn(ctx context.Context, namespace string) mirroring {
	GinkgoHelper()
	credentials := installed(ctx, namespace, config.Access([]resource.Kind{kafkacontroller.Resource(), mirrormaker2controller.Resource()}, namespace))
	server := workers()
	manage(operator.Options{
		Config: credentials, Version: operatorVersion, Kinds: []operator.Kind{
			kafkamanager.New(kafkamanager.Options{Table: outside.table, Finalizing: kafkaobservation.FinalizeAutomatically}),
			mirrormaker2manager.New(mirrormaker2manager.Options{Table: outside.table, Connect: overWire(server)}),
		},
		Namespaces: []string{namespace}, DeadlineScale: 1, Workers: 4,
	})
	return mirroring{mirrorMaker2: mirroredIn(ctx, namespace), server: server}
}

// request requests an operation on the offsets of connectors, and makes changes in the same edit.
func (m mirroring) request(ctx context.Context, operation, connectors string, changes ...func(*kafkav1beta2.KafkaMirrorMaker2)) {
	GinkgoHelper()
	m.edit(ctx, func(now *kafkav1beta2.KafkaMirrorMaker2) {
		now.Annotations = map[string]string{request.OperationAnnotation: operation, request.ConnectorAnnotation: connectors}
		for _, change := range changes {
			change(now)
		}
	})
}

// settles waits until the resource is Ready and no annotation is left.
func (m mirroring) settles(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		now := m.read(ctx, g)
		g.Expect(now.Annotations).To(BeEmpty(), "%+v", now.Status)
		g.Expect(now.Status.ObservedGeneration).To(Equal(now.Generation), "%+v", now.Status)
		g.Expect(meta.IsStatusConditionTrue(now.Status.Conditions, lifecycle.Ready)).To(BeTrue(), "%+v", now.Status)
	}).Should(Succeed())
}

// warns waits until a warning contains the message, while the annotations of the request stay.
func (m mirroring) warns(ctx context.Context, reason, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		now := m.read(ctx, g)
		g.Expect(now.Status.Conditions).To(ContainElement(And(
			HaveField("Type", lifecycle.Warning), HaveField("Status", metav1.ConditionTrue), HaveField("Reason", reason), HaveField("Message", ContainSubstring(message)),
		)))
		g.Expect(now.Annotations).To(And(HaveKey(request.OperationAnnotation), HaveKey(request.ConnectorAnnotation)))
	}).Should(Succeed())
}

// offsets returns the offsets of a connector as Connect reports them.
func (m mirroring) offsets(ctx context.Context, connector string) string {
	GinkgoHelper()
	one, err := connectrest.New(connectrest.Options{Address: m.server.Addr(0)})
	Expect(err).NotTo(HaveOccurred())
	defer one.Close()
	document, err := one.Offsets(ctx, connector)
	Expect(err).NotTo(HaveOccurred())
	return document
}

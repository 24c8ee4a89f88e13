package integration

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/crds"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/operator"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

const kafkaDefinition = "kafkas.kafka.strimzi.io"

// redefine changes the installed definition of Kafka and waits until the API server stores status.lifecycles, or drops it, in a
// namespace that no operator watches.
func redefine(ctx context.Context, stores bool, change func(*apiextensionsv1.CustomResourceDefinition)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := admin.Get(ctx, client.ObjectKey{Name: kafkaDefinition}, d); err != nil {
			return err
		}
		change(d)
		return admin.Update(ctx, d)
	})).To(Succeed())
	Eventually(func(g Gomega) {
		probe := kafkaOf(metav1.NamespaceDefault, "probe", old, "", 1)
		g.Expect(admin.Create(ctx, probe)).To(Succeed())
		defer func() { g.Expect(admin.Delete(ctx, probe)).To(Succeed()) }()
		probe.Status.Lifecycles = []lifecyclev1.Lifecycle{{Name: "version", State: "Settled", EnteredAt: metav1.Now()}}
		g.Expect(admin.Status().Update(ctx, probe)).To(Succeed())
		stored := &kafkav1beta2.Kafka{}
		g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(probe), stored)).To(Succeed())
		g.Expect(stored.Status.Lifecycles).To(HaveLen(map[bool]int{true: 1}[stores]))
	}).Should(Succeed())
}

var _ = Describe("definitions of another operator", Serial, func() {
	It("are refused with or without --adopt, and a status that they prune makes nothing spin", func(ctx SpecContext) {
		all, err := crds.Definitions()
		Expect(err).NotTo(HaveOccurred())
		restore := func(ctx context.Context) {
			redefine(ctx, true, func(d *apiextensionsv1.CustomResourceDefinition) {
				for _, ours := range all {
					if ours.Name == kafkaDefinition {
						d.Spec.Versions, d.Labels = ours.Spec.Versions, ours.Labels
					}
				}
			})
		}
		redefine(ctx, false, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Labels = map[string]string{"app": "strimzi"}
			for i := range d.Spec.Versions {
				status := d.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["status"]
				delete(status.Properties, "lifecycles")
				delete(status.Properties, "summary")
				delete(status.Properties["conditions"].Items.Schema.Properties, "observedGeneration")
			}
		})
		DeferCleanup(restore)

		By("starting the manager over them")
		for _, adopt := range []bool{false, true} {
			err := operator.Run(ctx, operator.Options{
				Config: plane.AdminConfig(), Kinds: []operator.Kind{kafkamanager.New(kafkamanager.Options{Table: outside.table})}, Adopt: adopt,
				MetricsAddress: "0", HealthAddress: "0", SkipNameValidation: true, Log: logr.Discard(),
			})
			Expect(err).To(MatchError(ContainSubstring("kubectl apply --server-side --force-conflicts -f crds/generated/")), "adopt: %v", adopt)
		}

		By("running an operator that did not look")
		sc := newScene(ctx, clusters{}, nil)
		key := client.ObjectKey{Namespace: sc.namespace, Name: "orders"}
		for _, o := range []client.Object{poolOf(key, "p", 1, controllerRole, brokerRole), kafkaOf(key.Namespace, key.Name, old, "", 1)} {
			Expect(admin.Create(ctx, o)).To(Succeed())
		}
		sc.start(nil)
		stalled := func() metav1.Condition { return conditionOf(sc.object(key.Name), lifecycle.Stalled) }
		Eventually(stalled).Should(And(
			HaveField("Status", metav1.ConditionTrue), HaveField("Reason", lifecycle.StatusPruned),
			HaveField("Message", ContainSubstring("does not store lifecycles, summary of the status")),
		))
		writes := func() int { return len(bench.Traffic.Of(sc.namespace, lab.OnStatus(key.Name), lab.Request.Done)) }
		before := writes()
		Consistently(writes).WithTimeout(10*time.Second).Should(BeNumerically("<=", before+12), "status writes within ten seconds, at a back-off of half a second and more")

		By("installing the definitions")
		restore(ctx)
		sc.rest()
	}, SpecTimeout(timeLimit))
})

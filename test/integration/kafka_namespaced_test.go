package integration

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/config"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// reach records the targets of a manager's requests.
type reach struct {
	mu sync.Mutex
	// outside are the requests for cluster-scoped resources or for another namespace than the manager's, as "verb
	// group/resource".
	outside map[string]bool
	// inside is the path of the manager's namespace.
	inside string
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r *reach) RoundTrip(request *http.Request) (*http.Response, error) {
	if right, ok := rightOf(request); ok && !strings.Contains(request.URL.Path, r.inside) {
		r.mu.Lock()
		r.outside[right] = true
		r.mu.Unlock()
	}
	return r.next.RoundTrip(request)
}

func (r *reach) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sortedKeys(r.outside)
}

var _ = Describe("the manager with rights in one namespace", func() {
	It("makes and rolls a cluster there, and asks for nothing elsewhere", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		elsewhere := sc.namespace + "-elsewhere"
		Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere}})).To(Succeed())
		credentials := installed(ctx, sc.namespace, config.NamespacedAccess([]resource.Kind{kafkacontroller.Resource()}, sc.namespace, sc.namespace))
		seen, went := &rights{used: map[string]bool{}}, &reach{outside: map[string]bool{}, inside: "/namespaces/" + sc.namespace + "/"}
		credentials.Wrap(seen.wrap)
		credentials.Wrap(func(next http.RoundTripper) http.RoundTripper { went.next = next; return went })
		proxy := &http.Server{Handler: outside.Proxy(), ReadHeaderTimeout: time.Second}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		go func() { _ = proxy.Serve(listener) }() // it ends with the spec
		DeferCleanup(proxy.Close)
		manage(operator.Options{
			Config: credentials, Version: "0.0.0-test", Kinds: []operator.Kind{kafkamanager.New(kafkamanager.Options{
				Table: outside.table, Finalizing: observation.FinalizeAutomatically, Proxy: listener.Addr().String(),
			})},
			Namespaces: []string{sc.namespace}, DeadlineScale: 0.15, Workers: 4, LeaderElection: true, LeaderNamespace: sc.namespace,
		})

		here, there := client.ObjectKey{Namespace: sc.namespace, Name: "here"}, client.ObjectKey{Namespace: elsewhere, Name: "there"}
		for _, key := range []client.ObjectKey{here, there} {
			for _, o := range []client.Object{poolOf(key, "p", 1, controllerRole, brokerRole), kafkaOf(key.Namespace, key.Name, old, "", 1)} {
				Expect(admin.Create(ctx, o)).To(Succeed())
			}
		}
		settled := func(g Gomega) {
			k := &kafkav1beta2.Kafka{}
			g.Expect(admin.Get(ctx, here, k)).To(Succeed())
			g.Expect(k.Status.ObservedGeneration).To(Equal(k.Generation))
			g.Expect(meta.IsStatusConditionTrue(k.Status.Conditions, lifecycle.Ready)).To(BeTrue(), "%v", k.Status.Conditions)
		}
		Eventually(settled).Should(Succeed())
		made := outside.born.counts(here)["here-p-0"]
		Eventually(func() error {
			k := &kafkav1beta2.Kafka{}
			if err := admin.Get(ctx, here, k); err != nil {
				return err
			}
			k.Spec.Kafka.Config["queued.max.requests"] = value(24)
			return admin.Update(ctx, k)
		}).Should(Succeed())
		Eventually(func() int { return outside.born.counts(here)["here-p-0"] }).Should(Equal(made + 1))
		Eventually(settled).Should(Succeed())

		foreign := &kafkav1beta2.Kafka{}
		Expect(admin.Get(ctx, there, foreign)).To(Succeed())
		Expect(foreign.Status.Conditions).To(BeEmpty(), "a cluster of another namespace was touched")
		optional := []string{"get /nodes", "get apiextensions.k8s.io/customresourcedefinitions", "list coordination.k8s.io/leases"}
		Expect(went.seen()).To(HaveEach(BeElementOf(optional)), "requests outside the namespace: only those that the manager can do without")
		_, refused := seen.of()
		Expect(refused).To(HaveEach(BeElementOf(optional)), "a right is missing")
	}, SpecTimeout(timeLimit))
})

package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
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

// rights are the permissions that requests used, and those that were refused, as "verb group/resource".
type rights struct {
	mu      sync.Mutex
	used    map[string]bool
	refused []string
}

func (r *rights) wrap(next http.RoundTripper) http.RoundTripper { return &judged{next: next, of: r} }

type judged struct {
	next http.RoundTripper
	of   *rights
}

// RoundTrip implements http.RoundTripper.
func (j *judged) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := j.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	j.of.mu.Lock()
	defer j.of.mu.Unlock()
	right, ok := rightOf(request)
	if ok && response.StatusCode == http.StatusForbidden {
		j.of.refused = append(j.of.refused, right)
	}
	j.of.used[right] = true
	return response, nil
}

// rightOf returns the permission for a request, as the API server's authorizer evaluates it:
// https://kubernetes.io/docs/reference/access-authn-authz/authorization
func rightOf(request *http.Request) (string, bool) {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	group := ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		return "", false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource := strings.Join(append([]string{parts[0]}, parts[min(2, len(parts)):]...), "/")
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete", http.MethodGet: "get"}[request.Method]
	if verb == "get" && len(parts) == 1 {
		verb = "list"
		if request.URL.Query().Get("watch") != "" {
			verb = "watch"
		}
	}
	return verb + " " + group + "/" + resource, true
}

func (r *rights) of() (used, refused []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sortedKeys(r.used), slices.Clone(r.refused)
}

// granted returns the permissions of rules, in the same format.
func granted(rules []rbacv1.PolicyRule) []string {
	var out []string
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				out = append(out, verb+" "+rule.APIGroups[0]+"/"+resource)
			}
		}
	}
	return out
}

// rare are permissions that a healthy cluster does not use, and when they are used.
var rare = map[string]string{
	"get /services":                                    "a service of its name exists already",
	"get /serviceaccounts":                             "a service account of its name exists already",
	"get /persistentvolumeclaims":                      "a claim of its name exists already",
	"get apps/deployments":                             "a deployment of its name exists already",
	"get policy/poddisruptionbudgets":                  "a budget of its name exists already",
	"get kafka.strimzi.io/kafkanodepools":              "a pool that was written is not in the cache for a second",
	"get /nodes":                                       "a node of Kafka has neither been ready nor served for a session timeout",
	"get /pods":                                        "a pod of its name exists already",
	"get /configmaps":                                  "a ConfigMap of its name exists already, or a pod has no entry",
	"delete /pods":                                     "a pod has ended, or its node was stopped on purpose",
	"delete /configmaps":                               "a broker was removed: its record goes",
	"delete /persistentvolumeclaims":                   "a broker was removed, and its disk has deleteClaim",
	"delete core.strimzi.io/strimzipodsets":            "the last broker of a deleted pool was removed: its empty set goes",
	"update kafka.strimzi.io/kafkas/finalizers":        "the API server asks for it where owner references may block deletion",
	"update core.strimzi.io/strimzipodsets/finalizers": "the API server asks for it where owner references may block deletion",
	"patch /events":                                    "an event happens again",
	"list kafka.strimzi.io/kafkas":                     "the API server does not stream what there is to watches",
	"list /services":                                   "the API server does not stream what there is to watches",
	"list /serviceaccounts":                            "the API server does not stream what there is to watches",
	"list apps/deployments":                            "the API server does not stream what there is to watches",
	"list coordination.k8s.io/leases":                  "asked once, before anything else",
}

// installed creates the manager's service account and RBAC in the namespace, exactly as they are installed in a cluster, and
// returns its credentials.
func installed(ctx context.Context, namespace string, access []client.Object) *rest.Config {
	GinkgoHelper()
	for _, o := range access {
		Expect(admin.Create(ctx, o)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(admin.Delete(ctx, o))).To(Succeed()) })
	}
	credentials, err := plane.ServiceAccountConfig(ctx, namespace, config.Account, time.Hour)
	Expect(err).NotTo(HaveOccurred())
	return credentials
}

// freeAddress is a free address on loopback.
func freeAddress(ctx context.Context) string {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().String()
}

// team labels a Kafka for the manager of a team.
func team(name string, o client.Object) client.Object {
	o.SetLabels(map[string]string{"team": name})
	return o
}

var _ = Describe("the manager as it is installed", func() {
	It("has the rights that it takes and no others, and leaves alone what it does not select", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		credentials := installed(ctx, sc.namespace, config.Access([]resource.Kind{kafkacontroller.Resource()}, sc.namespace))
		seen := &rights{used: map[string]bool{}}
		credentials.Wrap(seen.wrap)
		proxy := &http.Server{Handler: outside.Proxy(), ReadHeaderTimeout: time.Second}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		go func() { _ = proxy.Serve(listener) }() // it ends with the spec
		DeferCleanup(proxy.Close)
		health := freeAddress(ctx)
		manage(operator.Options{
			Config: credentials, Version: operatorVersion, Kinds: []operator.Kind{kafkamanager.New(kafkamanager.Options{
				Table: outside.table, Finalizing: observation.FinalizeAutomatically, Proxy: listener.Addr().String(),
			})},
			Namespaces: []string{sc.namespace}, Selector: apilabels.SelectorFromSet(apilabels.Set{"team": "a"}), DeadlineScale: 0.15, Workers: 4,
			LeaderElection: true, LeaderNamespace: sc.namespace, HealthAddress: health,
		})

		By("creating a cluster and one of another team")
		ours, others := client.ObjectKey{Namespace: sc.namespace, Name: "ours"}, client.ObjectKey{Namespace: sc.namespace, Name: "others"}
		kafka := kafkaOf(ours.Namespace, ours.Name, old, "", 1)
		kafka.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{Image: "exporter:1"}
		for _, o := range []client.Object{
			poolOf(ours, "p", 1, controllerRole, brokerRole), team("a", kafka),
			poolOf(others, "q", 1, controllerRole, brokerRole), team("b", kafkaOf(others.Namespace, others.Name, old, "", 1)),
		} {
			Expect(admin.Create(ctx, o)).To(Succeed())
		}
		settled := func(key client.ObjectKey) func(Gomega) {
			return func(g Gomega) {
				k := &kafkav1beta2.Kafka{}
				g.Expect(admin.Get(ctx, key, k)).To(Succeed())
				g.Expect(k.Status.ObservedGeneration).To(Equal(k.Generation))
				g.Expect(meta.IsStatusConditionTrue(k.Status.Conditions, lifecycle.Ready)).To(BeTrue(), "%v", k.Status.Conditions)
			}
		}
		Eventually(settled(ours)).Should(Succeed())
		Expect(readiness(ctx, health)).To(Equal(http.StatusOK))

		By("taking away and changing what it is made of")
		named := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: sc.namespace, Name: name} }
		edit := func(o client.Object, name string, change func()) {
			GinkgoHelper()
			Eventually(func() error {
				if err := admin.Get(ctx, named(name), o); err != nil {
					return err
				}
				change()
				return admin.Update(ctx, o)
			}).Should(Succeed())
		}
		uidOf := func(o client.Object, name string) func() (string, error) {
			return func() (string, error) {
				if err := admin.Get(ctx, named(name), o); err != nil {
					return "", client.IgnoreNotFound(err)
				}
				return string(o.GetUID()), nil
			}
		}
		for name, o := range map[string]client.Object{
			"ours-kafka-bootstrap": &corev1.Service{}, "ours-kafka": &policyv1.PodDisruptionBudget{}, "ours-kafka-exporter": &appsv1.Deployment{},
		} {
			before, err := uidOf(o, name)()
			Expect(err).NotTo(HaveOccurred())
			Expect(before).NotTo(BeEmpty(), name)
			Expect(admin.Delete(ctx, o)).To(Succeed())
			Eventually(uidOf(o, name)).ShouldNot(Or(BeEmpty(), Equal(before)), "%s comes back", name)
		}
		account := &corev1.ServiceAccount{}
		before, err := uidOf(account, "ours-kafka")()
		Expect(err).NotTo(HaveOccurred())
		Expect(admin.Delete(ctx, account)).To(Succeed())
		Eventually(uidOf(account, "ours-kafka")).ShouldNot(Or(BeEmpty(), Equal(before)))
		edit(account, "ours-kafka", func() { account.AutomountServiceAccountToken = new(true) })
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, named("ours-kafka"), account)).To(Succeed())
			g.Expect(account.AutomountServiceAccountToken).To(HaveValue(BeFalse()))
		}).Should(Succeed())
		budget := &policyv1.PodDisruptionBudget{}
		edit(budget, "ours-kafka", func() { budget.Spec.MinAvailable = new(intstr.FromInt32(7)) })
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, named("ours-kafka"), budget)).To(Succeed())
			g.Expect(budget.Spec.MinAvailable.IntValue()).NotTo(Equal(7))
		}).Should(Succeed())
		service := &corev1.Service{}
		edit(service, "ours-kafka-bootstrap", func() { service.Spec.Selector = map[string]string{"nobody": "here"} })
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, named("ours-kafka-bootstrap"), service)).To(Succeed())
			g.Expect(service.Spec.Selector).NotTo(HaveKey("nobody"))
		}).Should(Succeed())
		exporter := &appsv1.Deployment{}
		edit(exporter, "ours-kafka-exporter", func() { exporter.Spec.Template.Spec.Containers[0].Image = "another" })
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, named("ours-kafka-exporter"), exporter)).To(Succeed())
			g.Expect(exporter.Spec.Template.Spec.Containers[0].Image).To(Equal("exporter:1"))
		}).Should(Succeed())
		pod := &corev1.Pod{}
		edit(pod, "ours-p-0", func() { pod.OwnerReferences = nil })
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, named("ours-p-0"), pod)).To(Succeed())
			g.Expect(metav1.GetControllerOf(pod)).NotTo(BeNil())
		}).Should(Succeed())

		By("changing what is declared")
		pool := &kafkav1beta2.KafkaNodePool{}
		edit(pool, "p", func() { pool.Spec.Storage.Volumes[0].Size = "2Gi" })
		edit(kafka, ours.Name, func() {
			kafka.Spec.KafkaExporter = nil
			kafka.Spec.Kafka.Config["queued.max.requests"] = value(24)
		})
		made := outside.born.counts(ours)["ours-p-0"]
		Eventually(func() int { return outside.born.counts(ours)["ours-p-0"] }).Should(Equal(made + 1))
		Eventually(settled(ours)).Should(Succeed())
		Eventually(uidOf(exporter, "ours-kafka-exporter")).Should(BeEmpty(), "the spec does not contain it any more")

		By("judging the rights")
		used, refused := seen.of()
		Expect(refused).To(BeEmpty(), "a right is missing")
		lacks := func(right string) bool { return !slices.Contains(used, right) }
		all := granted(slices.Concat(operator.Rules([]resource.Kind{kafkacontroller.Resource()}), operator.LeaseRules()))
		var unused []string
		for _, right := range all {
			if _, excused := rare[right]; lacks(right) && !excused {
				unused = append(unused, right)
			}
		}
		Expect(unused).To(BeEmpty(), "rights that nothing takes")

		By("handing the other cluster over")
		foreign := &kafkav1beta2.Kafka{}
		Expect(admin.Get(ctx, others, foreign)).To(Succeed())
		Expect(foreign.Status.Lifecycles).To(BeEmpty(), "another team's cluster was touched")
		edit(foreign, others.Name, func() { team("a", foreign) })
		Eventually(settled(others)).Should(Succeed())
	}, SpecTimeout(timeLimit))
})

// readiness is the answer to a kubelet's probe.
func readiness(ctx context.Context, address string) int {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/readyz?verbose", address), http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	GinkgoWriter.Println(string(text))
	return response.StatusCode
}

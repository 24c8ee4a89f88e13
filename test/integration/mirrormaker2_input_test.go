package integration

import (
	"errors"
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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	connectclient "github.com/detent-dev/detent/clients/connect"
	connectrest "github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	mirrormaker2manager "github.com/detent-dev/detent/kinds/mirrormaker2/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/connect"
)

// badRequest is a request that cannot be carried out, and what the warning about it says.
type badRequest struct {
	name string
	// operation and connector are the values of the annotations; nil for none.
	operation, connector *string
	// entry of the ConfigMap; nil for none. unnamed means that the spec names no ConfigMap that exists.
	entry   *string
	unnamed bool
	edit    func(c *kafkav1beta2.MirrorMaker2Connector)
	// answer answers instead of Connect; nil if Connect answers. deaf means that it answers everything.
	answer func(r *http.Request) (*http.Response, error)
	deaf   bool
	reason string
	want   []string
}

// badRequests are the requests of users that cannot be carried out.
func badRequests() []badRequest {
	const what = "connector offsets for " + mirrorSource
	list, alter, source := new("list"), new("alter"), new(mirrorSource)
	asks := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/offsets") }
	on := func(affects func(*http.Request) bool, answer func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			if !affects(r) {
				return nil, nil //nolint:nilnil // Connect answers
			}
			return answer(r)
		}
	}
	all := func(*http.Request) bool { return true }
	return []badRequest{
		{name: "only the operation", operation: list, reason: "ManageOffsets", want: []string{"missing annotation strimzi.io/mirrormaker-connector", mirrorSource}},
		{name: "only the connector", connector: source, reason: "ManageOffsets", want: []string{what, "missing annotation strimzi.io/connector-offsets", "list, alter or reset"}},
		{name: "an unknown operation", operation: new("delete"), connector: source, reason: "ManageOffsets", want: []string{what, `"delete"`, "Set it to list, alter or reset"}},
		{name: "an empty operation", operation: new(""), connector: source, reason: "ManageOffsets", want: []string{what, "empty annotation", "Set it to list, alter or reset"}},
		{name: "an empty connector", operation: list, connector: new(" "), reason: "ManageOffsets", want: []string{"empty annotation strimzi.io/mirrormaker-connector", "Set it to", mirrorSource}},
		{name: "an unknown connector", operation: list, connector: new("east->west.Typo"), reason: "ListOffsets", want: []string{"east->west.Typo", "unknown connector", "Set it to", mirrorSource}},
		{name: "a missing property", operation: alter, connector: source, edit: func(c *kafkav1beta2.MirrorMaker2Connector) { c.AlterOffsets = nil }, reason: "AlterOffsets", want: []string{what, "missing property alterOffsets in KafkaMirrorMaker2 CR."}},
		{name: "a missing ConfigMap", operation: alter, connector: source, unnamed: true, reason: "AlterOffsets", want: []string{what, "missing ConfigMap nowhere. Create it"}},
		{name: "a missing entry", operation: alter, connector: source, reason: "AlterOffsets", want: []string{what, "missing entry " + connectclient.EntryName(mirrorSource), "Add it"}},
		{name: "broken JSON", operation: alter, connector: source, entry: new(`{"offsets":`), reason: "AlterOffsets", want: []string{what, "not valid JSON", "Correct the entry."}},
		{name: "text after the JSON", operation: alter, connector: source, entry: new(`{"offsets":[]}x`), reason: "AlterOffsets", want: []string{what, "after top-level value", "Correct the entry."}},
		{name: "a list for the object", operation: alter, connector: source, entry: new(`[]`), reason: "AlterOffsets", want: []string{what, "answered 500"}},
		{
			name: "Connect is down", operation: list, connector: source, deaf: true, reason: "ListOffsets", want: []string{what, "connection refused", "Check that the workers run"},
			answer: on(all, func(*http.Request) (*http.Response, error) { //nolint:bodyclose // the client closes it
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
			}),
		},
		{
			name: "Connect hangs", operation: list, connector: source, reason: "ListOffsets", want: []string{what, "no answer within", "Check that the workers run"},
			answer: on(asks, func(r *http.Request) (*http.Response, error) { //nolint:bodyclose // the client closes it
				<-r.Context().Done()
				return nil, r.Context().Err()
			}),
		},
		{
			name: "a body of 1 GB", operation: list, connector: source, reason: "ListOffsets", want: []string{what, "the answer has more than", "Check that the workers run"},
			answer: on(asks, func(*http.Request) (*http.Response, error) { //nolint:bodyclose // the client closes it
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.LimitReader(spaces{}, 1<<30))}, nil
			}),
		},
		{
			name: "a redirect to another host", operation: list, connector: source, reason: "ListOffsets", want: []string{what, "is another program listening there", "nothing else answers"},
			answer: on(asks, func(*http.Request) (*http.Response, error) { //nolint:bodyclose // the client closes it
				return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"http://elsewhere.invalid:80/"}}, Body: http.NoBody}, nil
			}),
		},
	}
}

// spaces is an endless text.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// hindered is the transport to a simulated Connect, in place of which another program may answer.
type hindered struct {
	mu      sync.Mutex
	cluster *connect.Cluster
	began   time.Time
	// instead answers in place of Connect, or returns nil. Optional.
	instead func(r *http.Request) (*http.Response, error)
}

func (h *hindered) by(instead func(r *http.Request) (*http.Response, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.instead = instead
}

// RoundTrip implements http.RoundTripper.
func (h *hindered) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	instead := h.instead
	h.mu.Unlock()
	if instead != nil {
		if response, err := instead(r); response != nil || err != nil {
			return response, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cluster.Tick(time.Since(h.began).Milliseconds() * speed)
	return connect.Transport{Cluster: h.cluster, Worker: h.cluster.Any}.RoundTrip(r)
}

func (h *hindered) workers(connection.Endpoint) (*connection.Workers, func(), error) {
	one, err := connectrest.New(connectrest.Options{Address: "connect:8083", Transport: h, ReadTimeout: time.Second})
	if err != nil {
		return nil, nil, err
	}
	return &connection.Workers{Service: one, Worker: func(string) (connectclient.Reader, func(), error) { return one, func() {}, nil }}, one.Close, nil
}

var _ = Describe("a request for offsets that cannot be carried out", func() {
	It("is answered with a warning, and the rest of the resource works", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		system := &hindered{cluster: connect.New(connect.DefaultSettings(), 1, false), began: time.Now()}
		system.cluster.CreateTopic("orders", 1)
		manage(operator.Options{
			Config: plane.AdminConfig(), Version: operatorVersion, Kinds: []operator.Kind{
				kafkamanager.New(kafkamanager.Options{Table: outside.table}),
				mirrormaker2manager.New(mirrormaker2manager.Options{Table: outside.table, Connect: system.workers}),
			},
			Namespaces: []string{sc.namespace}, DeadlineScale: 0.1, Workers: 4,
		})
		m := mirroredIn(ctx, sc.namespace)
		read := func(g Gomega) *kafkav1beta2.KafkaMirrorMaker2 { return m.read(ctx, g) }
		edit := func(change func(m *kafkav1beta2.KafkaMirrorMaker2)) {
			GinkgoHelper()
			m.edit(ctx, change)
		}
		settled := func(g Gomega) {
			now := read(g)
			g.Expect(now.Status.ObservedGeneration).To(Equal(now.Generation), "%+v", now.Status)
			g.Expect(meta.IsStatusConditionTrue(now.Status.Conditions, lifecycle.Ready)).To(BeTrue(), "%+v", now.Status)
		}
		tasks := func() (string, error) {
			w, closes, err := system.workers(connection.Endpoint{})
			if err != nil {
				return "", err
			}
			defer closes()
			config, err := w.Service.Config(ctx, mirrorSource)
			return config["tasks.max"], err
		}
		entries := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: sc.namespace, Name: "my-connector-offsets"}}
		stores := func(entry *string) error {
			m := entries.DeepCopy()
			if entry != nil {
				m.Data = map[string]string{connectclient.EntryName(mirrorSource): *entry}
			}
			return admin.Update(ctx, m)
		}
		Expect(admin.Create(ctx, entries.DeepCopy())).To(Succeed())
		Expect(stores(new(strings.Repeat(" ", 2<<20)))).To(MatchError(ContainSubstring("may not be more than 1048576 bytes")), "an entry of 2 MiB")
		Eventually(settled).Should(Succeed())
		bad := badRequests()
		for n := range bad {
			one := &bad[n]
			By(one.name)
			Expect(stores(one.entry)).To(Succeed())
			system.by(one.answer)
			most := int32(n + 1) //nolint:gosec // few
			edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { one.set(m, entries.Name, most) })
			Eventually(func(g Gomega) {
				now := read(g)
				i := slices.IndexFunc(now.Status.Conditions, func(c metav1.Condition) bool { return c.Type == lifecycle.Warning && c.Reason == one.reason })
				g.Expect(i).To(BeNumerically(">=", 0), "%+v", now.Status.Conditions)
				for _, part := range one.want {
					g.Expect(now.Status.Conditions[i].Message).To(ContainSubstring(part))
				}
				for annotation, value := range one.annotations() {
					g.Expect(now.Annotations).To(HaveKeyWithValue(annotation, value))
				}
			}).Should(Succeed())
			if !one.deaf {
				Eventually(tasks).Should(Equal(fmt.Sprint(most)))
			}
			system.by(nil)
			edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
			Eventually(func(g Gomega) {
				g.Expect(read(g).Status.Conditions).NotTo(ContainElement(HaveField("Reason", one.reason)))
			}).Should(Succeed())
			Eventually(settled).Should(Succeed())
		}
	}, NodeTimeout(timeLimit))
})

func (one *badRequest) annotations() map[string]string {
	out := map[string]string{}
	if one.operation != nil {
		out[request.OperationAnnotation] = *one.operation
	}
	if one.connector != nil {
		out[request.ConnectorAnnotation] = *one.connector
	}
	return out
}

// set makes the request, together with a change of the number of tasks.
func (one *badRequest) set(m *kafkav1beta2.KafkaMirrorMaker2, configMap string, tasks int32) {
	c := m.Spec.Mirrors[0].SourceConnector
	c.TasksMax, c.State, c.AlterOffsets = &tasks, kafkav1beta2.ConnectorStopped, &kafkav1beta2.AlterOffsets{}
	if c.AlterOffsets.FromConfigMap.Name = configMap; one.unnamed {
		c.AlterOffsets.FromConfigMap.Name = "nowhere"
	}
	if one.edit != nil {
		one.edit(c)
	}
	m.Annotations = one.annotations()
}

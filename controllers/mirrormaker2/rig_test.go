package mirrormaker2_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	connectclient "github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/children"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/podset"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/resource"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/connect"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/test/lab"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const (
	source     = "east-kafka->west-kafka.MirrorSourceConnector"
	checkpoint = "east-kafka->west-kafka.MirrorCheckpointConnector"
	heartbeat  = "east-kafka->west-kafka.MirrorHeartbeatConnector"
)

// rig is one resource with its controllers, on an API server in memory and on simulated workers.
type rig struct {
	t       testing.TB
	server  *store.Store
	client  client.Client
	clock   *clocktesting.FakeClock
	connect *connect.Cluster
	// writes are the requests that changed Connect, as "METHOD path".
	writes []string
	// apiWrites are the writes to the API server, as "verb Kind name".
	apiWrites []string
	run       []reconcile.Reconciler
	// answer answers a request in place of the simulated workers, or returns nil. Optional.
	answer func(r *http.Request) *http.Response
	// pace is how far a step advances the time. Default: a second.
	pace time.Duration
	// containers counts the containers that were started.
	containers int
}

const declared = `
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
spec:
  version: 4.1.2
  replicas: 2
  connectCluster: west-kafka
  clusters:
  - {alias: east-kafka, bootstrapServers: "east:9092"}
  - {alias: west-kafka, bootstrapServers: "west:9092"}
  mirrors:
  - sourceCluster: east-kafka
    targetCluster: west-kafka
    topicsPattern: orders
    sourceConnector: {tasksMax: 2, listOffsets: {toConfigMap: {name: my-mm2-offsets}}, alterOffsets: {fromConfigMap: {name: my-mm2-offsets}}}
    checkpointConnector: {listOffsets: {toConfigMap: {name: my-mm2-offsets}}, alterOffsets: {fromConfigMap: {name: my-mm2-offsets}}}
    heartbeatConnector: {listOffsets: {toConfigMap: {name: my-mm2-offsets}}, alterOffsets: {fromConfigMap: {name: my-mm2-offsets}}}
`

func newRig(t testing.TB, objects ...client.Object) *rig {
	t.Helper()
	return newRigOf(t, declared, objects...)
}

// newRigOf returns a rig with a resource.
func newRigOf(t testing.TB, text string, objects ...client.Object) *rig {
	t.Helper()
	declaration := mirrormaker2.Resource()
	scheme, err := resource.Scheme([]resource.Kind{declaration})
	if err != nil {
		t.Fatal(err)
	}
	m := &kafkav1beta2.KafkaMirrorMaker2{}
	if err := yaml.UnmarshalStrict([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	m.Name, m.Namespace, m.UID = "my-mm2", "default", "1234"
	r := &rig{t: t, server: store.New(scheme, noon), clock: clocktesting.NewFakeClock(noon), connect: connect.New(connect.DefaultSettings(), 2, false)}
	r.connect.CreateTopic("orders", 2)
	r.server.Written = func(w store.Write) {
		r.apiWrites = append(r.apiWrites, fmt.Sprintf("%s %T %s", w.Verb, w.Object, w.Object.GetName()))
	}
	for i := range r.connect.Workers {
		r.connect.Kill(i)
	}
	r.client = r.server.Client()
	for _, o := range append(objects, m, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}) {
		r.must(r.server.Put(o))
	}
	r.start()
	return r
}

// start starts an operator: what another one remembered is lost.
func (r *rig) start() {
	r.t.Helper()
	table, err := versions.Embedded()
	r.must(err)
	kept := lifecycle.NewChildren(r.client, r.client, r.clock)
	collector := &observation.Collector{Table: table, System: &connection.Direct{Protocol: connection.NewProtocol(r.over)}, Live: r.client, Hosts: r.client}
	kind, err := mirrormaker2.NewKind(collector, &children.Reconciler{Client: r.client, Live: r.client})
	r.must(err)
	r.run = []reconcile.Reconciler{
		lifecycle.New(kind, lifecycle.Options{Client: r.client, Live: r.client, Clock: r.clock, Children: kept}),
		&podset.Reconciler{Client: r.client, Live: r.client, Children: kept, Clock: r.clock, Disrupt: func(context.Context, *corev1.Pod, func() error) error { return lifecycle.ErrWait }},
	}
}

// over returns clients of the simulated workers that note what changes Connect.
func (r *rig) over(connection.Endpoint) (*connection.Workers, func(), error) {
	made := func(worker func() (int, bool)) (connectclient.Client, error) {
		return rest.New(rest.Options{Address: "connect:8083", Transport: noting{connect.Transport{Cluster: r.connect, Worker: worker}, r}})
	}
	service, err := made(func() (int, bool) { // the readiness probe of a frozen worker fails
		n := slices.IndexFunc(r.connect.Workers, func(w connect.Worker) bool { return w.Process == connect.Up })
		return n, n >= 0
	})
	return &connection.Workers{Service: service, Worker: func(pod string) (connectclient.Reader, func(), error) {
		n, err := strconv.Atoi(observation.Number(pod))
		if err != nil {
			return nil, nil, err
		}
		one, err := made(r.connect.One(n))
		return one, func() {}, err
	}}, func() {}, err
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) get() *kafkav1beta2.KafkaMirrorMaker2 {
	r.t.Helper()
	m := &kafkav1beta2.KafkaMirrorMaker2{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "my-mm2"}, m))
	return m
}

// edit edits the resource as a user does.
func (r *rig) edit(change func(m *kafkav1beta2.KafkaMirrorMaker2)) {
	r.t.Helper()
	m := r.get()
	change(m)
	r.must(r.client.Update(context.Background(), m))
}

// annotate requests an operation on connectors.
func (r *rig) annotate(operation, connectors string) {
	r.t.Helper()
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Annotations = map[string]string{"strimzi.io/connector-offsets": operation, "strimzi.io/mirrormaker-connector": connectors}
	})
}

// state edits the declared state of the source connector.
func state(s kafkav1beta2.ConnectorState) func(m *kafkav1beta2.KafkaMirrorMaker2) {
	return func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.State = s }
}

// step reconciles once and advances the time by a second, or by the pace of the rig.
func (r *rig) step() {
	r.t.Helper()
	r.stride(max(r.pace, time.Second))
}

// stride reconciles once and advances the time.
func (r *rig) stride(by time.Duration) {
	r.t.Helper()
	ctx := context.Background()
	_, err := r.run[0].Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "my-mm2"}})
	r.must(err)
	_, err = r.run[1].Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "my-mm2-mirrormaker2"}})
	r.must(err)
	r.must(lab.Defect(r.get()))
	r.kubelet()
	r.clock.Step(by)
	r.server.SetTime(r.clock.Now())
	if to := r.clock.Since(noon).Milliseconds(); to > r.connect.Now {
		r.connect.Tick(to)
	}
}

// kubelet runs the pods: one that is new starts its worker, one that is deleted ends it.
func (r *rig) kubelet() {
	r.t.Helper()
	var pods corev1.PodList
	r.must(r.client.List(context.Background(), &pods))
	alive := map[int]bool{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		n, err := strconv.Atoi(observation.Number(pod.Name))
		r.must(err)
		if pod.DeletionTimestamp != nil {
			r.must(r.server.Remove(pod))
			continue
		}
		alive[n] = true
		if pod.Spec.NodeName == "" {
			pod.Spec.NodeName = "node-1"
			r.must(r.client.Update(context.Background(), pod))
			r.must(r.client.Get(context.Background(), client.ObjectKeyFromObject(pod), pod))
			r.containers++
			r.connect.Kill(n)
			r.connect.Start(n, pod.Annotations["detent.dev/exactly-once"] == "true")
			pod.Status.Phase = corev1.PodRunning
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "connect", ContainerID: fmt.Sprintf("containerd://%d", r.containers), Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			r.must(r.client.Status().Update(context.Background(), pod))
		}
	}
	for i := range r.connect.Workers {
		if !alive[i] && r.connect.Workers[i].Process != connect.Dead {
			r.connect.Kill(i)
		}
	}
}

// until reconciles until the condition holds.
func (r *rig) until(what string, condition func() bool) {
	r.t.Helper()
	for range 1200 {
		if condition() {
			return
		}
		r.step()
	}
	m := r.get()
	for _, l := range m.Status.Lifecycles {
		r.t.Logf("%s: %s %v waits for %+v after %+v", l.Name, l.State, l.Data, l.WaitingFor, l.History)
	}
	for _, c := range m.Status.Conditions {
		r.t.Logf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	r.t.Fatalf("%s did not happen; annotations %v; writes %v", what, m.Annotations, r.writes)
}

// settled reports whether the resource is Ready at its newest generation.
func (r *rig) settled() bool {
	m := r.get()
	return m.Status.ObservedGeneration == m.Generation && slices.ContainsFunc(m.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == lifecycle.Ready && c.Status == metav1.ConditionTrue
	})
}

// warning returns the messages of the warnings with the reason.
func (r *rig) warning(reason string) string {
	var out []string
	for _, c := range r.get().Status.Conditions {
		if c.Type == lifecycle.Warning && c.Reason == reason {
			out = append(out, c.Message)
		}
	}
	return strings.Join(out, "\n")
}

// changes returns the requests that changed offsets.
func (r *rig) changes() []string {
	var out []string
	for _, w := range r.writes {
		if strings.HasSuffix(w, "/offsets") {
			out = append(out, w)
		}
	}
	return out
}

// configMap returns the ConfigMap; nil if there is none.
func (r *rig) configMap(name string) *corev1.ConfigMap {
	m := &corev1.ConfigMap{}
	if err := r.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, m); err != nil {
		return nil
	}
	return m
}

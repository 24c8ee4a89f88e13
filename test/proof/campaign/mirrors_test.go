package campaign_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	connectclient "github.com/detent-dev/detent/clients/connect"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	mirrormaker2controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	"github.com/detent-dev/detent/crds"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	mirrormaker2manager "github.com/detent-dev/detent/kinds/mirrormaker2/manager"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/connectworkers"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
	"github.com/detent-dev/detent/test/proof/campaign"
)

const (
	// mirrorName is the name of every KafkaMirrorMaker2, and mirrorSource that of its connector.
	mirrorName   = "mirror"
	mirrorSource = "east->west.MirrorSourceConnector"
	// documents is the ConfigMap that is listed into and altered from.
	documents = "documents"
)

const mirrored = `
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
spec:
  replicas: 1
  connectCluster: west
  clusters:
  - {alias: east, bootstrapServers: "east:9092"}
  - alias: west
    bootstrapServers: "west:9092"
    config: {offset.flush.interval.ms: 50, offset.flush.timeout.ms: 50, task.shutdown.graceful.timeout.ms: 50}
  mirrors:
  - sourceCluster: east
    targetCluster: west
    topicsPattern: orders
    sourceConnector:
      listOffsets: {toConfigMap: {name: documents}}
      alterOffsets: {fromConfigMap: {name: documents}}
`

// process is the id of a worker's process, which is the key of its record.
var process = regexp.MustCompile(`\b\d+\.[0-9a-f]{16}\b`)

// altered are the offsets that an alter requests: 90 of 100 records are before those that the connector has.
const altered = `{"offsets":[{"partition":{"cluster":"east","partition":0,"topic":"orders"},"offset":{"offset":9}}]}`

// requests are the operations on offsets, each a subject of its own.
func requests() map[string]connectoroffsets.Operation {
	return map[string]connectoroffsets.Operation{
		"connector offsets, list": connectoroffsets.List, "connector offsets, alter": connectoroffsets.Alter, "connector offsets, reset": connectoroffsets.Reset,
	}
}

// mirrorsSubject is a KafkaMirrorMaker2 whose connector mirrors, and of which a user requests an operation. An alter and a reset stop the
// connector in the same edit.
func mirrorsSubject(world *lands, name string, operation connectoroffsets.Operation) (*campaign.Subject, error) {
	graphs, err := mirrorGraphs()
	if err != nil {
		return nil, err
	}
	caches, err := resource.CacheOptions([]resource.Kind{kafkacontroller.Resource(), mirrormaker2controller.Resource()}, nil, nil)
	if err != nil {
		return nil, err
	}
	plans := map[connectoroffsets.Operation]int{connectoroffsets.List: 150, connectoroffsets.Alter: 250, connectoroffsets.Reset: 250}
	groups := &groups{all: map[string]*group{}}
	return &campaign.Subject{
		Name: name, Definitions: crds.Definitions, AddToScheme: []func(*k8sruntime.Scheme) error{kafkav1beta2.AddToScheme, corev1beta2.AddToScheme},
		Object: func(namespace string) lifecycle.Object { return mirrorOf(namespace) },
		Companions: func(namespace string) []client.Object {
			return []client.Object{&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: documents}, Data: map[string]string{connectclient.EntryName(mirrorSource): altered},
			}}
		},
		// One change, since a connector is stopped once.
		Changes: []func(client.Object){func(o client.Object) {
			if m, ok := o.(*kafkav1beta2.KafkaMirrorMaker2); ok {
				requested(m, operation)
			}
		}},
		Graphs: graphs, Masked: process, Cache: caches, Scale: 0.1, Plans: plans[operation], Sample: 4,
		Kinds: []client.Object{
			&kafkav1beta2.KafkaMirrorMaker2{}, &corev1beta2.StrimziPodSet{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{}, &corev1.ServiceAccount{},
			&policyv1.PodDisruptionBudget{}, &networkingv1.NetworkPolicy{},
		},
		World: func(a *campaign.Environment, namespace string) (campaign.World, error) {
			e := &estate{lands: world, land: world.begin(namespace), namespace: namespace}
			return &mirrors{estate: e, groups: groups, group: groups.begin(namespace)}, e.createNodes(a)
		},
		Meddling: map[string]campaign.Meddling{"its status wiped": wipeMirror},
	}, nil
}

func mirrorGraphs() (map[string]machines.Graph, error) {
	all, err := mirrormaker2controller.Machines()
	if err != nil {
		return nil, err
	}
	names := map[string]string{
		connectworkers.Name: observation.LifecycleWorkers, connector.Name: observation.LifecycleConnector, connectoroffsets.Name: observation.LifecycleOffsets,
	}
	graphs := map[string]machines.Graph{}
	for _, g := range all {
		if names[g.Name] == "" {
			return nil, fmt.Errorf("no campaign knows the machine %s", g.Name)
		}
		graphs[names[g.Name]] = g
	}
	return graphs, nil
}

func mirrorOf(namespace string) *kafkav1beta2.KafkaMirrorMaker2 {
	m := &kafkav1beta2.KafkaMirrorMaker2{}
	if err := yaml.UnmarshalStrict([]byte(mirrored), m); err != nil {
		panic(err) // it is a constant
	}
	m.Namespace, m.Name, m.Spec.Version = namespace, mirrorName, release(0)
	return m
}

// requested makes a request and changes the generation, so that the end of a run differs from its beginning.
func requested(m *kafkav1beta2.KafkaMirrorMaker2, operation connectoroffsets.Operation) {
	metav1.SetMetaDataAnnotation(&m.ObjectMeta, request.OperationAnnotation, string(operation))
	metav1.SetMetaDataAnnotation(&m.ObjectMeta, request.ConnectorAnnotation, mirrorSource)
	if m.Spec.Mirrors[0].SourceConnector.State = kafkav1beta2.ConnectorStopped; operation == connectoroffsets.List {
		m.Spec.Mirrors[0].SourceConnector.State = kafkav1beta2.ConnectorRunning
	}
}

// wipeMirror clears the status.
func wipeMirror(a *campaign.Environment, namespace string) error {
	ctx := context.Background()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		m := mirrorOf(namespace)
		if err := a.Admin.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err
		}
		m.Status = kafkav1beta2.KafkaMirrorMaker2Status{}
		return a.Admin.Status().Update(ctx, m)
	})
}

// mirrors is the world of one KafkaMirrorMaker2.
type mirrors struct {
	*estate
	groups *groups
	group  *group
}

// Register wires the same as the manager. The Kafka kind creates the pods of workers.
func (w *mirrors) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error, passes campaign.Passes) error {
	stop, err := operator.AddControllers(mgr, []operator.Kind{
		kafkamanager.New(kafkamanager.Options{Table: w.lands.table}),
		mirrormaker2manager.New(mirrormaker2manager.Options{
			Table: w.lands.table, Connect: w.connect(around), Alter: func(kind *mirrormaker2controller.Kind) { w.steer(kind, passes) },
		}),
	}, operator.Wiring{Version: "0.0.0-test", DeadlineScale: options.DeadlineScale, Workers: 4, SkipNameValidation: true})
	if err != nil {
		return err
	}
	return mgr.Add(lab.Closing(stop))
}

func (w *mirrors) connect(around func(string, func() error) error) func(connection.Endpoint) (*connection.Workers, func(), error) {
	return func(e connection.Endpoint) (*connection.Workers, func(), error) {
		g := w.groups.of(e.Name.Namespace)
		if g == nil {
			return nil, nil, fmt.Errorf("the workers of %s have ended", e.Name)
		}
		one, err := g.client()
		if err != nil {
			return nil, nil, err
		}
		return &connection.Workers{
			Service: &connectCaller{Client: one, group: g, around: around},
			Worker:  func(string) (connectclient.Reader, func(), error) { return one, func() {}, nil },
		}, one.Close, nil
	}
}

// steer counts reconciles and shortens the times after which a change is sent again.
func (w *mirrors) steer(kind *mirrormaker2controller.Kind, passes campaign.Passes) {
	observe, apply := kind.Observe, kind.Apply
	kind.Observe = func(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, viewing lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		if !viewing.Live {
			passes.Begun()
		}
		v, err := observe(ctx, m, viewing)
		if v != nil {
			v.Limits.Settle, v.Limits.Retry, v.Limits.Failed = time.Second, 200*time.Millisecond, time.Second
		}
		return v, err
	}
	kind.Apply = func(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, v *observation.Snapshot, write lifecycle.Writer) error {
		err := apply(ctx, m, v, write)
		if _, known := v.Connectors.Get(); known && err == nil { // a new operator has no answer of Connect yet
			passes.Ended()
		}
		return err
	}
}

// Begin lets the connector commit what it has copied.
func (w *mirrors) Begin() {
	w.group.mu.Lock()
	defer w.group.mu.Unlock()
	w.group.began = w.group.began.Add(-time.Minute)
	w.group.cluster.Tick(time.Since(w.group.began).Milliseconds() * speed)
}

// Lingers returns a request that is not done yet, and pods that are not ready.
func (w *mirrors) Lingers(recorder *campaign.WatchRecorder) string {
	for _, o := range recorder.Latest() {
		switch o := o.(type) {
		case *kafkav1beta2.KafkaMirrorMaker2:
			for _, annotation := range []string{request.OperationAnnotation, request.ConnectorAnnotation, keep.Annotation} {
				if value, found := o.Annotations[annotation]; found {
					return fmt.Sprintf("annotation %s is still %q", annotation, value)
				}
			}
			for i := range o.Status.Lifecycles {
				if l := &o.Status.Lifecycles[i]; l.UnknownSince != nil {
					return "lifecycle " + l.Name + " lacks facts"
				}
			}
		case *corev1beta2.StrimziPodSet:
			if s := o.Status; s.ObservedGeneration != o.Generation || s.ReadyPods != s.Pods {
				return o.Name + " does not show that its pods are ready"
			}
		case *policyv1.PodDisruptionBudget:
			if s := o.Status; s.ObservedGeneration != o.Generation || s.CurrentHealthy < s.ExpectedPods {
				return o.Name + " has not seen every pod"
			}
		}
	}
	return ""
}

// Effects returns the changes of offsets that Connect has executed, and what it has then.
func (w *mirrors) Effects() (out []string) {
	w.group.mu.Lock()
	out, w.group.changes = slices.Clone(w.group.changes), nil
	w.group.mu.Unlock()
	one, err := w.group.client()
	if err != nil {
		return append(out, err.Error())
	}
	defer one.Close()
	status, err := one.Status(context.Background(), mirrorSource)
	if err != nil {
		return append(out, err.Error())
	}
	offsets, err := one.Offsets(context.Background(), mirrorSource)
	if err != nil {
		return append(out, err.Error())
	}
	return append(out, fmt.Sprintf("%s with %d tasks at %s", status.Connector.State, len(status.Tasks), offsets))
}

// Judge returns workers that were restarted: no request needs that.
func (w *mirrors) Judge(history []campaign.Event) []string {
	var out []string
	taken := map[types.UID]bool{}
	for _, event := range history {
		if pod, ok := event.Object.(*corev1.Pod); ok && pod.DeletionTimestamp != nil && !taken[pod.UID] {
			taken[pod.UID] = true
			out = append(out, fmt.Sprintf("at revision %d the worker %s was taken away", event.Revision, pod.Name))
		}
	}
	return out
}

// Close stops the world.
func (w *mirrors) Close() {
	w.groups.end(w.namespace)
	w.estate.Close()
}

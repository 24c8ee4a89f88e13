package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	connectclient "github.com/detent-dev/detent/clients/connect"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	mirrormaker2controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	mirrormaker2manager "github.com/detent-dev/detent/kinds/mirrormaker2/manager"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/connect"
	"github.com/detent-dev/detent/test/lab"
)

// groups is the world of the KafkaMirrorMaker2 resources of a scene: a simulated group of workers for each, and a user who hinders and
// helps.
type groups struct {
	mu  sync.Mutex
	all map[client.ObjectKey]*group
}

// group are the workers of one resource. A group that was just made hinders nothing.
type group struct {
	hindered
	// held are the effects that are not executed. commands means that no command about the connector is.
	held     map[connectoroffsets.EffectKind]bool
	commands bool
	// patient waits without limit after a failure, and for the outcome of a change.
	patient bool
	// blind makes the offsets unreadable once a change was sent, and silent makes the worker silent.
	blind, silent bool
	// others are sent in place of the requested offsets: another program changes them at the same time.
	others string
	// changes counts the changes of offsets that were executed.
	changes int
	// sending are the changes that have no answer yet.
	sending sync.WaitGroup
	undo    []func()
}

func newGroups() *groups { return &groups{all: map[client.ObjectKey]*group{}} }

// at calls do with the group of a resource.
func (w *groups) at(key client.ObjectKey, do func(*group)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(w.of(key))
}

// of returns the group of a resource. The caller must hold w.mu.
func (w *groups) of(key client.ObjectKey) *group {
	g := w.all[key]
	if g == nil {
		g = &group{hindered: hindered{cluster: connect.New(connect.DefaultSettings(), 1, false), began: time.Now()}, held: map[connectoroffsets.EffectKind]bool{}}
		g.cluster.CreateTopic("orders", 1)
		g.cluster.Produce("orders", 100)
		w.all[key] = g
	}
	return g
}

// Scale of declared times: Connect is asked about each resource several times within an age.
func (*groups) Scale() float64 { return 0.15 }

// Cache returns the options of the manager's own cache.
func (w *groups) Cache() cache.Options {
	o, err := resource.CacheOptions([]resource.Kind{kafkacontroller.Resource(), mirrormaker2controller.Resource()}, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	return o
}

// Register registers the controllers that the manager registers. The Kafka kind creates the pods of workers.
func (w *groups) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error {
	stop, err := operator.AddControllers(mgr, []operator.Kind{
		kafkamanager.New(kafkamanager.Options{Table: outside.table}),
		mirrormaker2manager.New(mirrormaker2manager.Options{Table: outside.table, Connect: w.connect(around), Alter: w.steer}),
	}, operator.Wiring{Version: operatorVersion, DeadlineScale: options.DeadlineScale, Workers: 8, SkipNameValidation: true})
	if err != nil {
		return err
	}
	return mgr.Add(lab.Closing(stop))
}

func (w *groups) connect(around func(string, func() error) error) func(connection.Endpoint) (*connection.Workers, func(), error) {
	return func(e connection.Endpoint) (workers *connection.Workers, closes func(), err error) {
		w.at(e.Name, func(g *group) {
			if workers, closes, err = g.workers(e); err == nil {
				workers.Service = &changing{Client: workers.Service, groups: w, key: e.Name, around: around}
			}
		})
		return workers, closes, err
	}
}

// changing is a client whose changes of offsets are counted, and can be lost.
type changing struct {
	connectclient.Client
	groups *groups
	key    client.ObjectKey
	around func(string, func() error) error
}

// AlterOffsets implements connectclient.Writer.
func (c *changing) AlterOffsets(ctx context.Context, connector, body string) (message string, err error) {
	return c.change("alter", func() (string, error) {
		c.groups.at(c.key, func(g *group) {
			if g.others != "" {
				body = g.others
			}
		})
		return c.Client.AlterOffsets(ctx, connector, body)
	})
}

// ResetOffsets implements connectclient.Writer.
func (c *changing) ResetOffsets(ctx context.Context, connector string) (message string, err error) {
	return c.change("reset", func() (string, error) { return c.Client.ResetOffsets(ctx, connector) })
}

func (c *changing) change(what string, do func() (string, error)) (message string, err error) {
	var ended func()
	c.groups.at(c.key, func(g *group) {
		g.sending.Add(1)
		ended = g.sending.Done
	})
	defer ended()
	err = c.around(what+" the offsets", func() (err error) {
		if message, err = do(); err == nil {
			c.groups.at(c.key, func(g *group) { g.changes++ })
		}
		return err
	})
	return message, err
}

// stateOf returns the state after which an object of a scene was named.
func stateOf(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// documentOf is the ConfigMap of the offsets that a resource lists and alters.
func documentOf(name string) string { return name + "-document" }

// document of the offsets of the source connector.
func document(offset int) string {
	return fmt.Sprintf(`{"offsets":[{"partition":{"cluster":"east-kafka","partition":0,"topic":"orders"},"offset":{"offset":%d}}]}`, offset)
}

// Make returns a resource with one connector, whose workers commit often.
func (w *groups) Make(namespace, name string) lifecycle.Object {
	m := &kafkav1beta2.KafkaMirrorMaker2{}
	Expect(yaml.UnmarshalStrict([]byte(mirrored), m)).To(Succeed())
	m.Namespace, m.Name = namespace, name
	c := &m.Spec.Clusters[1]
	for property := range c.Config {
		c.Config[property] = value(50)
	}
	mirror := &m.Spec.Mirrors[0]
	mirror.CheckpointConnector = nil
	mirror.SourceConnector.ListOffsets.ToConfigMap.Name, mirror.SourceConnector.AlterOffsets.FromConfigMap.Name = documentOf(name), documentOf(name)
	return m
}

// Companions are the ConfigMap of the offsets, and the record of a request that was done before.
func (w *groups) Companions(namespace, name string) []client.Object {
	text := document(9)
	if stateOf(name) == "failed" {
		text = `{"offsets":[]}` // which Connect refuses
	}
	out := []client.Object{&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: documentOf(name)}, Data: map[string]string{connectclient.EntryName(mirrorSource): text},
	}}
	if stateOf(name) != "repeated" {
		return out
	}
	done, err := json.Marshal(connectoroffsets.Record{ID: "5f2c91a0", Operation: connectoroffsets.Reset, Phase: connectoroffsets.Done, DoneAt: time.Now().UTC()})
	Expect(err).NotTo(HaveOccurred())
	return append(out, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: keep.RequestName(name), Labels: render.Labels(name)},
		Data:       map[string]string{keep.Key(mirrorSource): string(done)},
	})
}

func mirrorIn(object lifecycle.Object) *kafkav1beta2.KafkaMirrorMaker2 {
	m, ok := object.(*kafkav1beta2.KafkaMirrorMaker2)
	Expect(ok).To(BeTrue())
	return m
}

// asks sets the annotations of a request, which may not be set yet.
func asks(m *kafkav1beta2.KafkaMirrorMaker2, operation connectoroffsets.Operation) {
	metav1.SetMetaDataAnnotation(&m.ObjectMeta, request.OperationAnnotation, string(operation))
	metav1.SetMetaDataAnnotation(&m.ObjectMeta, request.ConnectorAnnotation, mirrorSource)
}

// Change requests what leads to the state of the visit.
func (w *groups) Change(v Visit, object lifecycle.Object) {
	m := mirrorIn(object)
	source := m.Spec.Mirrors[0].SourceConnector
	switch v.State {
	case connectoroffsets.Idle:
	case connectoroffsets.Listing:
		asks(m, connectoroffsets.List)
	case connectoroffsets.Repeated:
		asks(m, connectoroffsets.Reset)
	case connectoroffsets.Refusing:
		asks(m, connectoroffsets.Alter)
	case connectoroffsets.AwaitingConnector:
		source.TasksMax = new(int32(2))
		fallthrough
	default:
		source.State = kafkav1beta2.ConnectorStopped
		asks(m, connectoroffsets.Alter)
	}
}

// Another requests something else of the connector.
func (w *groups) Another(_ string, object lifecycle.Object) string {
	m := mirrorIn(object)
	operation := connectoroffsets.List
	if m.Annotations[request.OperationAnnotation] == string(operation) {
		operation = connectoroffsets.Reset
		m.Spec.Mirrors[0].SourceConnector.State = kafkav1beta2.ConnectorStopped
	}
	asks(m, operation)
	return string(operation)
}

// Effects are the changes of the offsets.
func (w *groups) Effects(key client.ObjectKey, _ []lab.Request) (out []string) {
	w.at(key, func(g *group) { out = []string{fmt.Sprintf("the offsets were changed %d times", g.changes)} })
	return out
}

// End is what Connect has, and what is left of the request.
func (w *groups) End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	m := &kafkav1beta2.KafkaMirrorMaker2{}
	if err := reader.Get(ctx, key, m); err != nil {
		return "", err
	}
	w.mu.Lock()
	workers, closes, err := w.of(key).workers(connection.Endpoint{})
	w.mu.Unlock()
	if err != nil {
		return "", err
	}
	defer closes()
	offsets, err := workers.Service.Offsets(ctx, mirrorSource)
	if err != nil {
		return "", err
	}
	status, err := workers.Service.Status(ctx, mirrorSource)
	return fmt.Sprintf("%s with %d tasks, at %s; requested %q", status.Connector.State, len(status.Tasks), offsets, m.Annotations[request.OperationAnnotation]), err
}

package observation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Collector observes KafkaMirrorMaker2 resources. One instance serves all of a process. It is safe for concurrent use.
type Collector struct {
	// Table of the versions of Kafka. Required.
	Table *versions.Table
	// System reads from Connect. Required.
	System connection.System
	// Live reads from the API server: ConfigMaps that users name. Required.
	Live client.Reader
	// Hosts reads Node objects, to determine whether kubelets are alive. Required.
	Hosts client.Reader
	// Scale multiplies the times of Limits, as the runtime multiplies declared times. Optional; default: 1.
	Scale float64

	memory memory
}

// Cleanup drops the state of a deleted resource and closes the connections to its workers.
func (c *Collector) Cleanup(uid types.UID) {
	c.memory.drop(uid)
	c.System.Drop(uid)
}

// Collect observes a resource. A fact that Connect does not answer is unreadable or pending and is not an error.
func (c *Collector) Collect(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, r lifecycle.ObserveRequest) (*Snapshot, error) {
	v := &Snapshot{Now: r.Now, Limits: limits(c.Scale)}
	if err := c.objects(ctx, m, v, r); err != nil {
		return nil, err
	}
	version := c.version(m, v.Pods)
	v.Rendered = render.New(render.Input{Namespace: m.Namespace, Name: m.Name, Spec: &m.Spec, Version: version, Image: c.Table.Image(version)})
	v.Declared = v.Rendered.Connectors()
	v.Processes = c.processes(ctx, string(m.UID), v)
	c.requested(ctx, m, v)
	v.Restarts, v.RestartProblem = restarts(m.Annotations, v.Declared)
	c.answers(m, v, r)
	watches, err := c.watches(ctx, m, v, r)
	if err != nil {
		return nil, err
	}
	c.counted(m, v)
	c.connect(ctx, m, v, watches, r)
	c.recovered(m, v)
	return v, nil
}

// objects reads the pods, the pod set and the operator's ConfigMaps.
func (c *Collector) objects(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot, r lifecycle.ObserveRequest) error {
	var (
		sets corev1beta2.StrimziPodSetList
		pods corev1.PodList
		maps corev1.ConfigMapList
	)
	for _, list := range []client.ObjectList{&sets, &pods, &maps} {
		err := r.Read.List(ctx, list, client.InNamespace(m.Namespace), client.MatchingLabels(render.Selector(m.Name)), client.UnsafeDisableDeepCopy)
		switch {
		case errors.Is(err, lifecycle.ErrStale):
			return err
		case err != nil:
			return fmt.Errorf("listing %T of KafkaMirrorMaker2 %s/%s: %w", list, m.Namespace, m.Name, err)
		}
	}
	for i := range sets.Items {
		if sets.Items[i].Name == render.Name(m.Name) {
			v.Set = &sets.Items[i]
		}
	}
	for i := range pods.Items {
		v.Pods = append(v.Pods, &pods.Items[i])
	}
	slices.SortFunc(v.Pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	var records *corev1.ConfigMap
	for i := range maps.Items {
		switch one := &maps.Items[i]; one.Name {
		case render.ConfigName(m.Name):
			v.Config = one
		case render.AppliedName(m.Name):
			v.Applied = one
		case render.ProcessesName(m.Name):
			v.Recorded = one
		case keep.RequestName(m.Name):
			records = one
		}
	}
	v.Records, v.RecordsProblem = keep.Records(records, m.Spec.Connectors())
	return nil
}

// version returns the declared version, else that of the running workers: a newer default replaces no worker.
func (c *Collector) version(m *kafkav1beta2.KafkaMirrorMaker2, pods []*corev1.Pod) string {
	if m.Spec.Version != "" {
		return m.Spec.Version
	}
	for _, pod := range pods {
		if running := pod.Annotations[labels.KafkaVersion]; running != "" {
			return running
		}
	}
	return c.Table.Default().String()
}

// requested reads what the annotations request.
func (c *Collector) requested(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot) {
	read := func(ctx context.Context, name string) (*corev1.ConfigMap, error) {
		found := &corev1.ConfigMap{}
		if err := c.Live.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: name}, found); err != nil {
			return nil, err
		}
		if name == keep.BeforeName(m.Name) {
			keep.Undo(found, v.Records)
		}
		return found, nil
	}
	v.Requests = request.Read(ctx, request.Resource{Annotations: m.Annotations, Connectors: m.Spec.Connectors(), Reserved: []string{
		keep.BeforeName(m.Name), keep.RequestName(m.Name), render.ConfigName(m.Name), render.AppliedName(m.Name), render.ProcessesName(m.Name),
	}}, read)
	v.ExpireAfter, v.ExpireProblem = request.ExpireAfter(m.Annotations)
	shown := keep.Shown(m.Annotations)
	for name, one := range v.Requests.Of {
		one.Shown = slices.Contains(shown, v.Records[name].ID)
		v.Requests.Of[name] = one
	}
}

// answers reads the outcomes of the last commands.
func (c *Collector) answers(m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot, r lifecycle.ObserveRequest) {
	v.Answers, v.Failures = map[string]connectoroffsets.Answer{}, map[string]*transitions.Problem{}
	endpoint, uid := connection.EndpointOf(m), string(m.UID)
	for name := range v.Declared {
		if r := v.Records[name]; r.Sends == 0 || r.Phase != connectoroffsets.Accepted && r.Phase != connectoroffsets.Sent {
			c.memory.succeeds(uid, machines.EntryName(LifecycleOffsets, machines.InstanceName(name)))
		}
	}
	for entry, id := range r.RequestIDs {
		a := answerOf(c.System.Answer(endpoint, id))
		v.Answers[entry] = c.memory.answered(uid, entry, id, a, r.Now)
		if failure := c.memory.failure(uid, entry); failure != nil {
			v.Failures[entry] = failure
		}
	}
}

var errNoWorkers = errors.New("there are no workers: spec.replicas is 0")

// connect reads what Connect is asked. It is the last that is read: a live read of a worker that hangs takes the rest of the time of the
// observation.
func (c *Collector) connect(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot, watches []*watching, r lifecycle.ObserveRequest) {
	var queries []connection.Query
	var uses []func(*connection.Reading)
	ask := func(q connection.Query, use func(*connection.Reading)) {
		queries, uses = append(queries, q), append(uses, use)
	}
	if r.Wants(connector.NeedConnectors) {
		q := connection.Query{Question: connection.Question{About: connection.AboutConnectors}, MaxAge: r.MaxAge(connector.NeedConnectors)}
		q.Again = v.nextLook(c.Scale)
		q.Renew = q.Again / 2
		if under := c.inFlight(m, r); under {
			q.Renew, q.Again = time.Second, states.DefaultPoll
		}
		ask(q, func(reading *connection.Reading) { v.Connectors = external.Fact(reading, &reading.Answer.Connectors) })
	}
	for _, w := range watches {
		w.ask(ask)
	}
	switch {
	case v.Workerless():
		for _, use := range uses {
			use(&connection.Reading{Err: errNoWorkers})
		}
		if v.Connectors.Asked() { // none runs
			v.Connectors = transitions.Known(map[string]connection.Reported{}, r.Now)
		}
	case len(queries) > 0:
		readings := c.System.Read(ctx, connection.EndpointOf(m), queries, r.Live, r.Now)
		for i := range readings {
			uses[i](&readings[i])
		}
	}
	v.Offsets = make(map[string]*Offsets, len(watches))
	for _, w := range watches {
		v.Offsets[w.connector] = c.offsets(m, v, w, r)
	}
}

// inFlight reports whether a command may still change a connector.
func (c *Collector) inFlight(m *kafkav1beta2.KafkaMirrorMaker2, r lifecycle.ObserveRequest) bool {
	for entry := range r.RequestIDs {
		if f := c.System.InFlight(connection.EndpointOf(m), entry); f.Sent && r.Now.Before(f.Until) {
			return true
		}
	}
	return false
}

package plan

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/podset"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	simkafka "github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
	"github.com/detent-dev/detent/simulator/store"
)

// The drivers, in the order in which they run at equal times: the simulated world before its observers.
const (
	driveWorld = iota
	driveKubelet
	driveDeployments
	drivePodSets
	driveKafka
)

// machine is the name of the node that all pods are bound to.
const machine = "simulated"

// wake enqueues the jobs of a driver that watch the written object.
func (e *engine) wake(d int, w store.Write, at time.Time) {
	name := client.ObjectKeyFromObject(w.Object)
	switch d {
	case driveKubelet:
		if _, isPod := w.Object.(*corev1.Pod); isPod {
			e.queue.at(job{d, name}, at)
		}
	case driveDeployments:
		if _, isDeployment := w.Object.(*appsv1.Deployment); isDeployment {
			e.queue.at(job{d, name}, at)
		}
	case drivePodSets:
		e.store.Objects(corev1beta2.GroupVersion().WithKind("StrimziPodSet"), func(o client.Object) {
			if o.GetNamespace() == name.Namespace {
				e.queue.at(job{d, client.ObjectKeyFromObject(o)}, at)
			}
		})
	case driveKafka:
		e.store.Objects(kafkav1beta2.GroupVersion().WithKind(kafkav1beta2.KindKafka), func(o client.Object) {
			if o.GetNamespace() == name.Namespace {
				e.queue.at(job{d, client.ObjectKeyFromObject(o)}, at)
			}
		})
	}
}

// expectWorld enqueues the next event of the simulated Kafka clusters.
func (e *engine) expectWorld() {
	for _, c := range e.world.Clusters() {
		if at, ok := c.Kafka.NextEvent(); ok {
			e.queue.at(job{driver: driveWorld}, later(e.clock.now, e.world.Timeline.Time(at)))
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// happen lets the kubelets probe every process after an event in Kafka, now and until a readiness probe has noticed it.
func (e *engine) happen(context.Context, types.NamespacedName) (reconcile.Result, error) {
	e.look()
	return reconcile.Result{}, nil
}

// noticed is the maximum time until a readiness probe reports a change of a process.
const noticed = 20 * time.Second

func (e *engine) look() {
	e.watching = e.clock.now.Add(noticed)
	e.store.Objects(corev1.SchemeGroupVersion.WithKind("Pod"), func(o client.Object) {
		e.queue.at(job{driveKubelet, client.ObjectKeyFromObject(o)}, e.clock.now)
	})
}

// rollOut completes the rollout of a Deployment.
func (e *engine) rollOut(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
	d := &appsv1.Deployment{}
	if err := e.client.Get(ctx, name, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !kubelet.RollOut(d, e.world) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, e.client.Status().Update(ctx, d)
}

// sync lets the kubelet advance one pod.
func (e *engine) sync(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := e.client.Get(ctx, name, pod); apierrors.IsNotFound(err) {
		e.world.Gone(name)
		return reconcile.Result{}, nil
	} else if err != nil {
		return reconcile.Result{}, err
	}
	if e.frozen[pod.UID] {
		return reconcile.Result{}, e.thaw(pod)
	}
	mounts, err := kubelet.MountsOf(ctx, e.client, pod)
	if err != nil {
		return reconcile.Result{}, err
	}
	step, _ := e.world.Pods().Find(name)
	out := e.world.Sync(pod, mounts, []kubelet.Node{{Name: machine}})
	if after, _ := e.world.Pods().Find(name); after.Step != step.Step {
		e.watching = e.clock.now.Add(noticed)
	}
	if err := e.apply(ctx, pod, &out); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: e.again(name, out.Next)}, nil
}

// again returns the delay until the next sync of a pod. A ready process is synced only while events may affect it.
func (e *engine) again(name types.NamespacedName, next int64) time.Duration {
	p, known := e.world.Pods().Find(name)
	if next == 0 || known && p.Step == kubelet.Running && p.Ready && e.clock.now.After(e.watching) {
		return 0
	}
	return max(e.world.Timeline.Time(next).Sub(e.clock.now), time.Millisecond)
}

func (e *engine) apply(ctx context.Context, pod *corev1.Pod, out *kubelet.Outcome) error {
	if out.Status != nil {
		pod = pod.DeepCopy()
		pod.Status = *out.Status
		if err := e.client.Status().Update(ctx, pod); err != nil {
			return err
		}
	}
	if out.Bind != "" {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = out.Bind
		if err := e.client.Update(ctx, pod); err != nil {
			return err
		}
	}
	if out.Remove {
		return e.remove(pod)
	}
	return nil
}

// remove deletes a pod that has stopped from the store.
func (e *engine) remove(pod *corev1.Pod) error {
	if err := e.store.Remove(pod); err != nil {
		return err
	}
	e.world.Gone(client.ObjectKeyFromObject(pod))
	e.written(store.Write{Verb: "delete", Object: pod})
	return nil
}

// thaw deletes a frozen pod once it has a deletion timestamp. Until then the pod keeps the state of the input.
func (e *engine) thaw(pod *corev1.Pod) error {
	if pod.DeletionTimestamp == nil {
		return nil
	}
	return e.remove(pod)
}

// connect returns a client of the simulated cluster that records writes.
func (e *engine) connect(at kafka.Endpoint) (kafkaclient.Client, func(), error) {
	c := e.world.Cluster(at.Name)
	return &taped{Client: simkafka.Memory{Cluster: c.Kafka}, engine: e, cluster: at.Name}, func() {}, nil
}

// taped is a Kafka client that records its writes.
type taped struct {
	kafkaclient.Client
	engine  *engine
	cluster types.NamespacedName
}

func (t *taped) done(verb, target string) {
	e := t.engine
	e.changed = e.clock.now
	if track := e.tape.tracks[t.cluster]; track != nil {
		e.tape.effect(track, Kafka, verb, target, e.clock.now)
	}
	e.look()
}

// UpdateFeature implements kafkaclient.Writer.
func (t *taped) UpdateFeature(ctx context.Context, u kafkaclient.FeatureUpdate) error {
	err := t.Client.UpdateFeature(ctx, u)
	if !u.ValidateOnly {
		t.done(VerbUpdateFeatures, u.Name+"="+levelWord(u.Name, u.Level))
	}
	return err
}

// UnregisterBroker implements kafkaclient.Writer.
func (t *taped) UnregisterBroker(ctx context.Context, id int32) error {
	err := t.Client.UnregisterBroker(ctx, id)
	t.done(VerbUnregister, fmt.Sprint(id))
	return err
}

// levelWord formats a level in the form that users write.
func levelWord(feature string, level int16) string {
	if name, named := versions.MetadataName(level); named && feature == versions.FeatureMetadata {
		return name
	}
	return fmt.Sprint(level)
}

// kafkaDriver is the name of the driver whose pod deletions are restarts.
const kafkaDriver = "Kafka"

// assemble creates the drivers: the controllers of the operator and the parts of the simulated world.
func (e *engine) assemble(o Options) error {
	e.collector = &kafka.Collector{
		Table: e.in.Table, System: &kafka.Direct{Protocol: kafka.NewProtocol(e.connect)}, Hosts: e.client,
		Options: kafka.Options{OperatorVersion: o.OperatorVersion, Finalizing: o.Finalizing},
	}
	kind, err := kafka.NewKind(e.collector, &kafka.Effects{Client: e.client, Live: e.client})
	if err != nil {
		return err
	}
	children := lifecycle.NewChildren(e.client, e.client, e.clock)
	disruptionLocks := lifecycle.NewDisruptionLocks()
	clusters := lifecycle.New(kind, lifecycle.Options{Client: e.client, Live: e.client, Clock: e.clock, Children: children, DisruptionLocks: disruptionLocks, Journal: o.Journal})
	disruptor := &kafka.Disruptor{Collector: e.collector, DisruptionLocks: disruptionLocks, Live: e.client, Clock: e.clock}
	sets := &podset.Reconciler{Client: e.client, Live: e.client, Children: children, Clock: e.clock, Disrupt: disruptor.Disrupt}
	e.drivers = []driver{
		driveWorld:       {name: "the world", run: e.happen},
		driveKubelet:     {name: "Pod", run: e.sync},
		driveDeployments: {name: "Deployment", run: e.rollOut},
		drivePodSets:     {name: "StrimziPodSet", operator: true, run: reconciling(sets)},
		driveKafka:       {name: kafkaDriver, operator: true, run: reconciling(clusters)},
	}
	return nil
}

func reconciling(r reconcile.Reconciler) func(context.Context, types.NamespacedName) (reconcile.Result, error) {
	return func(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
		return r.Reconcile(ctx, reconcile.Request{NamespacedName: name})
	}
}

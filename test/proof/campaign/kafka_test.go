package campaign_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/crds"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kubelet"
	"github.com/detent-dev/detent/test/lab"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// cluster is the name of every cluster.
const cluster = "orders"

// pools of a cluster: how many nodes with which roles.
type pools []pool

type pool struct {
	name  string
	nodes int
	roles []kafkav1beta2.NodeRole
}

const (
	controller = kafkav1beta2.RoleController
	broker     = kafkav1beta2.RoleBroker
)

var (
	dualRoles = pools{{"d", 3, []kafkav1beta2.NodeRole{controller, broker}}}
	shrinking = pools{{"d", 1, []kafkav1beta2.NodeRole{controller, broker}}, {"b", 4, []kafkav1beta2.NodeRole{broker}}}
	separate  = pools{{"c", 3, []kafkav1beta2.NodeRole{controller}}, {"b", 3, []kafkav1beta2.NodeRole{broker}}}
)

// alter changes the kind before it is registered, to seed a defect.
type alter func(*kafkacontroller.Kind)

// kafkaSubject is a cluster at rest that a user changes.
func kafkaSubject(world *lands, name string, of pools, changes changes, bug alter) (*campaign.Subject, error) {
	all, err := kafkacontroller.Machines()
	if err != nil {
		return nil, err
	}
	graphs := map[string]machines.Graph{}
	for _, g := range all {
		switch g.Name {
		case kafkaversion.Name:
			graphs[observation.LifecycleVersion] = g
		case noderoll.Name:
			graphs[observation.LifecycleRoll] = g
		case nodestorage.Name:
			graphs[observation.LifecycleStorage] = g
		case kraftscaledown.Name:
			graphs[observation.LifecycleScaleDown] = g
		case dynamicconfig.Name:
			graphs[observation.LifecycleConfiguration] = g
		default:
			return nil, fmt.Errorf("no campaign knows the machine %s", g.Name)
		}
	}
	caches, err := resource.CacheOptions([]resource.Kind{kafkacontroller.Resource()}, nil, nil)
	if err != nil {
		return nil, err
	}
	return &campaign.Subject{
		Name: name, Definitions: crds.Definitions, AddToScheme: []func(*k8sruntime.Scheme) error{kafkav1beta2.AddToScheme, corev1beta2.AddToScheme},
		Object: func(namespace string) lifecycle.Object { return changes.begin(kafkaOf(namespace)) }, Companions: of.objects,
		Changes: changes.make, Edited: changes.of, Graphs: graphs, Plans: changes.plans,
		Kinds: []client.Object{
			&kafkav1beta2.Kafka{}, &kafkav1beta2.KafkaNodePool{}, &corev1beta2.StrimziPodSet{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{},
			&corev1.PersistentVolumeClaim{}, &corev1.ServiceAccount{}, &policyv1.PodDisruptionBudget{}, &appsv1.Deployment{},
		},
		Cache: caches, Scale: cmp.Or(changes.scale, 0.1), Sample: changes.sample,
		World: func(a *campaign.Environment, namespace string) (campaign.World, error) {
			e := &estate{lands: world, land: world.begin(namespace), namespace: namespace, removal: changes.removal, bug: bug}
			return e, e.createNodes(a)
		},
		Outages:  world.outages(),
		Meddling: map[string]campaign.Meddling{"a pool's and its set's status wiped": wipeStatuses},
	}, nil
}

// changes are a user's changes of a cluster.
type changes struct {
	make []func(client.Object)
	// of returns the object that they edit. Optional; default: the Kafka resource.
	of func(namespace string) client.Object
	// removal is what else is arranged and judged if the changes remove brokers. Optional.
	removal *removal
	// start changes the cluster before it is created. Optional.
	start func(*kafkav1beta2.Kafka)
	// scale of declared times. Optional; default: 0.1.
	scale float64
	// plans is the minimum number of plans, and sample the size of an ordinary sample.
	plans, sample int
}

// begin returns the cluster as it is created.
func (c changes) begin(k *kafkav1beta2.Kafka) *kafkav1beta2.Kafka {
	if c.start != nil {
		c.start(k)
	}
	return k
}

func changing(do func(*kafkav1beta2.Kafka)) func(client.Object) {
	return func(o client.Object) {
		if k, ok := o.(*kafkav1beta2.Kafka); ok {
			do(k)
		}
	}
}

// upgrades returns n changes from release to release.
func upgrades(n int) changes {
	out := changes{plans: 1000}
	for n := range n {
		out.make = append(out.make, changing(func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version = release(n + 1) }))
	}
	return out
}

// settings returns changes of a setting that a node reads when it starts. Its sample is smaller than that of the upgrades, whose roll it
// shares.
func settings() changes {
	out := changes{plans: 1000, sample: 8}
	for threads := range len(levels()) - 1 { // as many as there are upgrades
		out.make = append(out.make, changing(func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Config["queued.max.requests"] = value(8 + threads) }))
	}
	return out
}

// alterations returns changes of a configuration that Kafka takes without a restart. The last one goes back to what the brokers were
// started with.
func alterations() changes {
	out := changes{plans: 60, sample: 6}
	for _, codec := range []string{"zstd", "lz4", ""} {
		out.make = append(out.make, changing(func(k *kafkav1beta2.Kafka) {
			if k.Spec.Kafka.Config["compression.type"] = value(codec); codec == "" {
				delete(k.Spec.Kafka.Config, "compression.type")
			}
		}))
	}
	return out
}

func kafkaOf(namespace string) *kafkav1beta2.Kafka {
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}}
	k.Spec.Kafka = kafkav1beta2.KafkaClusterSpec{
		Version: release(0), Listeners: []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: "internal"}},
		Config: map[string]apiextensionsv1.JSON{
			"broker.session.timeout.ms": value(1000), "default.replication.factor": value(3), "min.insync.replicas": value(2),
			"offsets.topic.replication.factor": value(3), "transaction.state.log.replication.factor": value(3), "transaction.state.log.min.isr": value(2),
		},
	}
	return k
}

func value(v any) apiextensionsv1.JSON {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // of a number
	}
	return apiextensionsv1.JSON{Raw: raw}
}

func (p pools) objects(namespace string) []client.Object {
	var out []client.Object
	for _, one := range p {
		o := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: one.name, Labels: map[string]string{labels.Cluster: cluster}}}
		o.Spec = kafkav1beta2.KafkaNodePoolSpec{Replicas: int32(one.nodes), Roles: one.roles}
		o.Spec.Storage = kafkav1beta2.Storage{Type: "jbod", Volumes: []kafkav1beta2.Volume{{ID: 0, Type: "persistent-claim", Disk: kafkav1beta2.Disk{Size: "1Gi"}}}}
		out = append(out, o)
	}
	return out
}

// estate is the world of one cluster.
type estate struct {
	*land
	lands       *lands
	namespace   string
	removal     *removal
	bug         alter
	removeNodes func() error
}

// createNodes creates nodes for the namespace alone, so that the loss of a kubelet affects one run only.
func (e *estate) createNodes(a *campaign.Environment) error {
	var names []string
	for n := range 3 {
		names = append(names, fmt.Sprintf("%s-node-%d", e.namespace, n+1))
	}
	e.removeNodes = func() error {
		var errs []error
		for _, name := range names {
			errs = append(errs, client.IgnoreNotFound(a.Admin.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})))
		}
		return errors.Join(errs...)
	}
	return kubelet.CreateNodes(context.Background(), a.Admin, time.Now(), names...)
}

// Register wires the same as the manager.
func (e *estate) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error, passes campaign.Passes) error {
	kind := kafkamanager.New(kafkamanager.Options{
		Table: e.lands.table,
		Connect: func(to connection.Endpoint) (kafkaclient.Client, func(), error) {
			return &caller{lands: e.lands, cluster: to.Name, around: around}, func() {}, nil
		},
		Alter: func(kind *kafkacontroller.Kind) {
			request := kind.Observe
			kind.Observe = func(ctx context.Context, k *kafkav1beta2.Kafka, viewing lifecycle.ObserveRequest) (*observation.Snapshot, error) {
				if !viewing.Live {
					passes.Begun()
				}
				v, err := request(ctx, k, viewing)
				if v != nil {
					v.Options.RefusalPause = 200 * time.Millisecond
				}
				return v, err
			}
			apply := kind.Apply
			kind.Apply = func(ctx context.Context, k *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer) error {
				err := apply(ctx, k, snapshot, write)
				if err == nil {
					passes.Ended()
				}
				return err
			}
			if e.bug != nil {
				e.bug(kind)
			}
		},
	})
	stop, err := operator.AddControllers(mgr, []operator.Kind{kind}, operator.Wiring{
		Version: "0.0.0-test", DeadlineScale: options.DeadlineScale, Workers: 4, SkipNameValidation: true,
	})
	if err != nil {
		return err
	}
	return mgr.Add(lab.Closing(stop))
}

// Begin ages every process, so that none counts as starting when a change begins, and places the replicas.
func (e *estate) Begin() {
	e.lands.now(e.namespace, func(l *land) {
		for _, p := range l.state.Pods().All() {
			l.state.Pods().Age(p.NamespacedName, time.Hour)
		}
		if e.removal != nil {
			e.removal.begin(l, l.state.Cluster(types.NamespacedName{Namespace: e.namespace, Name: cluster}).Kafka)
		}
	})
}

// Lingers returns whether Kafka has not yet reported the levels, whether it could not be asked, or a node whose storage may be
// formatted until it was observed, and whether pools and pod sets still show an earlier state of their pods.
func (e *estate) Lingers(recorder *campaign.WatchRecorder) string {
	level, altered := int16(0), false
	e.lands.now(e.namespace, func(l *land) {
		on := l.state.Cluster(types.NamespacedName{Namespace: e.namespace, Name: cluster}).Kafka
		level, altered = on.Level(kafkaclient.MetadataVersion), len(on.Dynamic) > 0
	})
	for _, o := range recorder.Latest() {
		switch o := o.(type) {
		case *kafkav1beta2.Kafka:
			if c := meta.FindStatusCondition(o.Status.Conditions, status.VersionSettled); c == nil || c.Status != metav1.ConditionTrue {
				return "the version is not settled"
			}
			for i := range o.Status.Lifecycles { // Kafka was silent, as after the end of a broker, and has not been asked again
				if l := &o.Status.Lifecycles[i]; l.UnknownSince != nil {
					return "lifecycle " + l.Name + " lacks facts"
				}
			}
		case *kafkav1beta2.KafkaNodePool:
			if !meta.IsStatusConditionTrue(o.Status.Conditions, lifecycle.Ready) {
				return o.Name + " does not show that its nodes are ready"
			}
			if s, n := o.Status, o.Spec.Replicas; s.ObservedGeneration != o.Generation || s.Replicas != n || len(s.NodeIDs) != int(n) {
				return fmt.Sprintf("%s is to have %d nodes and has %d on the ids %v", o.Name, n, s.Replicas, s.NodeIDs)
			}
		case *corev1beta2.StrimziPodSet:
			if s := o.Status; s.ObservedGeneration != o.Generation || s.ReadyPods != s.Pods {
				return o.Name + " does not show that its pods are ready"
			}
		case *corev1.ConfigMap:
			if o.Labels[labels.Record] == labels.RecordConfiguration && !altered {
				return o.Name + " names what has no dynamic value"
			}
			if o.Labels[labels.Record] != labels.RecordNode {
				continue
			}
			r, err := record.Decode(o.Data)
			switch {
			case err != nil:
				return o.Name + ": " + err.Error()
			case r.Format != record.FormatDone:
				return o.Name + " allows to format"
			case r.Levels[kafkaclient.MetadataVersion].Finalized != level:
				return o.Name + " does not show the level that Kafka has"
			}
		case *corev1.Pod:
			if annotated := o.Annotations[labels.KafkaVersion]; annotated != runs(o) {
				return fmt.Sprintf("%s runs %s and is annotated %q", o.Name, runs(o), annotated)
			}
		case *policyv1.PodDisruptionBudget:
			if s := o.Status; s.ObservedGeneration != o.Generation || len(s.DisruptedPods) > 0 || s.CurrentHealthy < s.ExpectedPods {
				return o.Name + " has not seen every pod come back"
			}
		}
	}
	return ""
}

// Effects returns the levels that were changed, and the brokers that were unregistered.
func (e *estate) Effects() (out []string) {
	e.lands.now(e.namespace, func(l *land) { out, l.moved = l.moved, nil })
	return out
}

// Harm returns what was wrong with a process at any time.
func (e *estate) Harm() (out []string) {
	e.lands.now(e.namespace, func(l *land) { out, l.harm = slices.Compact(l.harm), nil })
	return out
}

// Close stops the world.
func (e *estate) Close() {
	e.lands.end(e.namespace)
	if err := e.removeNodes(); err != nil {
		panic(fmt.Errorf("removing the nodes of %s: %w", e.namespace, err))
	}
}

// wipeStatuses clears the statuses of the pools and pod sets of a namespace.
func wipeStatuses(a *campaign.Environment, namespace string) error {
	ctx := context.Background()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var pools kafkav1beta2.KafkaNodePoolList
		if err := a.Admin.List(ctx, &pools, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range pools.Items {
			pools.Items[i].Status = kafkav1beta2.KafkaNodePoolStatus{}
			if err := a.Admin.Status().Update(ctx, &pools.Items[i]); err != nil {
				return err
			}
		}
		var sets corev1beta2.StrimziPodSetList
		if err := a.Admin.List(ctx, &sets, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range sets.Items {
			sets.Items[i].Status = corev1beta2.StrimziPodSetStatus{}
			if err := a.Admin.Status().Update(ctx, &sets.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
	"github.com/detent-dev/detent/transitions"
)

// estate is the world of the Kafka clusters of a scene: the simulated one, and a user who hinders and helps.
type estate struct {
	mu    sync.Mutex
	sites map[client.ObjectKey]*site
	// maxActive is how many clusters may roll at once; 0 for any number.
	maxActive int
	approval  bool // every cluster raises by approval, also a released one
	// scale of declared times, if not 0.
	scale float64
}

// site is one cluster. The zero value hinders nothing.
type site struct {
	// updates, unregistrations, and alterations, block while this is open.
	updates, unregistrations, alterations chan struct{}
	// losesAlterations loses requests to alter configurations without an answer.
	losesAlterations bool
	// byApproval requires an approval to raise the metadata level; patient waits without limit after a refusal.
	byApproval, patient bool
	// queued keeps its roll from getting a slot.
	queued bool
	// blind makes the finalized levels unreadable.
	blind bool
	// silent makes quorum and partitions unreadable at once. Answers from before Kafka became unreachable would be accepted until they
	// are too old, and the roll could select a node.
	silent bool
	// keepsCordons makes Kafka refuse to lift a cordon.
	keepsCordons bool
	// disturb changes what the operator observes, and waits reports whether an effect is not executed. Optional.
	disturb func(*observation.Snapshot, lifecycle.ObserveRequest)
	waits   func(kafkacontroller.Effect) bool
	undo    []func()
}

func newEstate() *estate { return &estate{sites: map[client.ObjectKey]*site{}} }

func (e *estate) at(key client.ObjectKey, do func(*site)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sites[key] == nil {
		e.sites[key] = &site{}
	}
	do(e.sites[key])
}

// Scale of declared times: each cluster is read several times within an age, and there are many clusters.
func (e *estate) Scale() float64 { return cmp.Or(e.scale, 0.15) }

// Cache returns the options of the manager's own cache.
func (e *estate) Cache() cache.Options {
	o, err := resource.CacheOptions([]resource.Kind{kafkacontroller.Resource()}, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	return o
}

// Describe names a write, and the state of the removal of brokers that it stores.
func (e *estate) Describe(request *http.Request, seen lab.Request) string {
	var o kafkav1beta2.Kafka
	if seen.Resource != "kafkas" || seen.Subresource != "status" || json.Unmarshal(lab.Body(request), &o) != nil {
		return seen.String()
	}
	shown := observation.LifecycleScaleDown
	if state := entryOf(&o, observation.LifecycleConfiguration).State; state != "" && state != dynamicconfig.Settled {
		shown = observation.LifecycleConfiguration
	}
	return fmt.Sprintf("%s: %s in %s", seen, shown, entryOf(&o, shown).State)
}

// Register registers the controllers that the manager registers.
func (e *estate) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error {
	kind := kafkamanager.New(kafkamanager.Options{Table: outside.table, Connect: e.connect(around), Alter: e.steer, MaxActive: e.maxActive})
	stop, err := operator.AddControllers(mgr, []operator.Kind{kind}, operator.Wiring{
		Version: operatorVersion, DeadlineScale: options.DeadlineScale, Workers: 8, SkipNameValidation: true,
	})
	if err != nil {
		return err
	}
	return mgr.Add(lab.Closing(stop))
}

// steer gives each cluster the options that its visit requires.
func (e *estate) steer(kind *kafkacontroller.Kind) {
	request, execute := kind.Observe, kind.Execute
	kind.Execute = func(ctx context.Context, t lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, kafkacontroller.Effect]) error {
		waits := false
		e.at(client.ObjectKeyFromObject(t.Object), func(s *site) { waits = s.waits != nil && s.waits(t.Effect) })
		if waits {
			return lifecycle.ErrWait
		}
		return execute(ctx, t)
	}
	kind.Observe = func(ctx context.Context, k *kafkav1beta2.Kafka, viewing lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		v, err := request(ctx, k, viewing)
		e.at(client.ObjectKeyFromObject(k), func(s *site) {
			v.Options.RefusalPause = 200 * time.Millisecond
			if s.blind && viewing.Wants(kafkaversion.NeedFeatures) {
				v.Features = transitions.Unreadable[kafkaclient.Features](errors.New("no broker answers"))
			}
			if s.silent && viewing.Wants(roll.NeedQuorum) {
				v.Quorum = transitions.Unreadable[kafkaclient.Quorum](errors.New("no broker answers"))
			}
			if s.silent && viewing.Wants(roll.NeedPartitions) {
				v.Partitions = transitions.Unreadable[kafkaclient.Partitions](errors.New("no broker answers"))
			}
			if s.queued && viewing.Wants(noderoll.NeedSlot) {
				v.Slot = transitions.Known(noderoll.Slot{Position: 1, MaxActive: 1, Taken: 1}, viewing.Now)
			}
			if s.patient {
				v.Options.RefusalPause = time.Hour
			}
			if s.byApproval || e.approval {
				v.Options.Finalizing = observation.FinalizeByApproval
			}
			if s.disturb != nil {
				s.disturb(v, viewing)
			}
		})
		return v, err
	}
}

// Make returns a new cluster: most on an older version, some with a metadata level that permits a downgrade.
func (e *estate) Make(namespace, name string) lifecycle.Object {
	level := ""
	switch _, state := visitNamed(name); state {
	case "checking", "awaitingsnapshot", "verifying":
		level = oldLevel
	}
	return kafkaOf(namespace, name, old, level, nodesOf(name))
}

// poolName is short: pods are named after cluster and pool, and host names have a maximum length.
func poolName(cluster string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(cluster)) // never fails
	return fmt.Sprintf("p%08x", h.Sum32())
}

// podOf is the first pod of a cluster of a scene.
func podOf(cluster client.ObjectKey) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster.Namespace, Name: fmt.Sprintf("%s-%s-0", cluster.Name, poolName(cluster.Name))}
}

// Companions are created before the object itself.
func (e *estate) Companions(namespace, name string) []client.Object {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	return []client.Object{poolOf(key, poolName(name), nodesOf(name), controllerRole, brokerRole)}
}

func kafkaIn(object lifecycle.Object) *kafkav1beta2.Kafka {
	k, ok := object.(*kafkav1beta2.Kafka)
	Expect(ok).To(BeTrue())
	return k
}

// Change changes the spec so that the object reaches the state of the visit.
func (e *estate) Change(v Visit, object lifecycle.Object) {
	k := kafkaIn(object)
	switch v.Lifecycle {
	case observation.LifecycleRoll:
		if v.State != "Settled" {
			k.Spec.Kafka.Config["queued.max.requests"] = value(24)
		}
		return
	case observation.LifecycleConfiguration:
		if v.State != dynamicconfig.Settled && v.State != dynamicconfig.Forgetting {
			k.Spec.Kafka.Config[compression] = value("zstd")
		}
		return
	}
	switch v.State {
	case "Settled":
	case "Checking", "AwaitingSnapshot":
		k.Spec.Kafka.Version = oldest
	case "Refused":
		k.Spec.Kafka.Version = nowhere
	case "Verifying":
		k.Spec.Kafka.MetadataVersion = newerLevel
	case "Soaking":
		k.Spec.Kafka.Version = newer
		k.Annotations = map[string]string{facts.AnnotationSoak: "1h"}
	default:
		k.Spec.Kafka.Version = newer
	}
}

// Release removes what hinders, and reverts a spec that can never be reached.
func (e *estate) Release(object lifecycle.Object) {
	k := kafkaIn(object)
	if k.Spec.Kafka.Version == nowhere {
		k.Spec.Kafka.Version = old
	}
	delete(k.Annotations, facts.AnnotationSoak)
	var undo []func()
	e.at(client.ObjectKeyFromObject(object), func(s *site) {
		undo = s.undo
		if s.updates != nil {
			close(s.updates)
		}
		*s = site{}
	})
	for _, f := range undo {
		f()
	}
}

// Another requests another version, or another setting. The target of a roll is a digest, which cannot be predicted.
func (e *estate) Another(name string, object lifecycle.Object) string {
	k := kafkaIn(object)
	switch name {
	case observation.LifecycleRoll:
		k.Spec.Kafka.Config["queued.max.requests"] = value(48)
		return ""
	case observation.LifecycleConfiguration:
		k.Spec.Kafka.Config[compression] = value("lz4")
		return compression + "=lz4, min.insync.replicas=" + string(k.Spec.Kafka.Config["min.insync.replicas"].Raw)
	}
	k.Spec.Kafka.Version = newest
	return newest
}

// Effects are how often each pod was created, and how often a level was changed.
func (e *estate) Effects(key client.ObjectKey, _ []lab.Request) []string {
	out := outside.born.of(key)
	return append(out, fmt.Sprintf("levels at epoch %d", featureEpoch(key)))
}

// End is what is running, what the status says about it, and what was altered.
func (e *estate) End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	k := &kafkav1beta2.Kafka{}
	if err := reader.Get(ctx, key, k); err != nil {
		return "", err
	}
	pods, err := podsOf(ctx, reader, key)
	if err != nil {
		return "", err
	}
	altered := &corev1.ConfigMap{}
	err = reader.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: render.AlteredName(key.Name)}, altered)
	if client.IgnoreNotFound(err) != nil {
		return "", err
	}
	return fmt.Sprintf("%s; status: version %s at %s, nodes %v; dynamic %v, recorded %v",
		versionsOf(pods), k.Status.KafkaVersion, k.Status.KafkaMetadataVersion, k.Status.NodeIDs, dynamicOf(key), altered.Data), nil
}

// Lingers reports what is still pending: the levels were not read from Kafka yet, a node has a permission to format its storage until it
// was seen, or the record names a configuration until no request can take effect any more.
func (e *estate) Lingers(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	k := &kafkav1beta2.Kafka{}
	if err := reader.Get(ctx, key, k); err != nil {
		return "", err
	}
	if c := conditionOf(k, status.VersionSettled); c.Status != metav1.ConditionTrue {
		return c.Message, nil
	}
	var records corev1.ConfigMapList
	err := reader.List(ctx, &records, client.InNamespace(key.Namespace), client.MatchingLabels{labels.Cluster: key.Name, labels.Record: labels.RecordNode})
	for i := range records.Items {
		if r := &records.Items[i]; r.Data[record.KeyFormat] != string(record.FormatDone) {
			return r.Name + " allows to format", nil
		}
	}
	if err != nil || len(dynamicOf(key)) > 0 {
		return "", err
	}
	altered := client.ObjectKey{Namespace: key.Namespace, Name: render.AlteredName(key.Name)}
	if err := reader.Get(ctx, altered, &corev1.ConfigMap{}); err == nil {
		return altered.Name + " names what has no dynamic value", nil
	} else if client.IgnoreNotFound(err) != nil {
		return "", err
	}
	return "", nil
}

// versionsOf formats the versions of pods.
func versionsOf(pods []*corev1.Pod) string {
	var out []string
	for _, p := range pods {
		out = append(out, fmt.Sprintf("%s@%s ready=%t", p.Name, p.Annotations[labels.KafkaVersion], isReady(p)))
	}
	return strings.Join(out, ", ")
}

func podsOf(ctx context.Context, reader client.Reader, key client.ObjectKey) ([]*corev1.Pod, error) {
	var list corev1.PodList
	if err := reader.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingLabels{labels.Cluster: key.Name}); err != nil {
		return nil, err
	}
	var out []*corev1.Pod
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

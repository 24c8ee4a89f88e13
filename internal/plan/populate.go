package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kubelet"
)

const (
	// usual is the assumed running time of a process without a start time. It exceeds the default of every wait.
	usual = 3 * time.Hour
	// before is how long the simulated world exists before its first process starts.
	before = 10 * time.Minute
)

// populate adds the objects to the store and brings the simulated world to the state that they describe.
func (e *engine) populate(ctx context.Context) error {
	for _, o := range e.inOrder() {
		if err := e.put(o); err != nil {
			return err
		}
	}
	e.world = simulator.New(simulator.Options{Table: e.in.Table}, kubelet.Timeline{Epoch: e.oldest().Add(-before)})
	e.world.Script.BadImages = e.in.World.Kubernetes.BadImages
	for _, k := range e.kafkas() {
		b := &background{engine: e, kafka: k, name: client.ObjectKeyFromObject(k)}
		if err := b.bring(ctx); err != nil {
			return fmt.Errorf("simulating the past of Kafka %s: %w", b.name, err)
		}
	}
	e.advance(e.begin)
	e.store.Written = e.written
	e.start()
	return nil
}

// inOrder returns the objects sorted by kind and name, so that a plan does not depend on the order of the input.
func (e *engine) inOrder() []client.Object {
	all := slices.Clone(e.in.Objects)
	slices.SortFunc(all, func(a, b client.Object) int {
		return cmp.Or(cmp.Compare(e.kindOf(a), e.kindOf(b)), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return all
}

// put stores an object as if it had existed before the plan.
func (e *engine) put(o client.Object) error {
	if k, ok := o.(*kafkav1beta2.Kafka); ok {
		if k.UID == "" {
			k.UID = e.uidOf(k)
		}
		if k.Generation == 0 {
			k.Generation = max(1, k.Status.ObservedGeneration)
		}
	}
	if born := o.GetCreationTimestamp(); born.IsZero() {
		o.SetCreationTimestamp(metaTime(e.begin.Add(-usual)))
	}
	if err := e.store.Put(o); err != nil {
		return fmt.Errorf("taking %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

// uidOf returns the UID of a Kafka whose manifest has none, from the owner references of its children, else an empty UID: the
// store then derives one from the name.
func (e *engine) uidOf(k *kafkav1beta2.Kafka) types.UID {
	for _, o := range e.in.Objects {
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind == kafkav1beta2.KindKafka && owner.Name == k.Name && o.GetNamespace() == k.Namespace {
				return owner.UID
			}
		}
	}
	return ""
}

// oldest returns the start time of the first process.
func (e *engine) oldest() time.Time {
	first := e.begin.Add(-usual)
	for _, o := range e.in.Objects {
		if pod, ok := o.(*corev1.Pod); ok {
			if at := startedAt(pod); !at.IsZero() && at.Before(first) {
				first = at
			}
		}
	}
	return first
}

// startedAt returns the start time of the Kafka container, or zero if it does not run or the status lacks it.
func startedAt(pod *corev1.Pod) time.Time {
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == "kafka" && c.State.Running != nil {
			return c.State.Running.StartedAt.Time
		}
	}
	return time.Time{}
}

// start enqueues the first job for every object.
func (e *engine) start() {
	e.watching = e.begin.Add(noticed)
	for _, k := range e.kafkas() {
		e.tape.follow(k)
		e.queue.at(job{driveKafka, client.ObjectKeyFromObject(k)}, e.begin)
	}
	e.store.Objects(corev1beta2.GroupVersion().WithKind("StrimziPodSet"), func(o client.Object) {
		e.queue.at(job{drivePodSets, client.ObjectKeyFromObject(o)}, e.begin)
	})
	e.store.Objects(corev1.SchemeGroupVersion.WithKind("Pod"), func(o client.Object) {
		e.queue.at(job{driveKubelet, client.ObjectKeyFromObject(o)}, e.begin)
	})
	e.expectWorld()
}

// assume records an assumption.
func (e *engine) assume(of types.NamespacedName, format string, args ...any) {
	e.takenOf(of).add("", fmt.Sprintf(format, args...))
}

// assumeOf records an assumption about one object. Objects with the same sentence share one assumption.
func (e *engine) assumeOf(of types.NamespacedName, sentence, object string) {
	e.takenOf(of).add(object, sentence)
}

func (e *engine) takenOf(of types.NamespacedName) *assumptions {
	if e.taken[of] == nil {
		e.taken[of] = &assumptions{}
	}
	return e.taken[of]
}

// byStart sorts processes by start time, then by id.
func byStart(list []process) {
	slices.SortFunc(list, func(a, b process) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
}

package plan

import (
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/simulator/store"
)

// actor is the driver that is currently writing.
type actor struct {
	operator bool
	name     string
}

// recorder records the operator's actions, by the object whose lifecycle causes them.
type recorder struct {
	begin  time.Time
	table  *versions.Table
	graphs map[string]machines.Graph
	kindOf func(client.Object) string
	actor  actor
	tracks map[types.NamespacedName]*track
	// turn numbers everything that was recorded.
	turn int
}

// track is the record of one object.
type track struct {
	object   types.NamespacedName
	before   lifecyclev1.Status
	started  map[string]string
	found    map[string]bool
	path     map[string][]Step
	attempts map[string][]Attempt
	effects  []Effect
	// touched are the objects that the operator wrote, in order.
	touched []touched
	// restarting are pods that were deleted for a restart and have not been recreated.
	restarting map[string]bool
}

// touched identifies an object that was written.
type touched struct{ kind, namespace, name string }

func newRecorder(begin time.Time, table *versions.Table, graphs map[string]machines.Graph, kindOf func(client.Object) string) *recorder {
	return &recorder{begin: begin, table: table, graphs: graphs, kindOf: kindOf, tracks: map[types.NamespacedName]*track{}}
}

// follow starts the record of an object.
func (r *recorder) follow(k *kafkav1beta2.Kafka) {
	name := client.ObjectKeyFromObject(k)
	t := &track{
		object: name, before: *k.Status.Status.DeepCopy(), started: map[string]string{}, found: map[string]bool{},
		path: map[string][]Step{}, attempts: map[string][]Attempt{}, restarting: map[string]bool{},
	}
	for _, l := range k.Status.Lifecycles {
		t.started[l.Name] = l.State
		if l.Attempt != nil {
			t.attempts[l.Name] = nil
		}
	}
	r.tracks[name] = t
}

// trackOf returns the record of the Kafka that the object is or belongs to, or nil.
func (r *recorder) trackOf(o client.Object) *track {
	if k, ok := o.(*kafkav1beta2.Kafka); ok {
		return r.tracks[client.ObjectKeyFromObject(k)]
	}
	return r.tracks[types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[clusterLabel]}]
}

const clusterLabel = "strimzi.io/cluster"

// written records a write to the store.
func (r *recorder) written(w store.Write, now time.Time) {
	t := r.trackOf(w.Object)
	switch {
	case t == nil || !r.actor.operator:
	case w.Subresource == "status":
		if k, ok := w.Object.(*kafkav1beta2.Kafka); ok {
			r.moved(t, &k.Status.Status, now)
		}
	case r.kindOf(w.Object) == "Pod":
		r.pod(t, w, now)
	default:
		r.object(t, w, now)
	}
}

// pod records writes of pods. A restart is one effect, although it takes several writes.
func (r *recorder) pod(t *track, w store.Write, now time.Time) {
	name := w.Object.GetName()
	pod, _ := w.Object.(*corev1.Pod)
	switch {
	case w.Verb == "delete" && r.actor.name != kafkaDriver:
		r.effect(t, Kubernetes, VerbDelete, "Pod/"+name, now)
	case w.Verb == "delete":
		t.restarting[name] = true
		r.effect(t, Kubernetes, VerbRestartPod, name, now)
	case w.Verb == "create" && t.restarting[name]:
		delete(t.restarting, name)
	case w.Verb == "create":
		r.effect(t, Kubernetes, VerbCreate, "Pod/"+name, now)
	case pod != nil && pod.DeletionTimestamp == nil:
		r.update(t, "Pod/"+name, now)
	}
}

func (r *recorder) object(t *track, w store.Write, now time.Time) {
	kind := r.kindOf(w.Object)
	seen := touched{kind, w.Object.GetNamespace(), w.Object.GetName()}
	if !slices.Contains(t.touched, seen) {
		t.touched = append(t.touched, seen)
	}
	if w.Verb == "update" {
		r.update(t, kind+"/"+seen.name, now)
		return
	}
	r.effect(t, Kubernetes, w.Verb, kind+"/"+seen.name, now)
}

// update records the first update of an object. A create effect covers later updates, and the plan shows the final content.
func (r *recorder) update(t *track, target string, now time.Time) {
	told := slices.ContainsFunc(t.effects, func(e Effect) bool {
		return e.System == Kubernetes && e.Target == target && (e.Verb == VerbCreate || e.Verb == VerbUpdate)
	})
	if !told {
		r.effect(t, Kubernetes, VerbUpdate, target, now)
	}
}

func (r *recorder) at(now time.Time) Offset { return Offset(now.Sub(r.begin).Truncate(time.Second)) }

// effect records one effect.
func (r *recorder) effect(t *track, system System, verb, target string, now time.Time) {
	r.turn++
	t.effects = append(t.effects, Effect{System: system, Verb: verb, Target: target, At: r.at(now), turn: r.turn})
}

// moved records the transitions between two statuses. A reconcile commits at most one for each lifecycle.
func (r *recorder) moved(t *track, after *lifecyclev1.Status, now time.Time) {
	for i := range after.Lifecycles {
		entry := &after.Lifecycles[i]
		before := entryOf(&t.before, entry.Name)
		if before != nil && reflect.DeepEqual(before.History, entry.History) && before.State == entry.State || len(entry.History) == 0 {
			continue
		}
		last := entry.History[len(entry.History)-1]
		r.attempt(t, before, entry)
		if before == nil && last.From == "" {
			// The inferred state is the start of the lifecycle.
			t.started[entry.Name], t.found[entry.Name] = last.To, true
			continue
		}
		r.turn++
		t.path[entry.Name] = append(t.path[entry.Name], Step{
			Event: last.Event, From: last.From, To: last.To, OneWay: r.oneWay(entry.Machine, last), At: r.at(now), turn: r.turn,
		})
	}
	t.before = *after.DeepCopy()
}

func (r *recorder) oneWay(machine string, t lifecyclev1.Transition) bool {
	name, _, _ := strings.Cut(machine, "@")
	for _, e := range r.graphs[name].Edges {
		if e.Event == t.Event && e.From == t.From && e.To == t.To {
			return e.OneWay
		}
	}
	return false
}

// attempt records the start of an attempt.
func (r *recorder) attempt(t *track, before, after *lifecyclev1.Lifecycle) {
	if after.Attempt == nil || before != nil && machines.SameAttempt(before.Attempt, after.Attempt) {
		return
	}
	t.attempts[after.Name] = append(t.attempts[after.Name], r.attemptOf(after.Attempt))
}

func (r *recorder) attemptOf(a *lifecyclev1.Attempt) Attempt {
	out := Attempt{ID: a.ID, From: a.From, To: a.To}
	if v, err := r.table.Find(a.From); err == nil {
		_, out.FromKnown = v.Row()
	}
	return out
}

func entryOf(s *lifecyclev1.Status, name string) *lifecyclev1.Lifecycle {
	for i := range s.Lifecycles {
		if s.Lifecycles[i].Name == name {
			return &s.Lifecycles[i]
		}
	}
	return nil
}

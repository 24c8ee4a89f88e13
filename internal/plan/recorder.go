package plan

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
)

// recorder records the operator's actions, by the object whose lifecycle causes them.
type recorder struct {
	begin  time.Time
	kinds  []Kind
	kindOf func(client.Object) string
	// find returns an object of the store, or nil.
	find func(gvk schema.GroupVersionKind, name types.NamespacedName) client.Object
	// actor is the driver that is currently writing, or nil.
	actor  *Driver
	tracks map[subject]*track
	// knows reports whether a version is known to a kind.
	knows func(kind, version string) bool
	// turn numbers everything that was recorded.
	turn int
}

// track is the record of one object.
type track struct {
	object   found
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

func newRecorder(begin time.Time, kinds []Kind, kindOf func(client.Object) string) *recorder {
	return &recorder{begin: begin, kinds: kinds, kindOf: kindOf, tracks: map[subject]*track{}}
}

// follow starts the record of an object.
func (r *recorder) follow(k found) {
	t := &track{
		object: k, before: *k.LifecycleStatus().DeepCopy(), started: map[string]string{}, found: map[string]bool{},
		path: map[string][]Step{}, attempts: map[string][]Attempt{}, restarting: map[string]bool{},
	}
	for _, l := range k.LifecycleStatus().Lifecycles {
		t.started[l.Name] = l.State
		if l.Attempt != nil {
			t.attempts[l.Name] = nil
		}
	}
	r.tracks[k.subject()] = t
}

// trackOf returns the record of the object that the written object is or belongs to, or nil. Objects of several kinds may have one name
// and the same label: the owner decides, or that of the owner, then the kind whose controller writes, and the label alone at last.
func (r *recorder) trackOf(o client.Object) *track {
	if t := r.ownerOf(o); t != nil {
		return t
	}
	labelled := func(k *Kind) *track {
		return r.tracks[subject{k.Name, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[k.Label]}}]
	}
	for i := range r.kinds {
		if k := &r.kinds[i]; r.actor != nil && r.actor.Of.Kind == k.Name {
			if t := labelled(k); t != nil {
				return t
			}
		}
	}
	for i := range r.kinds {
		if t := labelled(&r.kinds[i]); t != nil {
			return t
		}
	}
	return nil
}

// ownerOf returns the record of the object itself, or of the next owner that has one, or nil.
func (r *recorder) ownerOf(o client.Object) *track {
	for range mostOwners {
		if t := r.tracks[subject{r.kindOf(o), client.ObjectKeyFromObject(o)}]; t != nil {
			return t
		}
		owner := metav1.GetControllerOf(o)
		switch owners := o.GetOwnerReferences(); {
		case owner != nil:
		case len(owners) == 0:
			return nil
		default:
			owner = &owners[0]
		}
		name := types.NamespacedName{Namespace: o.GetNamespace(), Name: owner.Name}
		if t := r.tracks[subject{owner.Kind, name}]; t != nil {
			return t
		}
		if o = r.find(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind), name); o == nil {
			return nil
		}
	}
	return nil
}

// mostOwners limits how far the owners of an object are followed: an input may declare owners that own each other.
const mostOwners = 5

// written records a write to the store.
func (r *recorder) written(w store.Write, now time.Time) {
	if r.actor == nil || !r.actor.Operator {
		return
	}
	t := r.trackOf(w.Object)
	switch {
	case t == nil:
	case w.Subresource == "status":
		if k, ok := w.Object.(lifecycle.Object); ok && r.kindOf(k) == t.object.kind.Name {
			r.moved(t, k.LifecycleStatus(), now)
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
	case w.Verb == "delete" && !r.actor.Restarts:
		r.effect(t, Effect{Verb: VerbDelete, Target: "Pod/" + name}, now)
	case w.Verb == "delete":
		t.restarting[name] = true
		r.effect(t, Effect{Verb: VerbRestartPod, Target: name}, now)
	case w.Verb == "create" && t.restarting[name]:
		delete(t.restarting, name)
	case w.Verb == "create":
		r.effect(t, Effect{Verb: VerbCreate, Target: "Pod/" + name}, now)
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
	r.effect(t, Effect{Verb: w.Verb, Target: kind + "/" + seen.name}, now)
}

// update records the first update of an object. A create effect covers later updates, and the plan shows the final content.
func (r *recorder) update(t *track, target string, now time.Time) {
	recorded := slices.ContainsFunc(t.effects, func(e Effect) bool {
		return e.System == Kubernetes && e.Target == target && (e.Verb == VerbCreate || e.Verb == VerbUpdate)
	})
	if !recorded {
		r.effect(t, Effect{Verb: VerbUpdate, Target: target}, now)
	}
}

func (r *recorder) at(now time.Time) Offset { return Offset(now.Sub(r.begin).Truncate(time.Second)) }

// effect records one effect; by default on Kubernetes.
func (r *recorder) effect(t *track, e Effect, now time.Time) {
	r.turn++
	e.System, e.At, e.turn = cmp.Or(e.System, Kubernetes), r.at(now), r.turn
	t.effects = append(t.effects, e)
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
			Event: last.Event, From: last.From, To: last.To, OneWay: oneWay(t.object.kind, entry.Name, last), At: r.at(now), turn: r.turn,
		})
	}
	t.before = *after.DeepCopy()
}

func oneWay(kind *Kind, entry string, t lifecyclev1.Transition) bool {
	graph, _ := kind.graphOf(entry)
	for _, e := range graph.Edges {
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
	t.attempts[after.Name] = append(t.attempts[after.Name], r.attemptOf(t.object.kind.Name, after.Attempt))
}

func (r *recorder) attemptOf(kind string, a *lifecyclev1.Attempt) Attempt {
	return Attempt{ID: a.ID, From: a.From, FromKnown: r.knows(kind, a.From), To: a.To}
}

func entryOf(s *lifecyclev1.Status, name string) *lifecyclev1.Lifecycle {
	for i := range s.Lifecycles {
		if s.Lifecycles[i].Name == name {
			return &s.Lifecycles[i]
		}
	}
	return nil
}

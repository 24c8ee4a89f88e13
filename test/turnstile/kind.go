package turnstile

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/transitions"
)

// PauseAnnotation pauses a turnstile, as that of the runtime does.
const PauseAnnotation = "turnstile.detent.dev/pause"

type (
	// Kind is the turnstile as the runtime sees it.
	Kind = lifecycle.Kind[*api.Turnstile, Snapshot, Effect]
	// Lifecycle is one of its lifecycles.
	Lifecycle     = machines.Lifecycle[*api.Turnstile, Snapshot, Effect]
	effectRequest = lifecycle.EffectRequest[*api.Turnstile, Snapshot, Effect]
)

// Snapshot is the world of one turnstile, as plain values.
type Snapshot struct {
	// Children by name.
	Children map[string]*corev1.ConfigMap
	// Built and Recorded models by arm.
	Built, Recorded map[string]string
	Glows           bool
	Catalog         transitions.Fact[bool]
	Up              transitions.Fact[map[string]bool]
	Seal            transitions.Fact[Seal]
}

// Around runs what an effect does outside Kubernetes; a test uses it to crash before or after.
type Around func(effect string, do func() error) error

// Lifecycles of a turnstile: model and lamp.
func Lifecycles() ([]Lifecycle, error) {
	model, err := machines.Compile(Definition())
	if err != nil {
		return nil, err
	}
	lamp, err := machines.Compile(LampDefinition())
	if err != nil {
		return nil, err
	}
	return []Lifecycle{
		machines.Bind(model, machines.Binding[*api.Turnstile, Snapshot, Facts, Effect, Effect]{Name: "model", Facts: factsOf}),
		machines.Bind(lamp, machines.Binding[*api.Turnstile, Snapshot, LampFacts, Effect, Effect]{Name: "lamp", Facts: lampFactsOf}),
	}, nil
}

// NewKind makes the kind over a world. around may be nil.
func NewKind(lifecycles []Lifecycle, world *World, around Around) Kind {
	if around == nil {
		around = func(_ string, do func() error) error { return do() }
	}
	k := &keeper{world: world, around: around}
	return Kind{
		Name: "Turnstile", New: func() *api.Turnstile { return &api.Turnstile{} }, Lifecycles: lifecycles,
		Observe: k.observe, Execute: k.execute, Repair: k.repair, Apply: k.apply, Records: k, Project: project,
		StatusEqual:  func(a, b *api.Turnstile) bool { return a.Status.Sealed == b.Status.Sealed },
		Disrupts:     func(e Effect) (string, bool) { return "arm " + e.Arm, e.Op == "replace" },
		Availability: availability, Owns: []client.Object{&corev1.ConfigMap{}}, OwnerOf: OwnerOf, PauseAnnotations: []string{PauseAnnotation},
	}
}

// keeper looks at turnstiles and works on them.
type keeper struct {
	world  *World
	around Around
}

// Label names the turnstile that a child belongs to.
const Label = "turnstile"

func (k *keeper) observe(ctx context.Context, t *api.Turnstile, request lifecycle.ObserveRequest) (Snapshot, error) {
	var list corev1.ConfigMapList
	if err := request.Read.List(ctx, &list, client.InNamespace(t.Namespace), client.MatchingLabels{Label: t.Name}); err != nil {
		return Snapshot{}, fmt.Errorf("listing the children of turnstile %s: %w", t.Name, err)
	}
	v := Snapshot{Children: map[string]*corev1.ConfigMap{}, Built: map[string]string{}}
	for i := range list.Items {
		child := &list.Items[i]
		v.Children[child.Name] = child
		if arm := child.Labels["arm"]; arm != "" && child.DeletionTimestamp == nil {
			v.Built[arm] = child.Data["model"]
		}
	}
	if record := v.Children[recordName(t)]; record != nil {
		v.Recorded = record.Data
	}
	k.world.At(client.ObjectKeyFromObject(t), func(s *Site) {
		v.Glows = !s.Dark
		v.Catalog = fact(request, NeedCatalog, s, s.CatalogErr, !slices.Contains(s.Banned, t.Spec.Model))
		v.Up = fact(request, NeedUp, s, s.UpErr, s.turning(v.Built))
		v.Seal = fact(request, NeedSeal, s, s.SealErr, s.Seal)
	})
	return v, nil
}

// fact is what the world answers; a live look waits for the answer.
func fact[T any](request lifecycle.ObserveRequest, need transitions.Need, s *Site, err error, value T) transitions.Fact[T] {
	switch {
	case !request.Wants(need):
		return transitions.Fact[T]{}
	case err != nil:
		return transitions.Unreadable[T](err)
	case s.Slow && !request.Live:
		return transitions.Pending[T]()
	default:
		return transitions.Known(value, request.Now)
	}
}

func factsOf(t *api.Turnstile, v Snapshot, _ machines.ObserveOptions) Facts {
	f := Facts{Wanted: t.Spec.Model, Approved: t.Spec.Approved, Arms: arms(t), Recorded: v.Recorded, Built: v.Built, Up: v.Up, Seal: v.Seal}
	if v.Catalog.Asked() {
		f.Catalog = catalog(t, v.Catalog)
	}
	return f
}

// catalog lists the wanted model if it may be built in.
func catalog(t *api.Turnstile, allowed transitions.Fact[bool]) transitions.Fact[[]string] {
	yes, known := allowed.Get()
	switch {
	case known && yes:
		return transitions.Known([]string{t.Spec.Model}, allowed.At())
	case known:
		return transitions.Known([]string{}, allowed.At())
	case allowed.Gap().Pending:
		return transitions.Pending[[]string]()
	default:
		return transitions.Unreadable[[]string](ErrUnreachable)
	}
}

func lampFactsOf(t *api.Turnstile, v Snapshot, _ machines.ObserveOptions) LampFacts {
	f := LampFacts{Wanted: t.Spec.Lamp, Glows: v.Glows}
	if lamp := v.Children[lampName(t)]; lamp != nil {
		f.Shown = lamp.Data["colour"]
	}
	return f
}

func arms(t *api.Turnstile) []string {
	names := make([]string, t.Spec.Arms)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

func availability(t *api.Turnstile, v Snapshot) lifecycle.Availability {
	var a lifecycle.Availability
	up, known := v.Up.Get()
	serving := 0
	for _, arm := range arms(t) {
		m := lifecycle.Member{Name: "arm " + arm}
		if child := v.Children[armName(t, arm)]; child != nil {
			m.Instance = string(child.UID)
		}
		_, m.Running = v.Built[arm]
		m.Ready = known && up[arm]
		m.InSync = m.Ready
		if m.Ready {
			m.Serving = transitions.Yes
			serving++
		}
		a.Members = append(a.Members, m)
	}
	a.NothingServing = known && serving == 0
	return a
}

func project(t *api.Turnstile, v Snapshot, _ lifecycle.ProjectRequest) []metav1.Condition {
	if v.Seal.Asked() {
		if seal, known := v.Seal.Get(); known {
			t.Status.Sealed = seal.Model
		}
	}
	available := metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "ArmsBuilt"}
	if len(v.Built) == 0 {
		available.Status, available.Reason = metav1.ConditionFalse, "NoArm"
	}
	return []metav1.Condition{available}
}

func recordName(t *api.Turnstile) string { return t.Name + "-record" }
func lampName(t *api.Turnstile) string   { return t.Name + "-lamp" }

// OwnerOf is the turnstile that a child belongs to, to be enqueued when the child changes.
func OwnerOf(_ context.Context, child client.Object) []reconcile.Request {
	if name := child.GetLabels()[Label]; name != "" {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: child.GetNamespace(), Name: name}}}
	}
	return nil
}

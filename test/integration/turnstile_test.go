package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/test/turnstile/crd"
)

// gates are the subject of turnstiles.
type gates struct{}

func (gates) Name() string { return "turnstile" }

func (gates) PauseAnnotations() []string { return []string{turnstile.PauseAnnotation} }

func (gates) Graphs() map[string]machines.Graph {
	lifecycles, err := turnstile.Lifecycles()
	Expect(err).NotTo(HaveOccurred())
	out := map[string]machines.Graph{}
	for _, l := range lifecycles {
		out[l.Name()] = l.Graph()
	}
	return out
}

func (gates) Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	return []*apiextensionsv1.CustomResourceDefinition{definition}, yaml.UnmarshalStrict(crd.Turnstile, definition)
}

func (gates) AddToScheme(scheme *k8sruntime.Scheme) error { return api.AddToScheme(scheme) }
func (gates) List() client.ObjectList                     { return &api.TurnstileList{} }
func (gates) Children() []client.Object                   { return []client.Object{&corev1.ConfigMap{}} }
func (gates) World() World                                { return &gatehouse{turnstile.NewWorld()} }

// Reservations are the laws that do not apply here.
func (gates) Reservations() map[string]string { return map[string]string{lawLoss: ownsNoPods} }

func (gates) Visits() []Visit {
	var out []Visit
	for _, v := range turnstile.Visits() {
		out = append(out, Visit{Lifecycle: v.Lifecycle, State: v.State, Wiped: v.Wiped, Blind: v.State == machines.Inferring})
	}
	return out
}

// gatehouse is the world of all turnstiles of a scene.
type gatehouse struct{ world *turnstile.World }

func (w *gatehouse) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error {
	lifecycles, err := turnstile.Lifecycles()
	if err != nil {
		return err
	}
	return lifecycle.New(turnstile.NewKind(lifecycles, w.world, around), options).SetupWithManager(mgr, lifecycle.Wiring{SkipNameValidation: true})
}

func (w *gatehouse) Make(namespace, name string) lifecycle.Object {
	return &api.Turnstile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       api.TurnstileSpec{Model: "A", Arms: 2, Lamp: "red", Approved: "any"},
	}
}

func gateOf(object lifecycle.Object) *api.Turnstile {
	t, ok := object.(*api.Turnstile)
	Expect(ok).To(BeTrue())
	return t
}

func visitOf(v Visit) turnstile.Visit {
	all := turnstile.Visits()
	return all[slices.IndexFunc(all, func(o turnstile.Visit) bool { return o.Lifecycle == v.Lifecycle && o.State == v.State })]
}

func (w *gatehouse) Hinder(v Visit, key client.ObjectKey) {
	if site := visitOf(v).Site; site != nil {
		w.world.At(key, site)
	}
}

func (w *gatehouse) Change(v Visit, object lifecycle.Object) {
	if spec := visitOf(v).Spec; spec != nil {
		spec(&gateOf(object).Spec)
	}
}

func (w *gatehouse) Release(object lifecycle.Object) {
	w.world.At(client.ObjectKeyFromObject(object), (*turnstile.Site).Release)
	gateOf(object).Spec.Approved = "any"
}

func (w *gatehouse) Another(name string, object lifecycle.Object) string {
	if name == "lamp" {
		gateOf(object).Spec.Lamp = "blue"
		return "blue"
	}
	gateOf(object).Spec.Model = "C"
	return "C"
}

// Effects are all writes to children and all seals.
func (w *gatehouse) Effects(key client.ObjectKey, writes []lab.Request) []string {
	var out []string
	for _, r := range writes {
		if r.Resource == "configmaps" && strings.HasPrefix(r.Name, key.Name+"-") {
			out = append(out, r.String())
		}
	}
	for _, line := range w.world.Log(key) {
		if strings.HasPrefix(line, "seal") {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func (w *gatehouse) End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	var list corev1.ConfigMapList
	if err := reader.List(ctx, &list, client.InNamespace(key.Namespace), client.MatchingLabels{turnstile.Label: key.Name}); err != nil {
		return "", err
	}
	var out []string
	for i := range list.Items {
		out = append(out, fmt.Sprintf("%s%v", list.Items[i].Name, list.Items[i].Data))
	}
	gate := &api.Turnstile{}
	if err := reader.Get(ctx, key, gate); err != nil {
		return "", err
	}
	return fmt.Sprintf("%v sealed for %s", out, gate.Status.Sealed), nil
}

package integration

import (
	"context"
	"fmt"
	"os"
	"sync"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	example "github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// hello is the subject of the example.
type hello struct{}

func (hello) Name() string { return "hello" }

func (hello) PauseAnnotations() []string { return nil }

func (hello) Graphs() map[string]machines.Graph {
	kind, err := example.Operator.Kind()
	Expect(err).NotTo(HaveOccurred())
	return map[string]machines.Graph{"hello": kind.Lifecycles[0].Graph()}
}

func (hello) Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile("../../examples/hello/crd/hello.example.org_greetings.yaml")
	if err != nil {
		return nil, err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	return []*apiextensionsv1.CustomResourceDefinition{definition}, yaml.UnmarshalStrict(text, definition)
}

func (hello) AddToScheme(scheme *k8sruntime.Scheme) error { return api.AddToScheme(scheme) }
func (hello) List() client.ObjectList                     { return &api.GreetingList{} }
func (hello) Children() []client.Object                   { return []client.Object{&corev1.ConfigMap{}} }
func (hello) World() World                                { return &silence{mute: map[client.ObjectKey]bool{}} }

// Reservations are the laws that do not apply here.
func (hello) Reservations() map[string]string {
	return map[string]string{lawLoss: ownsNoPods, lawCrash: byCampaign}
}

// byCampaign is why faults are injected in another test.
const byCampaign = "test/proof/campaign injects every fault"

// ownsNoPods is why the loss of pods does not apply.
const ownsNoPods = "it owns no pods"

func (hello) Visits() []Visit {
	return []Visit{{Lifecycle: "hello", State: "Settled"}, {Lifecycle: "hello", State: "Speaking"}}
}

// silence is a world in which greetings can be mute.
type silence struct {
	mu   sync.Mutex
	mute map[client.ObjectKey]bool
}

func (w *silence) set(key client.ObjectKey, mute bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute[key] = mute
}

func (w *silence) muted(key client.ObjectKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mute[key]
}

func (w *silence) Register(mgr ctrl.Manager, options lifecycle.Options, _ func(string, func() error) error) error {
	kind, err := example.Operator.Kind()
	if err != nil {
		return err
	}
	speak := kind.Execute
	kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Greeting, example.Facts, example.Speak]) error {
		if w.muted(client.ObjectKeyFromObject(request.Object)) {
			return fmt.Errorf("speaking: mute: %w", lifecycle.ErrWait)
		}
		return speak(ctx, request)
	}
	return lifecycle.New(kind, options).SetupWithManager(mgr, lifecycle.Wiring{SkipNameValidation: true})
}

func (w *silence) Make(namespace, name string) lifecycle.Object {
	return &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: api.GreetingSpec{Text: "hello"}}
}

func greeting(object lifecycle.Object) *api.Greeting {
	g, ok := object.(*api.Greeting)
	Expect(ok).To(BeTrue())
	return g
}

func (w *silence) Hinder(v Visit, key client.ObjectKey) { w.set(key, v.State == "Speaking") }

func (w *silence) Change(v Visit, object lifecycle.Object) {
	if v.State == "Speaking" {
		greeting(object).Spec.Text = "good day"
	}
}

func (w *silence) Release(object lifecycle.Object) { w.set(client.ObjectKeyFromObject(object), false) }

func (w *silence) Another(_ string, object lifecycle.Object) string {
	greeting(object).Spec.Text = "good night"
	return "good night"
}

func (w *silence) Effects(key client.ObjectKey, writes []lab.Request) []string {
	var out []string
	for _, r := range writes {
		if r.Resource == "configmaps" && (r.Name == key.Name || r.Name == "") {
			out = append(out, r.Method)
		}
	}
	return out
}

func (w *silence) End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	said := &corev1.ConfigMap{}
	err := reader.Get(ctx, key, said)
	return "said " + said.Data["text"], err
}

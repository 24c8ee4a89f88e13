package hello_test

import (
	"context"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// stage is an in-memory API server with one greeting from the example's manifest.
type stage struct {
	*testing.T
	client.Client
	greeter reconcile.Reconciler
	key     client.ObjectKey
}

func newStage(t *testing.T) *stage {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	greeting := readGreeting(t)
	greeting.UID, greeting.Generation = "uid", 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(greeting).WithStatusSubresource(greeting).Build()
	kind, err := hello.Operator.Kind()
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t, c, lifecycle.New(kind, lifecycle.Options{Client: c, Live: c}), client.ObjectKeyFromObject(greeting)}
}

func readGreeting(t *testing.T) *api.Greeting {
	t.Helper()
	text, err := os.ReadFile("greeting.yaml")
	if err != nil {
		t.Fatal(err)
	}
	greeting := &api.Greeting{}
	if err := yaml.UnmarshalStrict(text, greeting); err != nil {
		t.Fatal(err)
	}
	return greeting
}

// run reconciles until the greeting rests, and returns the states on the way.
func (s *stage) run() (path []string) {
	s.Helper()
	for range 10 {
		if _, err := s.greeter.Reconcile(context.Background(), reconcile.Request{NamespacedName: s.key}); err != nil {
			s.Fatal(err)
		}
		got := s.greeting()
		state := got.Status.Lifecycles[0].State
		if len(path) == 0 || path[len(path)-1] != state {
			path = append(path, state)
		}
		if state == "Settled" && got.Status.ObservedGeneration == got.Generation {
			return path
		}
	}
	s.Fatalf("never settled: %q", path)
	return nil
}

func (s *stage) greeting() *api.Greeting {
	s.Helper()
	got := &api.Greeting{}
	if err := s.Get(context.Background(), s.key, got); err != nil {
		s.Fatal(err)
	}
	return got
}

func (s *stage) said() *corev1.ConfigMap {
	s.Helper()
	said := &corev1.ConfigMap{}
	if err := s.Get(context.Background(), s.key, said); err != nil {
		s.Fatal(err)
	}
	return said
}

func TestOperatorSpeaksTheText(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*stage)
		want   []string
		text   string
	}{
		"nothing happens": {func(*stage) {}, []string{"Settled"}, "hello, world"},
		"another text": {func(s *stage) {
			g := s.greeting()
			g.Spec.Text, g.Generation = "good day", 2
			must(s, s.Update(context.Background(), g))
		}, []string{"Speaking", "Settled"}, "good day"},
		"the ConfigMap is deleted": {func(s *stage) { must(s, s.Delete(context.Background(), s.said())) },
			[]string{"Speaking", "Settled"}, "hello, world"},
		"another writer changes the text": {func(s *stage) {
			said := s.said()
			said.Data["text"] = "boo"
			must(s, s.Update(context.Background(), said))
		}, []string{"Speaking", "Settled"}, "hello, world"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			if diff := cmp.Diff([]string{"Settled", "Speaking", "Settled"}, s.run()); diff != "" {
				t.Errorf("a new greeting's states (-want +got):\n%s", diff)
			}
			c.change(s)
			if diff := cmp.Diff(c.want, s.runOn()); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if got := s.said(); got.Data["text"] != c.text || !metav1.IsControlledBy(got, s.greeting()) {
				t.Errorf("said %q, owned by %v; want %q", got.Data["text"], got.OwnerReferences, c.text)
			}
		})
	}
}

// runOn reconciles at least once before it checks whether the greeting rests, so that a change is observed.
func (s *stage) runOn() []string {
	s.Helper()
	if _, err := s.greeter.Reconcile(context.Background(), reconcile.Request{NamespacedName: s.key}); err != nil {
		s.Fatal(err)
	}
	if state := s.greeting().Status.Lifecycles[0].State; state != "Settled" {
		return append([]string{state}, s.run()[1:]...)
	}
	return s.run()
}

func must(s *stage, err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func TestOperatorIsShort(t *testing.T) {
	const most = 60
	text, err := os.ReadFile("hello.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, b := range text {
		if b == '\n' {
			lines++
		}
	}
	if lines > most {
		t.Errorf("hello.go has %d lines, want at most %d: it shows how little a machine of one's own takes", lines, most)
	}
}

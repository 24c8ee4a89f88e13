package campaign

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Kind is a kind without external systems, as the input of a campaign.
type Kind[O lifecycle.Object, S, E any] struct {
	Name string
	// Make returns a new kind for each operator.
	Make func() (lifecycle.Kind[O, S, E], error)
	// Definitions is the directory of the generated definitions. AddToScheme adds the Go types.
	Definitions string
	AddToScheme func(*k8sruntime.Scheme) error
	// Object before the first change. Changes are made by a user, one after the other, and must be similar to each other.
	Object  O
	Changes []func(O)
	// Meddling are interventions of another writer, in addition to wiping the status. Optional.
	Meddling map[string]Meddling
	// Judge returns the defects in a history. Optional.
	Judge func(history []Event) []string
	// Plans is the minimum number of plans with one fault. Optional.
	Plans int
}

// scale of declared times: polls of seconds would make each run longer.
const scale = 0.1

// Subject returns the subject of a campaign for the kind.
func (k Kind[O, S, E]) Subject() (*Subject, error) {
	made, err := k.Make()
	if err != nil {
		return nil, err
	}
	s := &Subject{
		Name: k.Name, AddToScheme: []func(*k8sruntime.Scheme) error{k.AddToScheme}, Plans: k.Plans, Scale: scale,
		Definitions: func() ([]*apiextensionsv1.CustomResourceDefinition, error) { return definitionsIn(k.Definitions) },
		Graphs:      map[string]machines.Graph{}, Kinds: append([]client.Object{made.New()}, made.Owns...),
		Object: func(namespace string) lifecycle.Object {
			o := k.Object.DeepCopyObject().(O) //nolint:forcetypeassert // a copy has the type of what it copies
			o.SetNamespace(namespace)
			return o
		},
		World:    func(*Environment, string) (World, error) { return alone[O, S, E]{k}, nil },
		Meddling: map[string]Meddling{"its status wiped": k.wipe},
	}
	for _, l := range made.Lifecycles {
		s.Graphs[l.Name()] = l.Graph()
	}
	for _, change := range k.Changes {
		s.Changes = append(s.Changes, func(o client.Object) {
			if own, ok := o.(O); ok {
				change(own)
			}
		})
	}
	maps.Copy(s.Meddling, k.Meddling)
	return s, nil
}

// definitionsIn reads the definitions of a directory.
func definitionsIn(directory string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no definitions in %s: name the directory that controller-gen writes to (%w)", directory, err)
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a definition: %w", err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, definition); err != nil {
			return nil, fmt.Errorf("reading definition %s: %w", file, err)
		}
		out = append(out, definition)
	}
	return out, nil
}

// wipe clears the status.
func (k Kind[O, S, E]) wipe(a *Environment, namespace string) error {
	ctx := context.Background()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o := k.Object.DeepCopyObject().(O) //nolint:forcetypeassert // a copy has the type of what it copies
		if err := a.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: o.GetName()}, o); err != nil {
			return err
		}
		*o.LifecycleStatus() = lifecyclev1.Status{}
		return a.Admin.Status().Update(ctx, o)
	})
}

// alone is a world without external systems.
type alone[O lifecycle.Object, S, E any] struct{ kind Kind[O, S, E] }

// Register implements World.
func (w alone[O, S, E]) Register(mgr ctrl.Manager, options lifecycle.Options, _ func(string, func() error) error, passes Passes) error {
	kind, err := w.kind.Make()
	if err != nil {
		return err
	}
	request := kind.Observe
	kind.Observe = func(ctx context.Context, o O, viewing lifecycle.ObserveRequest) (S, error) {
		if !viewing.Live {
			passes.Begun()
		}
		return request(ctx, o, viewing)
	}
	apply := kind.Apply
	kind.Apply = func(ctx context.Context, o O, snapshot S, write lifecycle.Writer) error {
		if apply != nil {
			if err := apply(ctx, o, snapshot, write); err != nil {
				return err
			}
		}
		passes.Ended()
		return nil
	}
	return lifecycle.New(kind, options).SetupWithManager(mgr, lifecycle.Wiring{SkipNameValidation: true})
}

// Begin implements World.
func (alone[O, S, E]) Begin() {}

// Lingers implements World.
func (alone[O, S, E]) Lingers(*WatchRecorder) string { return "" }

// Effects implements World.
func (alone[O, S, E]) Effects() []string { return nil }

// Harm implements World.
func (alone[O, S, E]) Harm() []string { return nil }

// Judge implements World.
func (w alone[O, S, E]) Judge(history []Event) []string {
	if w.kind.Judge == nil {
		return nil
	}
	return w.kind.Judge(history)
}

// Close implements World.
func (alone[O, S, E]) Close() {}

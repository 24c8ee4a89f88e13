package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/config"
	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/internal/definitions"
)

// managerNamespace is the namespace of the manager.
const managerNamespace = config.Namespace

// install creates the CRDs, the manager's service account with its minimal permissions, and the permissions of users.
func (w *world) install(ctx context.Context) error {
	if err := w.installDefinitions(ctx); err != nil {
		return err
	}
	if err := w.plane.CreateNamespace(ctx, managerNamespace); err != nil {
		return err
	}
	for _, o := range slices.Concat(config.Access(w.options.resources(), managerNamespace), config.Users(w.options.resources())) {
		if err := w.client.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating %s: %w", o.GetName(), err)
		}
	}
	return w.grantEarly(ctx)
}

func (w *world) installDefinitions(ctx context.Context) error {
	scheme := k8sruntime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(w.admin, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	all, err := crds.Definitions()
	if err != nil {
		return err
	}
	return definitions.Install(ctx, c, all)
}

// acceptedWithin is the timeout for the API server to accept objects of a new kind everywhere.
const acceptedWithin = 30 * time.Second

// applyExamples creates the example resources. It retries while a new kind is not yet served.
func (w *world) applyExamples(ctx context.Context) error {
	for _, example := range w.options.examples() {
		decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(example)), 4096)
		for {
			o := &unstructured.Unstructured{}
			if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return fmt.Errorf("reading the examples: %w", err)
			}
			if len(o.Object) == 0 {
				continue
			}
			if o.GetNamespace() == "" {
				o.SetNamespace(metav1.NamespaceDefault)
			}
			if err := w.create(ctx, o); err != nil {
				return fmt.Errorf("applying example %s %s: %w", o.GetKind(), o.GetName(), err)
			}
		}
	}
	return nil
}

func (w *world) create(ctx context.Context, o *unstructured.Unstructured) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, acceptedWithin, true, func(ctx context.Context) (bool, error) {
		err := w.client.Create(ctx, o.DeepCopy())
		switch {
		case err == nil, apierrors.IsAlreadyExists(err):
			return true, nil
		case apierrors.IsNotFound(err):
			return false, nil
		}
		return false, err
	})
}

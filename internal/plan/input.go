package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/crds/admission"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1 "github.com/detent-dev/detent/crds/kafka/v1"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/manifests"
)

// Input is the validated input of a plan: resources that an API server would accept, and the World behind them.
type Input struct {
	// Objects are typed, in the storage version of their kind, and each has a namespace.
	Objects []client.Object
	// World is the content of the World document; Told is false if there is none.
	World World
	Told  bool
	// Table of the versions of Kafka: the World's, or the built-in one.
	Table *versions.Table
	// Notes list the parts of the input that were not used, and why.
	Notes []string
}

// defaultNamespace is the namespace of resources that name none, as in kubectl.
const defaultNamespace = "default"

// NewScheme returns a scheme with the kinds that a plan supports.
func NewScheme() (*k8sruntime.Scheme, error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientscheme.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering kinds: %w", err)
		}
	}
	return scheme, nil
}

// Read converts resources to an Input. It validates resources of the operator's own kinds against their schemas, as strictly as
// kubectl apply does. Other kinds only have to be decodable. An invalid input gives an *InputError with every finding.
func Read(ctx context.Context, all []manifests.Manifest) (Input, error) {
	definitions, err := crds.Definitions()
	if err != nil {
		return Input{}, err
	}
	schemas, err := admission.New(definitions)
	if err != nil {
		return Input{}, err
	}
	scheme, err := NewScheme()
	if err != nil {
		return Input{}, err
	}
	r := reader{schemas: schemas, scheme: scheme, seen: map[identity]manifests.Source{}}
	for _, m := range all {
		r.read(ctx, m)
	}
	return r.finish()
}

// identity identifies an object independently of the version of its kind.
type identity struct {
	schema.GroupKind
	namespace, name string
}

type reader struct {
	schemas  *admission.Schemas
	scheme   *k8sruntime.Scheme
	in       Input
	world    *manifests.Manifest
	seen     map[identity]manifests.Source
	findings []finding
}

func (r *reader) fail(m manifests.Manifest, field, problem string, args ...any) {
	r.findings = append(r.findings, finding{source: m.Source, of: describe(m), field: field, problem: fmt.Sprintf(problem, args...)})
}

func (r *reader) read(ctx context.Context, m manifests.Manifest) {
	gvk := m.Object.GroupVersionKind()
	switch {
	case gvk.GroupVersion().String() == APIVersion && gvk.Kind == KindWorld:
		r.readWorld(m)
	case gvk.Group == "detent.dev":
		r.fail(m, "kind", "there is no such kind: %s has %s", APIVersion, KindWorld)
	case r.ours(gvk.GroupKind()):
		r.readOurs(ctx, m)
	case r.scheme.Recognizes(gvk):
		r.readOther(m)
	default:
		r.in.Notes = append(r.in.Notes, fmt.Sprintf("%s is not used: no lifecycle looks at %s", describe(m), gvk.GroupVersion()))
	}
}

// ours reports whether Detent defines the kind in any version.
func (r *reader) ours(kind schema.GroupKind) bool { return len(r.served(kind)) > 0 }

func (r *reader) served(kind schema.GroupKind) []string {
	var found []string
	for _, version := range []string{kafkav1.Version, kafkav1beta2.Version} {
		if r.schemas.Knows(kind.WithVersion(version)) {
			found = append(found, version)
		}
	}
	return found
}

func (r *reader) readWorld(m manifests.Manifest) {
	if r.world != nil {
		r.fail(m, "", "a second World: the first is in %s; write one", r.world.Source)
		return
	}
	r.world = &m
	w, findings := decodeWorld(m)
	r.in.World, r.in.Told = w, true
	r.findings = append(r.findings, findings...)
}

// readOurs reads a resource of a kind with a schema.
func (r *reader) readOurs(ctx context.Context, m manifests.Manifest) {
	gvk := m.Object.GroupVersionKind()
	if !r.schemas.Knows(gvk) {
		r.fail(m, "apiVersion", "%s has no version %s: write one of %s", gvk.GroupKind(), gvk.Version, strings.Join(r.served(gvk.GroupKind()), ", "))
		return
	}
	object := m.Object.DeepCopy()
	r.note(m, foreignStatus(object)...)
	sound := true
	for _, e := range r.schemas.Create(ctx, object) {
		if strings.HasPrefix(e.Field, "status.") && e.Type == field.ErrorTypeForbidden {
			r.note(m, e.Field+" is not used: it is another program's")
			continue
		}
		sound = false
		r.fail(m, e.Field, "%s", e.ErrorBody())
	}
	if sound {
		object.SetAPIVersion(schema.GroupVersion{Group: gvk.Group, Version: kafkav1beta2.Version}.String())
		r.keep(m, object)
	}
}

func (r *reader) note(m manifests.Manifest, notes ...string) {
	for _, n := range notes {
		r.in.Notes = append(r.in.Notes, describe(m)+": "+n)
	}
}

// foreignStatus removes conditions without a reason or a message, which another operator wrote, and returns a note about them.
func foreignStatus(object *unstructured.Unstructured) []string {
	conditions, found, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil || !found {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(conditions), func(c any) bool {
		fields, ok := c.(map[string]any)
		return ok && (fields["reason"] == nil || fields["message"] == nil)
	})
	if len(kept) == len(conditions) {
		return nil
	}
	if err := unstructured.SetNestedSlice(object.Object, kept, "status", "conditions"); err != nil {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d conditions are not used: they have no reason or no message", len(conditions)-len(kept), len(conditions))}
}

// readOther reads a resource of a built-in Kubernetes kind. It accepts fields that this build does not know.
func (r *reader) readOther(m manifests.Manifest) {
	object := m.Object.DeepCopy()
	if name, _, err := unstructured.NestedString(object.Object, "metadata", "name"); err == nil && name == "" {
		r.fail(m, "metadata.name", "is missing")
		return
	} else if err != nil {
		r.keep(m, object) // keep reports the wrong type
		return
	}
	for _, message := range validation.NameIsDNSSubdomain(object.GetName(), false) {
		r.fail(m, "metadata.name", "%s", message)
	}
	r.keep(m, object)
}

// keep decodes the resource into its type and adds it to the objects. A duplicate is an error.
func (r *reader) keep(m manifests.Manifest, object *unstructured.Unstructured) {
	gvk := object.GroupVersionKind()
	empty, err := r.scheme.New(gvk)
	if err != nil {
		r.fail(m, "kind", "%s", err)
		return
	}
	typed, ok := empty.(client.Object)
	if !ok {
		r.fail(m, "kind", "is not one of an object")
		return
	}
	text, err := object.MarshalJSON()
	if err == nil {
		err = strictjson.UnmarshalCaseSensitivePreserveInts(text, typed)
	}
	if err != nil {
		r.findings = append(r.findings, typeFinding(m, err))
		return
	}
	typed.SetManagedFields(nil)
	if typed.GetNamespace() == "" && !clusterWide(gvk.GroupKind()) {
		typed.SetNamespace(defaultNamespace)
	}
	id := identity{gvk.GroupKind(), typed.GetNamespace(), typed.GetName()}
	if first, twice := r.seen[id]; twice {
		r.fail(m, "metadata.name", "the same object is also in %s: leave one of them out", first)
		return
	}
	r.seen[id] = m.Source
	r.in.Objects = append(r.in.Objects, typed)
}

// clusterWide reports whether a kind is cluster-scoped.
func clusterWide(kind schema.GroupKind) bool {
	switch kind.Kind {
	case "Namespace", "Node", "PersistentVolume", "StorageClass", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "CustomResourceDefinition":
		return true
	}
	return false
}

func (r *reader) finish() (Input, error) {
	if err := r.table(); err != nil {
		return Input{}, err
	}
	var names []string
	for _, o := range r.in.Objects {
		if kafka, ok := o.(*kafkav1beta2.Kafka); ok {
			names = append(names, kafka.Name)
		}
	}
	if r.world != nil {
		for _, p := range r.in.World.check(names) {
			r.fail(*r.world, p.field, "%s", p.text)
		}
	}
	if len(r.findings) > 0 {
		return Input{}, &InputError{findings: r.findings}
	}
	if len(names) == 0 {
		return Input{}, errors.New("the input holds no resource with a lifecycle: give a Kafka, with its KafkaNodePools and the other objects that belong to it")
	}
	return r.in, nil
}

// table uses the versions of the World document, else the built-in table.
func (r *reader) table() error {
	if r.in.World.KafkaVersions == nil {
		table, err := versions.Embedded()
		r.in.Table = table
		return err
	}
	text, err := yaml.Marshal(r.in.World.KafkaVersions)
	if err != nil {
		return fmt.Errorf("reading kafkaVersions: %w", err)
	}
	r.in.Table, err = versions.Parse(text, "kafkaVersions")
	var broken *versions.TableError
	if !errors.As(err, &broken) {
		return err
	}
	for _, f := range broken.Findings {
		path := field.NewPath("kafkaVersions")
		if f.Row > 0 {
			path = path.Index(f.Row - 1)
		}
		if f.Field != "" {
			path = path.Child(f.Field)
		}
		r.fail(*r.world, path.String(), "%s", f.Problem)
	}
	return nil
}

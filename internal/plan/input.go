package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	strictjson "sigs.k8s.io/json"

	"github.com/detent-dev/detent/crds/admission"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/resource"
)

// Input is the validated input of a plan: resources that an API server would accept, and the World behind them.
type Input struct {
	// Objects are typed, in the storage version of their kind, and each has a namespace.
	Objects []client.Object
	// World is the content of the World document; HasWorld is false if there is none.
	World    World
	HasWorld bool
	// Notes list the parts of the input that were not used, and why.
	Notes []string

	kinds []Kind
}

// defaultNamespace is the namespace of resources that name none, as in kubectl.
const defaultNamespace = "default"

// scheme returns a scheme with the types that a plan of the kinds supports.
func scheme(kinds []Kind) (*k8sruntime.Scheme, error) {
	declared := make([]resource.Kind, len(kinds))
	for i := range kinds {
		declared[i] = kinds[i].Kind
	}
	return resource.Scheme(declared)
}

// Read converts resources to an Input for a plan of the kinds. It validates resources with a schema against it, as strictly as kubectl
// apply does. Other kinds only have to be decodable. An invalid input gives an *InputError with every finding.
func Read(ctx context.Context, schemas *admission.Schemas, kinds []Kind, all []objects.Manifest) (Input, error) {
	types, err := scheme(kinds)
	if err != nil {
		return Input{}, err
	}
	r := reader{in: Input{kinds: kinds}, definitions: schemas.Definitions(), schemas: schemas, scheme: types, seen: map[identity]objects.Source{}}
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
	definitions []*apiextensionsv1.CustomResourceDefinition
	schemas     *admission.Schemas
	scheme      *k8sruntime.Scheme
	in          Input
	world       *objects.Manifest
	seen        map[identity]objects.Source
	findings    []finding
	// held are the resources of the input, with their sources.
	held []string
}

func (r *reader) fail(m objects.Manifest, field, problem string, args ...any) {
	r.findings = append(r.findings, finding{source: m.Source, of: describe(m), field: field, problem: fmt.Sprintf(problem, args...)})
}

func (r *reader) read(ctx context.Context, m objects.Manifest) {
	gvk := m.Object.GroupVersionKind()
	r.held = append(r.held, fmt.Sprintf("%s (%s)", describe(m), m.Source))
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
		r.readUnknown(m)
	}
}

// ours reports whether Detent defines the kind in any version.
func (r *reader) ours(kind schema.GroupKind) bool { return len(r.served(kind)) > 0 }

func (r *reader) served(kind schema.GroupKind) []string {
	var found []string
	for _, d := range r.definitions {
		if d.Spec.Group != kind.Group || d.Spec.Names.Kind != kind.Kind {
			continue
		}
		for _, v := range d.Spec.Versions {
			found = append(found, v.Name)
		}
	}
	slices.Sort(found)
	return found
}

// stored returns the version in which objects of the kind are stored.
func (r *reader) stored(kind schema.GroupKind) string {
	for _, d := range r.definitions {
		for _, v := range d.Spec.Versions {
			if d.Spec.Group == kind.Group && d.Spec.Names.Kind == kind.Kind && v.Storage {
				return v.Name
			}
		}
	}
	return ""
}

func (r *reader) readWorld(m objects.Manifest) {
	if r.world != nil {
		r.fail(m, "", "a second World: the first is in %s; write one", r.world.Source)
		return
	}
	r.world = &m
	w, findings := decodeWorld(r.in.kinds, m)
	r.in.World, r.in.HasWorld = w, true
	r.findings = append(r.findings, findings...)
}

// readOurs reads a resource of a kind with a schema.
func (r *reader) readOurs(ctx context.Context, m objects.Manifest) {
	gvk := m.Object.GroupVersionKind()
	if !r.schemas.Knows(gvk) {
		r.fail(m, "apiVersion", "%s has no version %s: write one of %s", gvk.GroupKind(), gvk.Version, strings.Join(r.served(gvk.GroupKind()), ", "))
		return
	}
	object := m.Object.DeepCopy()
	r.note(m, foreignStatus(object)...)
	if !r.checkMetadata(m) {
		return
	}
	sound := true
	for _, e := range r.schemas.Create(ctx, object) {
		if strings.HasPrefix(e.Field, "status.") && e.Type == field.ErrorTypeForbidden {
			r.note(m, e.Field+" is not used: it is another program's")
			continue
		}
		sound = false
		r.fail(m, fieldOf(e), "%s", e.ErrorBody()+quotes(m.Object.Object, e))
	}
	if sound {
		r.schemas.Default(object)
		object.SetAPIVersion(schema.GroupVersion{Group: gvk.Group, Version: r.stored(gvk.GroupKind())}.String())
		r.keep(m, object)
	}
}

func (r *reader) note(m objects.Manifest, notes ...string) {
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
func (r *reader) readOther(m objects.Manifest) {
	if !r.checkMetadata(m) {
		return
	}
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
func (r *reader) keep(m objects.Manifest, object *unstructured.Unstructured) {
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
	if r.in.World.Sections == nil { // there is no World document: every section is empty
		r.in.World, _ = decodeWorld(r.in.kinds, objects.Manifest{Object: &unstructured.Unstructured{Object: map[string]any{}}})
	}
	d := &Document{}
	if r.world != nil {
		d.manifest = *r.world
	}
	given := false
	for i := range r.in.kinds {
		k := &r.in.kinds[i]
		var names []string
		for _, o := range r.in.Objects {
			if gvks, _, err := r.scheme.ObjectKinds(o); err == nil && slices.ContainsFunc(gvks, func(gvk schema.GroupVersionKind) bool { return gvk.Kind == k.Name }) {
				names = append(names, o.GetName())
			}
		}
		given = given || len(names) > 0
		if err := r.in.World.Sections[k.Name].Check(d, names); err != nil {
			return Input{}, err
		}
	}
	if r.findings = append(r.findings, d.findings...); len(r.findings) > 0 {
		return Input{}, &InputError{findings: r.findings}
	}
	if !given {
		return Input{}, r.nothing()
	}
	return r.in, nil
}

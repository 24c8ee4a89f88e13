package kinds_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/internal/resource"
	"github.com/detent-dev/detent/kinds"
)

// The rights and the requests of detent plan are derived from the declared resources: they must be those of the types and of the
// custom resource definitions.
func TestAllDeclareTheirResources(t *testing.T) {
	all := registration.Resources(kinds.All())
	scheme, err := resource.Scheme(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		t.Run(k.Name, func(t *testing.T) {
			check(t, scheme, k.Object, k.Resource, resource.Part{Status: true, Scale: k.Scale})
			for _, p := range k.Parts {
				check(t, scheme, p.Object, p.Resource, p)
			}
		})
	}
}

func check(t *testing.T, scheme *k8sruntime.Scheme, object client.Object, declared schema.GroupVersionResource, p resource.Part) {
	t.Helper()
	gvk, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := meta.UnsafeGuessKindToResource(gvk); declared != want {
		t.Errorf("%T: resource %v, want %v", object, declared, want)
	}
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range definitions {
		if d.Spec.Group == declared.Group && d.Spec.Names.Kind == gvk.Kind {
			checkDefinition(t, d, declared, p)
		}
	}
}

func checkDefinition(t *testing.T, d *apiextensionsv1.CustomResourceDefinition, declared schema.GroupVersionResource, p resource.Part) {
	t.Helper()
	if d.Spec.Names.Plural != declared.Resource {
		t.Errorf("%s: resource %s, want %s", d.Name, declared.Resource, d.Spec.Names.Plural)
	}
	for _, v := range d.Spec.Versions {
		if v.Name != declared.Version {
			continue
		}
		if v.Subresources == nil || (v.Subresources.Status != nil) != p.Status || (v.Subresources.Scale != nil) != p.Scale {
			t.Errorf("%s: subresources %+v, declared are status: %v, scale: %v", d.Name, v.Subresources, p.Status, p.Scale)
		}
		return
	}
	t.Errorf("%s has no version %s", d.Name, declared.Version)
}

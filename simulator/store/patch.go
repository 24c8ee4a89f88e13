package store

import (
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// patchJSON applies a JSON patch to the stored object.
func (s *Store) patchJSON(object client.Object, patch []byte) error {
	r, err := s.objects.Match(s.scheme, object, "", "")
	if err != nil {
		return err
	}
	next, err := Patched(s.scheme, r.Object, patch)
	if err != nil {
		return err
	}
	if err := s.update(next, false); err != nil {
		return err
	}
	Set(object, next)
	return nil
}

// Patched returns a copy of the object with a JSON patch. A patch that does not apply, such as because a test in it fails, is an error
// that apierrors.IsInvalid recognizes.
func Patched(scheme *k8sruntime.Scheme, object client.Object, patch []byte) (client.Object, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return nil, err
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if text, err = operations.Apply(text); err != nil {
		return nil, apierrors.NewInvalid(kind.GroupKind(), object.GetName(), field.ErrorList{field.InternalError(nil, err)})
	}
	created, err := scheme.New(kind)
	if err != nil {
		return nil, err
	}
	next, isObject := created.(client.Object)
	if !isObject {
		return nil, fmt.Errorf("patching %T: it is no object", created)
	}
	return next, json.Unmarshal(text, next)
}

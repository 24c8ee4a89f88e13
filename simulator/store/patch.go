package store

import (
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// patchJSON applies a JSON patch to the stored object.
func (s *Store) patchJSON(object client.Object, patch []byte) error {
	kind, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return err
	}
	r, err := s.objects.Match(s.scheme, object, "", "")
	if err != nil {
		return err
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return err
	}
	text, err := json.Marshal(r.Object)
	if err != nil {
		return err
	}
	if text, err = operations.Apply(text); err != nil {
		return apierrors.NewInvalid(kind.GroupKind(), object.GetName(), field.ErrorList{field.InternalError(nil, err)})
	}
	created, err := s.scheme.New(kind)
	if err != nil {
		return err
	}
	next, isObject := created.(client.Object)
	if !isObject {
		return fmt.Errorf("patching %T: it is no object", created)
	}
	if err := json.Unmarshal(text, next); err != nil {
		return err
	}
	if err := s.update(next, false); err != nil {
		return err
	}
	Set(object, next)
	return nil
}

package chaos

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// served reports whether the effect of a write that was admitted is visible.
func served(ctx context.Context, client dynamic.Interface, w *admissionv1.AdmissionRequest) bool {
	object, err := client.Resource(schema.GroupVersionResource(w.Resource)).Namespace(w.Namespace).Get(ctx, objectName(w), metav1.GetOptions{})
	gone := apierrors.IsNotFound(err)
	switch {
	case err != nil && !gone:
		return false
	case w.Operation == admissionv1.Delete || w.SubResource == "eviction":
		return gone || object.GetDeletionTimestamp() != nil
	case gone:
		return false
	case w.Operation == admissionv1.Create:
		return true
	}
	return object.GetResourceVersion() != meta(w.OldObject.Raw).ResourceVersion
}

// objectName returns the name of the object of a write. The API server may have generated the
// name of an object that is created.
func objectName(w *admissionv1.AdmissionRequest) string {
	if w.Name != "" {
		return w.Name
	}
	return meta(w.Object.Raw).Name
}

func meta(raw []byte) metav1.ObjectMeta {
	var object metav1.PartialObjectMetadata
	_ = json.Unmarshal(raw, &object) // the API server encoded it; an empty object has no name
	return object.ObjectMeta
}

func resource(w *admissionv1.AdmissionRequest) string {
	name := w.Resource.Resource
	if w.SubResource != "" {
		name += "/" + w.SubResource
	}
	return name
}

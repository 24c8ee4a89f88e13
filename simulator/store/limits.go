package store

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withinLimits returns the error of an API server about a pod with a container that requests more than its limit; nil for other objects.
func withinLimits(object client.Object) error {
	pod, is := object.(*corev1.Pod)
	if !is {
		return nil
	}
	var errs field.ErrorList
	for i := range pod.Spec.Containers {
		r := &pod.Spec.Containers[i].Resources
		for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
			request, limit := r.Requests[name], r.Limits[name]
			if _, limited := r.Limits[name]; limited && request.Cmp(limit) > 0 {
				at := field.NewPath("spec", "containers").Index(i).Child("resources", "requests")
				errs = append(errs, field.Invalid(at, request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
			}
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, pod.Name, errs)
}

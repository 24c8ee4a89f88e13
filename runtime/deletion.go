package runtime

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// isDeleting reports whether the object is being deleted.
func isDeleting(object client.Object) bool { return object.GetDeletionTimestamp() != nil }

// isReleased reports whether the object is being deleted without the finalizer: the runtime changes nothing any more.
func isReleased(object client.Object) bool {
	return isDeleting(object) && !controllerutil.ContainsFinalizer(object, Finalizer)
}

// isForeground reports whether the garbage collector deletes the children before the object. A repaired child would be deleted
// again.
func isForeground(object client.Object) bool {
	return isDeleting(object) && controllerutil.ContainsFinalizer(object, metav1.FinalizerDeleteDependents)
}

// deletingCondition appends that an object which is being deleted is not ready, also where its lifecycles rest.
func (p *reconcileScope[O, S, E]) deletingCondition(own []metav1.Condition) []metav1.Condition {
	if !p.in.Deleting {
		return own
	}
	return append(slices.Clip(own), metav1.Condition{Type: Ready, Status: metav1.ConditionFalse, Reason: "Deleting", Message: "the object is being deleted"})
}

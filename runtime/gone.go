package runtime

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errGone says that the API server confirmed that the object of this pass does not exist any more.
var errGone = errors.New("the object is gone")

// gonePause is when an object that is gone is reconciled again if the watch does not report its deletion first.
const gonePause = 10 * time.Second

// ObjectMissing says whether err means that an object does not exist. An API server that does not serve the resource at all (its
// definition was removed, or lacks a subresource) answers with the same code, which says nothing about any object.
func ObjectMissing(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// IgnoreMissing returns nil for an object that does not exist, and every other error as it is.
func IgnoreMissing(err error) error {
	if ObjectMissing(err) {
		return nil
	}
	return err
}

// gone asks the API server whether the object is deleted, or another one has its name. It says no when that cannot be read.
func (r *Reconciler[O, V, E]) gone(ctx context.Context, object O) bool {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	live := r.kind.New()
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return ObjectMissing(err)
	}
	return live.GetUID() != object.GetUID()
}

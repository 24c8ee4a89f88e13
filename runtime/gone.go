package runtime

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errGone means that the API server confirmed that the object of this reconcile does not exist any more.
var errGone = errors.New("the object is gone")

// gonePause is the delay after which a deleted object is requeued, unless the watch reports the deletion first.
const gonePause = 10 * time.Second

// ObjectMissing reports whether err means that an object does not exist. An API server that does not serve the resource at all
// (its CustomResourceDefinition was removed, or lacks a subresource) also answers 404, which is no evidence about any object.
func ObjectMissing(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// IgnoreMissing returns nil if err means that an object does not exist, and err otherwise.
func IgnoreMissing(err error) error {
	if ObjectMissing(err) {
		return nil
	}
	return err
}

// gone reports whether the API server confirms that the object is deleted or that its name belongs to another object. It
// returns false if the API server cannot be read.
func (r *Reconciler[O, S, E]) gone(ctx context.Context, object O) bool {
	ctx, cancel := context.WithTimeout(ctx, r.kind.ObserveTimeout)
	defer cancel()
	live := r.kind.New()
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return ObjectMissing(err)
	}
	return live.GetUID() != object.GetUID()
}

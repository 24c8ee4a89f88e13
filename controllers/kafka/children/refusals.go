package children

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// refusals is the writer of Repair and Apply. A write that is refused until someone changes the spec, a quota, a policy or another object is ErrWait,
// without back-off: all steps of Apply share one back-off, and a refused Deployment must not delay a scale-up, which takes several
// reconciles. Outages and time-outs are backed off.
type refusals struct{ lifecycle.Writer }

// refusal is the error of a refused write, with the text of the API server alone.
type refusal struct{ error }

func (e refusal) Unwrap() error { return e.error }

func (e refusal) Is(target error) bool { return target == lifecycle.ErrWait }

func refused(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsAlreadyExists(err) {
		return refusal{err}
	}
	return err
}

// Own implements lifecycle.Writer. It fails only for an object of another owner.
func (w refusals) Own(child client.Object) error {
	if err := w.Writer.Own(child); err != nil {
		return refusal{err}
	}
	return nil
}

// Create implements lifecycle.Writer.
func (w refusals) Create(ctx context.Context, object client.Object) error {
	return refused(w.Writer.Create(ctx, object))
}

// Update implements lifecycle.Writer.
func (w refusals) Update(ctx context.Context, object client.Object) error {
	return refused(w.Writer.Update(ctx, object))
}

// Delete implements lifecycle.Writer.
func (w refusals) Delete(ctx context.Context, object client.Object) error {
	return refused(w.Writer.Delete(ctx, object))
}

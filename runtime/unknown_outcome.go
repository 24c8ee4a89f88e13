package runtime

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// unknownOutcome reports whether a request that failed may have been executed.
func unknownOutcome(err error) bool {
	if err == nil || errors.Is(err, ErrWait) || errors.Is(err, ErrStale) {
		return false
	}
	var refused apierrors.APIStatus
	if !errors.As(err, &refused) {
		return true
	}
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err) || apierrors.IsUnexpectedServerError(err)
}

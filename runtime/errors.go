package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

var (
	// ErrWait means that an effect cannot be executed yet, for example because an eviction was answered with 429. The state
	// stays and the effect is tried again without back-off.
	ErrWait = errors.New("not possible yet")
	// ErrStale means that a cache has not observed our last write. The reconcile ends and is requeued shortly.
	ErrStale = errors.New("the cache is behind our own last write")
)

// Apart marks the error of a repair after which everything else was repaired, and on which nothing else depends: the children of the generation
// are applied all the same. It is nil without an error.
func Apart(err error) error {
	if err == nil {
		return nil
	}
	return apartError{err}
}

type apartError struct{ error }

func (e apartError) Unwrap() error { return e.error }

// guarded calls do and returns a panic of the kind's code as an error that names the call. The failure is then backed off and
// shown like any other.
func guarded(ctx context.Context, what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v", what, p)
			log.FromContext(ctx).Error(err, "the kind is defective", "stack", string(debug.Stack()))
		}
	}()
	return do()
}

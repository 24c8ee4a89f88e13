package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

var (
	// ErrWait says that an effect cannot be performed yet (an eviction answered 429, say): the state stays, without back-off.
	ErrWait = errors.New("not possible yet")
	// ErrBehind says that a cache has not seen our own last write. The pass ends and is taken again soon.
	ErrBehind = errors.New("the cache is behind our own last write")
)

// guarded turns a panic of the kind's code into an error that says what ran, so that a defect there has a name, backs off and
// is shown like any other failure.
func guarded(ctx context.Context, what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v", what, p)
			log.FromContext(ctx).Error(err, "the kind is defective", "stack", string(debug.Stack()))
		}
	}()
	return do()
}

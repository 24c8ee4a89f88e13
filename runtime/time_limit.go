package runtime

import (
	"context"
	"fmt"
)

// limited calls a function of the kind that writes, with a context that ends after ExecuteTimeout. A panic becomes an error.
func (p *reconcileScope[O, S, E]) limited(ctx context.Context, what string, do func(context.Context) error) error {
	limit, cancel := context.WithTimeout(ctx, p.kind.ExecuteTimeout)
	defer cancel()
	err := guarded(ctx, what, func() error { return do(limit) })
	if err != nil && ctx.Err() == nil && limit.Err() != nil {
		return fmt.Errorf("%s took longer than %s: %w", what, p.kind.ExecuteTimeout, err)
	}
	return err
}

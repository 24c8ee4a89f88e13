package lab

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Closing is called when its manager ends.
type Closing func()

var _ manager.Runnable = Closing(nil)

// Start implements manager.Runnable.
func (c Closing) Start(ctx context.Context) error {
	<-ctx.Done()
	c()
	return nil
}

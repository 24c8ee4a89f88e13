// Package definitions installs custom resource definitions.
package definitions

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// servedWithin is the timeout for a new kind to be served.
const servedWithin = time.Minute

// Install creates the definitions and waits until each is served. It does not change a definition that exists. The client's
// scheme must have the kinds of apiextensions.k8s.io/v1. Discovery may list a kind slightly later.
func Install(ctx context.Context, c client.Client, definitions []*apiextensionsv1.CustomResourceDefinition) error {
	for _, d := range definitions {
		if err := c.Create(ctx, d.DeepCopy()); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("installing %s: %w", d.Name, err)
		}
	}
	for _, d := range definitions {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, servedWithin, true, func(ctx context.Context) (bool, error) {
			have := &apiextensionsv1.CustomResourceDefinition{}
			err := c.Get(ctx, client.ObjectKeyFromObject(d), have)
			return slices.ContainsFunc(have.Status.Conditions, established), err
		})
		if err != nil {
			return fmt.Errorf("waiting for %s to be served: %w", d.Name, err)
		}
	}
	return nil
}

func established(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
	return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
}

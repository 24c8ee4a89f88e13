package lab

import (
	"fmt"
	"strings"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Defect returns an error if the conditions of an object show a panic of its kind, or a machine that is defective. Every harness checks each
// status that it sees: what recovers by itself within one reconcile is a defect as well.
func Defect(object lifecycle.Object) error {
	for _, c := range object.LifecycleStatus().Conditions {
		if c.Reason == lifecycle.Defect || strings.Contains(c.Message, "panicked") {
			return fmt.Errorf("%s %s is defective: %s: %s", object.GetNamespace(), object.GetName(), c.Type, c.Message)
		}
	}
	return nil
}

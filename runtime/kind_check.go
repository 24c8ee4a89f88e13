package runtime

import (
	"errors"
	"fmt"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
)

// Validate returns what of the declaration would fail in the cluster only, all of it together. SetupWithManager calls it.
func (k Kind[O, S, E]) Validate() error {
	var lifecycles []machines.Evaluator[O, S, E]
	for _, lc := range k.Lifecycles {
		lifecycles = append(lifecycles, lc.Evaluator(access.Key{}))
	}
	if err := errors.Join(checkNames(lifecycles), checkEntries(lifecycles)); err != nil {
		return fmt.Errorf("declaring kind %s: %w", k.Name, err)
	}
	return nil
}

// checkNames returns an error for names of lifecycles that cannot be keys of their entries in the status.
func checkNames[O, S, E any](lifecycles []machines.Evaluator[O, S, E]) error {
	var problems []error
	seen := map[string]bool{}
	for _, lc := range lifecycles {
		name := lc.Name()
		if !machines.IsName(name) {
			problems = append(problems, fmt.Errorf("the name of lifecycle %q is the key of its entry in the status: name it in its Binding in kebab-case, with at most 64 characters", name))
		}
		if seen[name] {
			problems = append(problems, fmt.Errorf("several lifecycles have the name %s and would overwrite each other's entry: give each Binding another Name", name))
		}
		seen[name] = true
	}
	return errors.Join(problems...)
}

// maxEntries is the number of entries for which the schema of status.lifecycles has room.
const maxEntries = 1024

// checkEntries returns an error if an object may have more entries than the schema permits: the API server would refuse its status.
func checkEntries[O, S, E any](lifecycles []machines.Evaluator[O, S, E]) error {
	sum := 0
	for _, lc := range lifecycles {
		sum += lc.MaxInstances()
	}
	if sum > maxEntries {
		return fmt.Errorf("an object may have %d entries in status.lifecycles, and its schema permits %d: declare a smaller MaxInstances in the Binding of its lifecycles", sum, maxEntries)
	}
	return nil
}

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
	if err := errors.Join(k.checkFields(lifecycles), checkNames(lifecycles), checkEntries(lifecycles)); err != nil {
		return fmt.Errorf("declaring kind %s: %w", k.Name, err)
	}
	return nil
}

// checkFields returns an error for required fields that are missing.
func (k Kind[O, S, E]) checkFields(lifecycles []machines.Evaluator[O, S, E]) error {
	var problems []error
	demand := func(has bool, field, why string) {
		if !has {
			problems = append(problems, fmt.Errorf("it has no %s, %s: declare it", field, why))
		}
	}
	demand(k.Name != "", "Name", "which errors and metrics show")
	demand(k.New != nil, "New", "which returns the object to read")
	demand(k.Observe != nil, "Observe", "from whose snapshot every lifecycle is decided")
	demand(len(lifecycles) > 0, "Lifecycles", "so that nothing would be decided")
	demand(k.Disrupts == nil || k.Availability != nil, "Availability", "without which no effect that disrupts a member is executed")
	acts, records := "", ""
	for _, lc := range lifecycles {
		for _, state := range lc.Graph().States {
			action, ok := lc.Action(state.Name)
			if ok {
				acts = action.Name
			}
			if action.Records {
				records = action.Name
			}
		}
	}
	demand(acts == "" || k.Execute != nil, "Execute", "which executes the effects of action "+acts)
	demand(records == "" || k.Records != nil, "Records", "which keeps what action "+records+" records")
	return errors.Join(problems...)
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

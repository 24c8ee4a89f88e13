// Package registration is what the commands of the binary need of a kind, in one value: Kind. Package kinds lists the kinds.
package registration

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/internal/resource"
)

// Kind registers one kind. Its fields are required.
type Kind struct {
	// Resource declares the API objects of the kind.
	Resource resource.Kind
	// Machines are the machines of the kind, in the order of the documentation. The commands graph, verify and replay and the
	// generated pages are derived from them. The flags are those of detent replay.
	Machines Part[[]catalogue.Machine]
	// Manager is the kind for detent manager.
	Manager Part[operator.Kind]
	// Plan is the kind for detent plan.
	Plan Part[plan.Kind]
	// Dev is the kind for detent dev.
	Dev Part[dev.Kind]
}

// Part is what one command needs of a kind. It adds the kind's flags to the command, and returns a function that makes the part
// after the flags were parsed. Flags of several kinds share one set, so that the names of a kind's own flags begin with its name.
type Part[T any] func(flags *pflag.FlagSet) func() (T, error)

// Each returns the part of each kind, in the order of the kinds. With nil flags the parts have the defaults of their flags.
func Each[T any](kinds []Kind, flags *pflag.FlagSet, part func(Kind) Part[T]) func() ([]T, error) {
	if flags == nil {
		flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	makeParts := make([]func() (T, error), len(kinds))
	for i, k := range kinds {
		makeParts[i] = part(k)(flags)
	}
	return func() ([]T, error) {
		out := make([]T, len(kinds))
		for i, makePart := range makeParts {
			var err error
			if out[i], err = makePart(); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// Resources returns the declarations of the kinds.
func Resources(kinds []Kind) []resource.Kind {
	out := make([]resource.Kind, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].Resource
	}
	return out
}

// Managed returns the declarations of the kinds with the rights that follow from their machines: a manager patches the finalizers of a
// kind if one of its machines declares a deletion.
func Managed(kinds []Kind) ([]resource.Kind, error) {
	all, err := Each(kinds, nil, func(k Kind) Part[[]catalogue.Machine] { return k.Machines })()
	if err != nil {
		return nil, fmt.Errorf("making the machines of the kinds: %w", err)
	}
	out := Resources(kinds)
	for i := range out {
		out[i].Finalizer = slices.ContainsFunc(all[i], func(m catalogue.Machine) bool { return m.Graph.Deletion != nil })
	}
	return out, nil
}

// Machines returns the machines of all kinds. Flags as in Each. Two kinds must not have machines of the same name.
func Machines(kinds []Kind, flags *pflag.FlagSet) func() ([]catalogue.Machine, error) {
	each := Each(kinds, flags, func(k Kind) Part[[]catalogue.Machine] { return k.Machines })
	return func() ([]catalogue.Machine, error) {
		parts, err := each()
		if err != nil {
			return nil, err
		}
		all := slices.Concat(parts...)
		seen := map[string]bool{}
		for i := range all {
			name := all[i].Graph.Name
			if seen[name] {
				return nil, fmt.Errorf("two machines have the name %s: rename one of them", name)
			}
			seen[name] = true
		}
		return all, nil
	}
}

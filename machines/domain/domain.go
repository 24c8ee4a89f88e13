// Package domain describes the facts over which a machine is verified. Package verification does that; a machine only describes them,
// so that an operator does not contain the verification.
package domain

import (
	"errors"
	"strings"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/transitions"
)

// Domain is a finite set of facts: every combination of the values of its dimensions. A machine may be verified over several
// domains, so that independent concerns are not multiplied.
type Domain[F, D any] struct {
	// Base returns new facts, which the values then change. Every costly fact in them is requested. Required.
	Base func() F
	// Dimensions of the facts. Their values are set in order, so that a value may depend on an earlier dimension.
	Dimensions []Dimension[F]
	// Derive sets what follows from the values. Optional.
	Derive func(facts *F)
	// Data returns the data that may be stored with a state. Optional; default: the zero value.
	Data func(state string) []D
	// Enter sets the facts that belong to one visit of a state when the given entry starts it: when it was entered, the
	// attempt, and that the answer to the previous visit's request is gone. Optional.
	Enter func(facts *F, entry *lifecyclev1.Lifecycle)
	// Held returns the held resources that are held in the facts. Optional; default: what transitions declare in Releases is
	// not checked.
	Held func(facts *F) []string
}

// Dimension is one concern of the facts, with its relevant values.
type Dimension[F any] struct {
	Values []Value[F]
}

// Value is one value of a dimension.
type Value[F any] struct {
	// Name describes the value, such as "broker 2 down". Empty for the usual value.
	Name string
	// Set changes the facts. Optional; default: no change.
	Set func(facts *F)
}

// Of returns a dimension of these values.
func Of[F any](values ...Value[F]) Dimension[F] { return Dimension[F]{Values: values} }

// Known is a named value of a costly fact.
type Known[A any] struct {
	Name  string
	Value A
}

// OfFact returns a dimension of a costly fact: it has each of the values, is pending, and is unreadable.
func OfFact[F, A any](fact func(facts *F) *transitions.Fact[A], values []Known[A]) Dimension[F] {
	set := func(name string, to transitions.Fact[A]) Value[F] {
		return Value[F]{Name: name, Set: func(facts *F) { *fact(facts) = to }}
	}
	var d Dimension[F]
	for _, v := range values {
		d.Values = append(d.Values, set(v.Name, transitions.Known(v.Value, time.Unix(0, 0))))
	}
	d.Values = append(d.Values, set("pending", transitions.Pending[A]()), set("unreadable", transitions.Unreadable[A](errors.New("time-out"))))
	return d
}

// Each calls visit with each facts of the domain and a function that returns their name.
func (d *Domain[F, D]) Each(visit func(facts *F, name func() string)) {
	at := make([]int, len(d.Dimensions))
	for {
		facts := d.Base()
		for i, n := range at {
			if set := d.Dimensions[i].Values[n].Set; set != nil {
				set(&facts)
			}
		}
		if d.Derive != nil {
			d.Derive(&facts)
		}
		visit(&facts, func() string { return d.named(at) })
		if !d.next(at) {
			return
		}
	}
}

// next advances to the next combination, the last dimension first, and returns false after the last combination.
func (d *Domain[F, D]) next(at []int) bool {
	for i := len(at) - 1; i >= 0; i-- {
		at[i]++
		if at[i] < len(d.Dimensions[i].Values) {
			return true
		}
		at[i] = 0
	}
	return false
}

func (d *Domain[F, D]) named(at []int) string {
	var names []string
	for i, n := range at {
		if name := d.Dimensions[i].Values[n].Name; name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "nothing out of the ordinary"
	}
	return strings.Join(names, ", ")
}

// DataOf returns the data that may be stored with the state.
func (d *Domain[F, D]) DataOf(state string) []D {
	if d.Data == nil {
		return []D{*new(D)}
	}
	return d.Data(state)
}

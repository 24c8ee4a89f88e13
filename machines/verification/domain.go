package verification

import (
	"strings"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// Domain is a finite set of facts: every combination of the values of its dimensions. A machine may be judged over several, so that
// concerns that do not touch one another need not be multiplied.
type Domain[F, M any] struct {
	// Base makes facts that the values then change; each call makes new ones. Every costly fact in it has been asked for.
	Base func() F
	// Dimensions of the facts. Their values are set in order, so that a later one may build on an earlier one.
	Dimensions []Dimension[F]
	// Derive fills in what follows from the values; optional.
	Derive func(facts *F)
	// Memos that may be stored with a state; the zero memo if nil.
	Memos func(state string) []M
	// Enter changes what belongs to one visit of a state, as the given entry begins one: when it was entered, the attempt, the
	// answer to what was asked in the visit before. Optional.
	Enter func(facts *F, entry *lifecyclev1.Lifecycle)
	// Held names the holdings that are held in the facts. Optional: what transitions say to release is then believed.
	Held func(facts *F) []string
}

// Dimension is one concern of the facts, with the values that matter.
type Dimension[F any] struct {
	Values []Value[F]
}

// Value is one value of a dimension.
type Value[F any] struct {
	// Name tells it in a few words, such as "broker 2 down". Empty for what goes without saying.
	Name string
	// Set changes the facts; nil leaves them as they are.
	Set func(facts *F)
}

// Of makes a dimension.
func Of[F any](values ...Value[F]) Dimension[F] { return Dimension[F]{Values: values} }

// Each calls visit with every facts of the domain, and what makes its name.
func (d *Domain[F, M]) Each(visit func(facts *F, name func() string)) {
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

// next counts on, the last dimension first, and says whether there is another facts.
func (d *Domain[F, M]) next(at []int) bool {
	for i := len(at) - 1; i >= 0; i-- {
		at[i]++
		if at[i] < len(d.Dimensions[i].Values) {
			return true
		}
		at[i] = 0
	}
	return false
}

func (d *Domain[F, M]) named(at []int) string {
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

func (d *Domain[F, M]) memos(state string) []M {
	if d.Memos == nil {
		return []M{*new(M)}
	}
	return d.Memos(state)
}

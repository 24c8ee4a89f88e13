package observation

import (
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/transitions"
)

// pointer is a pointer to an API type.
type pointer[T any] interface {
	*T
	client.Object
	DeepCopy() *T
}

// sorted returns pointers to the items, sorted by name.
func sorted[T any, P pointer[T]](items []T) []*T {
	out := make([]*T, len(items))
	inOrder := true
	for i := range items {
		out[i] = &items[i]
		inOrder = inOrder && (i == 0 || P(out[i-1]).GetName() < P(out[i]).GetName())
	}
	if !inOrder {
		slices.SortFunc(out, func(a, b *T) int { return strings.Compare(P(a).GetName(), P(b).GetName()) })
	}
	return out
}

// Named returns the object with the name from a sorted list, or nil.
func Named[T any, P pointer[T]](list []P, name string) P {
	i, found := slices.BinarySearchFunc(list, name, func(o P, name string) int { return strings.Compare(o.GetName(), name) })
	if !found {
		return nil
	}
	return list[i]
}

func copied[T any, P pointer[T]](list []P) []P {
	out := make([]P, len(list))
	for i := range list {
		out[i] = list[i].DeepCopy()
	}
	return out
}

func (o *Objects) clone() Objects {
	return Objects{
		Pools: copied(o.Pools), PodSets: copied(o.PodSets), Pods: copied(o.Pods), ConfigMaps: copied(o.ConfigMaps),
		Claims: copied(o.Claims), Services: copied(o.Services), Accounts: copied(o.Accounts), Budgets: copied(o.Budgets),
		Deployments: copied(o.Deployments),
	}
}

// Known returns the value of a fact that was observed.
func Known[T any](fact transitions.Fact[T]) (T, bool) {
	if !fact.Asked() {
		var none T
		return none, false
	}
	return fact.Get()
}

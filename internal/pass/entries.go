package pass

import lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"

// Entries finds the entries of a status by the name of their lifecycle: by an index where there are many, and without an allocation
// where there are few. Entries may be replaced and appended afterwards, but not moved; an appended entry is not found by an index.
type Entries struct {
	status *lifecyclev1.Status
	places map[string]int
}

// indexFrom is the number of entries from which an index is faster than comparing names.
const indexFrom = 17

// EntriesOf returns the entries of a status.
func EntriesOf(status *lifecyclev1.Status) Entries {
	e := Entries{status: status}
	if len(status.Lifecycles) < indexFrom {
		return e
	}
	e.places = make(map[string]int, len(status.Lifecycles))
	for i := range status.Lifecycles {
		if _, repeated := e.places[status.Lifecycles[i].Name]; !repeated { // the first is the one that counts, as for Entry
			e.places[status.Lifecycles[i].Name] = i
		}
	}
	return e
}

// Find returns the entry of the lifecycle, or nil.
func (e Entries) Find(lifecycle string) *lifecyclev1.Lifecycle {
	if e.places == nil {
		return Entry(e.status, lifecycle)
	}
	if i, found := e.places[lifecycle]; found {
		return &e.status.Lifecycles[i]
	}
	return nil
}

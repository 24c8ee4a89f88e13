package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// badness of an instance, for the order in which instances are shown.
func (s *lifecycleState) badness(now time.Time) int {
	_, stalled := s.stalled(now)
	switch {
	case stalled:
		return 3
	case s.busy():
		return 2
	case s.state.Kind == states.Hold, s.undecided():
		return 1
	default:
		return 0
	}
}

// worstInstanceFirst sorts the instances of each lifecycle: the worst first, and equal ones by name. The order of the lifecycles
// stays.
func worstInstanceFirst(all []lifecycleState, now time.Time) {
	for begin := 0; begin < len(all); {
		lifecycle, _ := machines.SplitEntryName(all[begin].name)
		end := begin + 1
		for end < len(all) && all[end].isInstanceOf(lifecycle) {
			end++
		}
		if end-begin > 1 {
			slices.SortFunc(all[begin:end], func(a, b lifecycleState) int {
				return cmp.Or(cmp.Compare(b.badness(now), a.badness(now)), strings.Compare(a.name, b.name))
			})
		}
		begin = end
	}
}

func (s *lifecycleState) isInstanceOf(lifecycle string) bool {
	of, instance := machines.SplitEntryName(s.name)
	return instance != "" && of == lifecycle
}

// othersUnderWay returns how many other instances of the worst one's lifecycle are not settled, as a suffix of a message.
func othersUnderWay(all []lifecycleState, worst *lifecycleState) string {
	lifecycle, instance := machines.SplitEntryName(worst.name)
	if instance == "" {
		return ""
	}
	others := 0
	for i := range all {
		if s := &all[i]; s != worst && s.isInstanceOf(lifecycle) && s.busy() {
			others++
		}
	}
	if others == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more of %s are under way", others, lifecycle)
}

// sortEntries sorts the entries by the name of their lifecycle, and the instances of one as their states are sorted. It reports
// whether an entry was moved, which the states then point past.
func sortEntries(entries []lifecyclev1.Lifecycle, all []lifecycleState) (moved bool) {
	var place map[string]int
	for i := range all {
		if _, instance := machines.SplitEntryName(all[i].name); instance != "" {
			if place == nil {
				place = make(map[string]int, len(all))
			}
			place[all[i].name] = i
		}
	}
	order := func(a, b lifecyclev1.Lifecycle) int {
		one, _ := machines.SplitEntryName(a.Name)
		other, _ := machines.SplitEntryName(b.Name)
		return cmp.Or(strings.Compare(one, other), cmp.Compare(place[a.Name], place[b.Name]), strings.Compare(a.Name, b.Name))
	}
	if slices.IsSortedFunc(entries, order) {
		return false
	}
	slices.SortFunc(entries, order)
	return true
}

const (
	// foldFrom is the number of entries from which they share statusRoom, in bytes. The limit of etcd for an object is 1.5 MiB.
	foldFrom, statusRoom = 16, 256 << 10
	// foldedText is the length of the texts of a folded waitingFor, in bytes.
	foldedText = 96
)

// fold shortens the entries of an object that has many: the oldest transitions of the history are dropped, and then all that an
// entry waits for but the first. No decision reads either. The slices of an entry are shared with the cache and not modified.
func fold(entries []lifecyclev1.Lifecycle) {
	if len(entries) <= foldFrom {
		return
	}
	room := statusRoom / len(entries)
	for i := range entries {
		e := &entries[i]
		for len(e.History) > 0 && sizeOf(e) > room {
			e.History = e.History[1:]
		}
		if len(e.WaitingFor) == 0 || sizeOf(e) <= room {
			continue
		}
		w := e.WaitingFor[0]
		w.Expected, w.Observed = machines.Cut(w.Expected, foldedText), machines.Cut(w.Observed, foldedText)
		e.WaitingFor = []lifecyclev1.WaitingFor{w}
	}
}

// sizeOf returns about how many bytes the entry has as JSON.
func sizeOf(e *lifecyclev1.Lifecycle) int {
	const keys, transition = 300, 90
	n := keys + len(e.Name) + len(e.Machine) + len(e.State)
	if e.Attempt != nil {
		n += len(e.Attempt.From) + len(e.Attempt.To)
	}
	for k, v := range e.Data {
		n += len(k) + len(v)
	}
	for i := range e.WaitingFor {
		n += transition + len(e.WaitingFor[i].Guard) + len(e.WaitingFor[i].Expected) + len(e.WaitingFor[i].Observed)
	}
	for i := range e.History {
		n += transition + len(e.History[i].Event) + len(e.History[i].From) + len(e.History[i].To)
	}
	return n
}

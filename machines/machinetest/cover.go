package machinetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// cover determines which items the rows cover and which mutants they detect.
func (x *examination[F, D, E]) cover() {
	x.meet()
	mutants := x.mutants()
	without := map[string]*mutant[F, D, E]{} // by edge: the machine without it
	var unnoticed []*mutant[F, D, E]
	for i := range mutants {
		m := &mutants[i]
		if m.event != "" {
			without[m.items[0]] = m
		}
		if !x.notices(m) {
			unnoticed = append(unnoticed, m)
		}
	}
	for _, item := range x.items.order {
		if !x.items.met[item] {
			x.problem("%s: %s", x.items.lack(item), x.advise(item, without[item]))
		}
	}
	for _, m := range unnoticed {
		x.complain(m)
	}
}

// complain reports a mutant that no row detects, unless no facts of the table distinguish it from the machine or its edge has
// no row.
func (x *examination[F, D, E]) complain(m *mutant[F, D, E]) {
	hint, found := x.candidate(m)
	if m.possible != nil && !found {
		return
	}
	met := x.met(m.items)
	for _, item := range m.items {
		x.items.missed[item] = true
	}
	if met {
		x.problem("%s, and no row would notice: %s", m.text, join(m.add, hint))
	}
}

// meet marks what the rows show without a mutant: transitions that are taken, and answers.
func (x *examination[F, D, E]) meet() {
	for i := range x.trials {
		t := &x.trials[i]
		switch t.out.event {
		case "":
		case machines.EventInferred:
			x.items.met[inferredItem(t.out.to)] = true
		default:
			x.items.met[edgeItem(t.out.event, t.row.State)] = true
		}
		for j := range x.sites {
			if s := &x.sites[j]; s.state == t.row.State {
				x.meetAnswers(t, s)
			}
		}
	}
}

// meetAnswers marks the answers of Invariant and Precondition, and the leaves that are unknown. A leaf's yes and no are marked by the
// mutants that answer the opposite.
func (x *examination[F, D, E]) meetAnswers(t *trial[F, D, E], s *site[F, D, E]) {
	asked := t.asked() && !x.overtaken(t, s)
	switch s.kind {
	case edgeSite:
	case invariantSite:
		asked = t.readable && t.out.event != machines.EventTargetChanged
	case preconditionSite:
		asked = t.out.mayAct && (t.out.event == "" || t.out.event == machines.EventPreconditionFailed)
	}
	if !asked {
		return
	}
	if v, ok := s.verdict(whole, &t.row.Facts, t.data); ok && s.kind != edgeSite {
		x.items.met[answerItem(s.label, v.Answer)] = true
	}
	for n, l := range s.leaves {
		if v, ok := s.verdict(n, &t.row.Facts, t.data); ok && v.Answer == transitions.Unknown {
			x.items.met[answerItem(guardLabel(l.Name), v.Answer)] = true
		}
	}
}

// overtaken reports that an earlier edge than the site's was taken, so that the site's guard was not evaluated.
func (x *examination[F, D, E]) overtaken(t *trial[F, D, E], s *site[F, D, E]) bool {
	if s.kind != edgeSite {
		return false
	}
	for i := range x.def.Transitions[:s.index] {
		if e := &x.def.Transitions[i]; e.From == s.state && e.Event == t.out.event {
			return true
		}
	}
	return false
}

func (x *examination[F, D, E]) met(items []string) bool {
	for _, item := range items {
		if !x.items.met[item] {
			return false
		}
	}
	return true
}

// notices reports whether some row fails on the mutant.
func (x *examination[F, D, E]) notices(m *mutant[F, D, E]) bool {
	other := drive(x.machine.Mutant(access.Key{}, m.change), nil)
	noticed := false
	for i := range x.trials {
		t := &x.trials[i]
		if m.state != "" && t.row.State != m.state {
			continue
		}
		out := other.follow(t.entry, &t.row.Facts)
		if out.same(&t.out) {
			continue
		}
		noticed = true
		if m.site == nil {
			break
		}
		// Every row that detects the mutant shows that the leaf's answer matters there.
		if v, ok := m.site.verdict(m.leaf, &t.row.Facts, t.data); ok {
			x.items.met[answerItem(guardLabel(m.site.leaves[m.leaf].Name), v.Answer)] = true
		}
	}
	return noticed
}

// candidate finds facts in the table that distinguish the mutant from the machine, with the data of their own row or of a row
// in the mutant's state.
func (x *examination[F, D, E]) candidate(m *mutant[F, D, E]) (hint string, found bool) {
	other := drive(x.machine.Mutant(access.Key{}, m.change), nil)
	held := x.storedData(m.state)
	for i := range x.trials {
		t := &x.trials[i]
		for _, data := range append(held, t.stored()) {
			if hint, found = x.distinguishes(m, other, t, data); found {
				return hint, true
			}
		}
	}
	return "", false
}

// stored returns the data of the row's persisted state.
func (t *trial[F, D, E]) stored() stored[D] {
	if t.entry == nil {
		return stored[D]{data: t.data}
	}
	return stored[D]{coded: t.entry.Data, data: t.data, row: t.row.Name}
}

// stored is data with its encoding and the row that it comes from.
type stored[D any] struct {
	coded map[string]string
	data  D
	row   string
}

// storedData returns the distinct data of the rows in a state.
func (x *examination[F, D, E]) storedData(state string) []stored[D] {
	var out []stored[D]
	for i := range x.trials {
		t := &x.trials[i]
		if t.row.State != state || !t.readable {
			continue
		}
		if known := slices.ContainsFunc(out, func(s stored[D]) bool { return maps.Equal(s.coded, t.entry.Data) }); !known {
			out = append(out, t.stored())
		}
	}
	return slices.Clip(out)
}

// distinguishes reports whether the facts of one row, with the data and in the mutant's state, have another outcome than on the
// machine. hint is the advice for a new row.
func (x *examination[F, D, E]) distinguishes(m *mutant[F, D, E], other driven[F, E], t *trial[F, D, E], with stored[D]) (hint string, ok bool) {
	facts := &t.row.Facts
	if m.possible != nil && !m.possible(facts, with.data) {
		return "", false
	}
	entry := entryOf(m.state, with.coded, t.target)
	is := x.quick.follow(entry, facts)
	if is.err != nil || m.event != "" && is.event != m.event {
		return "", false
	}
	if out := other.follow(entry, facts); out.err != nil || out.same(&is) {
		return "", false
	}
	data := ""
	if len(with.coded) > 0 {
		data = fmt.Sprintf(" with data %v", with.coded)
	}
	return fmt.Sprintf("the facts of row %q in state %s%s would do, where %s follows: %s",
		t.row.Name, named(m.state), data, follows(&is), worded(*facts)), true
}

func follows[E any](o *outcome[E]) string {
	switch {
	case o.event != "":
		return o.event + " to " + o.to
	case len(o.effects) > 0:
		return fmt.Sprintf("%v", o.effects)
	case len(o.blocked) > 0:
		return "nothing, blocked by " + strings.Join(o.blocked, ", ")
	default:
		return "staying"
	}
}

func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}

// advise returns how to cover an item that no row shows. without is the machine without the edge, if the item is one.
func (x *examination[F, D, E]) advise(item string, without *mutant[F, D, E]) string {
	if without != nil {
		hint, _ := x.candidate(without)
		return join(without.add, hint)
	}
	for i := range x.sites {
		s := &x.sites[i]
		for _, answer := range []transitions.Answer{transitions.Yes, transitions.No, transitions.Unknown} {
			if item == answerItem(s.label, answer) {
				return fmt.Sprintf("add a row in state %s in which %s %s", s.state, s.guard.Name, x.how(answer, s.guard.AllNeeds()))
			}
			for _, l := range s.leaves {
				if item == answerItem(guardLabel(l.Name), answer) {
					return fmt.Sprintf("add a row in state %s in which %s %s and %s hangs on it", s.state, l.Name, x.how(answer, l.needs), s.label)
				}
			}
		}
	}
	return "add a row"
}

func (x *examination[F, D, E]) how(answer transitions.Answer, needs []transitions.Need) string {
	if answer != transitions.Unknown {
		return "says " + answer.String()
	}
	var text strings.Builder
	text.WriteString("cannot be answered, because a fact is transitions.Unreadable:")
	for _, need := range needs {
		text.WriteString(" " + string(need))
		if field := x.shape.needs[need]; field != "" {
			text.WriteString(" (" + field + ")")
		}
	}
	return text.String()
}

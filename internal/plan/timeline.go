package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// moment is one line of the timeline: a transition of a lifecycle, or effects.
type moment struct {
	at   Offset
	turn int
	// lifecycle and step of a transition. step is nil for effects.
	lifecycle string
	step      *Step
	effects   []Effect
}

// timeline writes transitions and effects in chronological order.
func (t *text) timeline(o *Object) {
	moments := momentsOf(o)
	if len(moments) == 0 {
		return
	}
	t.line("")
	several := 0
	for i := range o.Lifecycles {
		if len(o.Lifecycles[i].Path) > 0 {
			several++
		}
	}
	for i := 0; i < len(moments); {
		if size, times := rounds(moments[i:]); times > 1 {
			t.round(moments[i:i+size], several > 1)
			t.again(moments[i+size:i+size*times], size)
			i += size * times
			continue
		}
		t.moment(&moments[i], several > 1)
		i++
	}
}

// momentsOf merges transitions and effects in chronological order.
func momentsOf(o *Object) []moment {
	var all []moment
	for i := range o.Lifecycles {
		l := &o.Lifecycles[i]
		for j := range l.Path {
			all = append(all, moment{at: l.Path[j].At, turn: l.Path[j].turn, lifecycle: l.Name, step: &l.Path[j]})
		}
	}
	steps := len(all)
	for _, e := range o.Effects {
		together := slices.IndexFunc(all[steps:], func(m moment) bool { return m.at == e.At && sameKind(m.effects[0], e) })
		if together >= 0 {
			all[steps+together].effects = append(all[steps+together].effects, e)
			continue
		}
		all = append(all, moment{at: e.At, turn: e.turn, effects: []Effect{e}})
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.turn, b.turn))
	})
	return all
}

// sameKind reports whether two effects share one line.
func sameKind(a, b Effect) bool {
	return a.System == b.System && a.Verb == b.Verb && a.Verb != VerbRestartPod && a.System == Kubernetes && kindOf(a) == kindOf(b)
}

func kindOf(e Effect) string {
	kind, _, _ := strings.Cut(e.Target, "/")
	return kind
}

// rounds returns the number of moments in a loop that starts here, and how often it is repeated in total. times is 1 without a loop.
func rounds(all []moment) (size, times int) {
	if all[0].step == nil {
		return 0, 1
	}
	for size = 3; size <= 16 && 2*size <= len(all); size++ {
		if all[size].step == nil || !closes(all[:size]) {
			continue
		}
		times = 1
		for (times+1)*size <= len(all) && alike(all[:size], all[times*size:(times+1)*size]) {
			times++
		}
		if times > 1 {
			return size, times
		}
	}
	return 0, 1
}

// closes reports whether a sequence ends in the state in which it began.
func closes(round []moment) bool {
	first := round[0].step
	for _, m := range slices.Backward(round) {
		if m.step != nil {
			return m.step.To == first.From
		}
	}
	return false
}

func alike(a, b []moment) bool {
	for i := range a {
		x, y := &a[i], &b[i]
		if (x.step == nil) != (y.step == nil) {
			return false
		}
		if x.step != nil && (x.lifecycle != y.lifecycle || x.step.Event != y.step.Event || x.step.From != y.step.From || x.step.To != y.step.To) {
			return false
		}
		if x.step == nil && (x.effects[0].System != y.effects[0].System || x.effects[0].Verb != y.effects[0].Verb || kindOf(x.effects[0]) != kindOf(y.effects[0]) && x.effects[0].Verb != VerbRestartPod) {
			return false
		}
	}
	return true
}

func (t *text) round(round []moment, named bool) {
	for i := range round {
		t.moment(&round[i], named)
	}
}

// again writes the repetitions of a loop, only with their effects.
func (t *text) again(rest []moment, size int) {
	t.line(strings.Repeat(" ", timeColumn+2) + fmt.Sprintf("and the same %s:", times(len(rest)/size)))
	for i := range rest {
		if rest[i].step == nil {
			t.effects(&rest[i])
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once more"
	}
	return fmt.Sprintf("%d times more", n)
}

func (t *text) moment(m *moment, named bool) {
	if m.step == nil {
		t.effects(m)
		return
	}
	s := m.step
	if s.OneWay {
		t.door()
	}
	event := s.Event
	if named {
		event = m.lifecycle + ": " + event
	}
	t.line(fmt.Sprintf("%*s  %-*s %s", timeColumn, m.at.words(), stateColumn, s.To, event))
}

// door marks the transition after which there is no way back.
func (t *text) door() {
	const sign = " one-way: what follows cannot be undone "
	side := (t.width - columns(sign)) / 2
	t.line(strings.Repeat("═", side) + sign + strings.Repeat("═", t.width-columns(sign)-side))
}

func (t *text) effects(m *moment) {
	at := fmt.Sprintf("%*s", timeColumn, m.at.words())
	t.hanging(at+"    ▸ ", strings.Repeat(" ", timeColumn+6), effectWords(m.effects))
}

// effectWords describes effects for users.
func effectWords(list []Effect) string {
	e := list[0]
	switch {
	case e.words != "":
		return e.words
	case e.Verb == VerbRestartPod:
		return "restart pod " + e.Target
	case e.System != Kubernetes:
		return string(e.System) + ": " + e.Verb + " " + e.Target
	}
	kind := kindOf(e)
	_, name, _ := strings.Cut(e.Target, "/")
	if len(list) == 1 {
		return e.Verb + " " + kind + " " + name
	}
	names := make([]string, len(list))
	for i, one := range list {
		_, names[i], _ = strings.Cut(one.Target, "/")
	}
	return fmt.Sprintf("%s %d %s: %s", e.Verb, len(list), plural(kind), Few(names))
}

// plural returns the plural of a kind by the rules of Kubernetes.
func plural(kind string) string {
	switch {
	case strings.HasSuffix(kind, "y"):
		return strings.TrimSuffix(kind, "y") + "ies"
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	}
	return kind + "s"
}

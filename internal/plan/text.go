package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// TextOptions control the text form.
type TextOptions struct {
	// Width is the maximum number of columns, except for longer words. 0 means 80; the minimum is 60.
	Width int
	// ASCII replaces the non-ASCII characters of the plan's own text.
	ASCII bool
}

const (
	textWidth = 80
	leastText = 60
	// timeColumn and stateColumn are the widths of times and of state names.
	timeColumn  = 9
	stateColumn = 24
)

// Text formats the plan for users: what happens when, what cannot be undone, the outcome, and the assumptions.
func (p *Plan) Text(o TextOptions) string {
	if o.Width <= 0 {
		o.Width = textWidth
	}
	t := &text{width: max(o.Width, leastText), ascii: o.ASCII}
	for i := range p.Objects {
		if i > 0 {
			t.line("")
		}
		t.object(&p.Objects[i])
	}
	t.times(p)
	return strings.Join(t.lines, "\n") + "\n"
}

var asciiForms = strings.NewReplacer("→", "->", "▸", ">", "═", "=", "─", "-", "×", "x", "·", "-", "…", "...")

type text struct {
	lines []string
	width int
	ascii bool
}

// say converts a text for display. It must precede any measurement of the text.
func (t *text) say(s string) string {
	if t.ascii {
		return asciiForms.Replace(s)
	}
	return s
}

func (t *text) line(s string) { t.lines = append(t.lines, strings.TrimRight(t.say(s), " ")) }

// both writes one text left-aligned and one right-aligned, on one line or on two.
func (t *text) both(left, right string) {
	left, right = t.say(left), t.say(right)
	room := t.width - columns(left) - columns(right)
	if room < 2 {
		t.prose("", left)
		t.prose("  ", right)
		return
	}
	t.line(left + strings.Repeat(" ", room) + right)
}

// prose wraps words between the indent and the width.
func (t *text) prose(indent, words string) {
	t.hanging(indent, strings.Repeat(" ", columns(indent)), words)
}

// hanging wraps words with one indent for the first line and another for the rest.
func (t *text) hanging(first, rest, words string) {
	line, empty := t.say(first), true
	for word := range strings.FieldsSeq(t.say(words)) {
		switch {
		case empty:
			line += word
		case columns(line)+1+columns(word) > t.width:
			t.line(line)
			line = rest + word
		default:
			line += " " + word
		}
		empty = false
	}
	t.line(line)
}

func (t *text) object(o *Object) {
	t.both(fmt.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name), "nothing is applied")
	t.line(strings.Repeat("─", t.width))
	if len(o.Lifecycles) == 0 {
		t.line("no lifecycle has begun")
	}
	for i := range o.Lifecycles {
		t.outcome(o, &o.Lifecycles[i])
	}
	if rest := !slices.ContainsFunc(o.Lifecycles, func(l Lifecycle) bool { return l.Result != Rests }); rest && !o.paused && !o.serves() {
		t.prose("", "STALLS: every lifecycle rests, and the resource does not become Ready")
	}
	t.timeline(o)
	t.end(o)
	t.assumptions(o)
}

// outcome writes the outcome of a lifecycle in one line.
func (t *text) outcome(o *Object, l *Lifecycle) {
	way := ""
	if a := l.Attempt; a != nil {
		way = a.To
		if a.From != "" {
			from := a.From
			if !a.FromKnown {
				from += " (not in the version table)"
			}
			way = from + " → " + a.To
		}
	}
	t.both(fmt.Sprintf("%-10s %s", l.Name, way), l.outcome(o.Planned))
}

func (l *Lifecycle) outcome(planned bool) string {
	took := ""
	if n := len(l.Path); n > 0 && l.Path[n-1].At > 0 {
		took = " after about " + l.Path[n-1].At.words()
	}
	switch {
	case l.Result == Holds && planned:
		return "holds in " + l.End + took + ", as asked"
	case l.Result == Holds:
		return "HOLDS in " + l.End + took
	case l.Result == Stalls:
		return "STALLS in " + l.End + took
	case l.Start == l.End && len(l.Path) == 0:
		return "stays " + l.End
	}
	return "rests in " + l.End + took
}

// words formats a time for users: 95s, 4m10s, 1h5m.
func (o Offset) words() string {
	d := time.Duration(o).Truncate(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0 && m == 0 && s == 0:
		return fmt.Sprintf("%dh", h)
	case h > 0 && s == 0:
		return fmt.Sprintf("%dh%dm", h, m)
	case h > 0:
		return fmt.Sprintf("%dh%dm%ds", h, m, s)
	case d >= 2*time.Minute && s == 0:
		return fmt.Sprintf("%dm", m)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm%ds", m, s)
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}

// end writes what the lifecycles wait for, and the conditions that need the user's attention.
func (t *text) end(o *Object) {
	waits := false
	for i := range o.Lifecycles {
		l := &o.Lifecycles[i]
		if l.Result == Rests || len(l.WaitingFor) == 0 {
			continue
		}
		waits = true
		since := ""
		if l.Deadline != nil {
			since = fmt.Sprintf(" (the deadline passes at %s)", l.Deadline.words())
		}
		t.line("")
		t.line(fmt.Sprintf("%s waits in %s%s for", l.Name, l.End, since))
		for _, w := range l.WaitingFor {
			t.hanging("  ▸ ", "    ", w.Guard+": "+w.Expected)
			if w.Observed != "" {
				t.prose("    ", "observed "+w.Observed)
			}
		}
	}
	t.problems(o.Problems)
	t.conditions(o.Conditions, waits)
}

func (t *text) problems(all []string) {
	if len(all) == 0 {
		return
	}
	t.line("")
	t.line("What cannot be done, and is tried again and again")
	for _, p := range all {
		t.hanging("  ▸ ", "    ", p)
	}
}

// conditions writes the conditions that need attention. Of those that only repeat what a lifecycle waits for it writes the name.
func (t *text) conditions(all []metav1.Condition, explained bool) {
	var names, lines []string
	for _, c := range all {
		switch {
		case asItShould(&c):
		case c.Type == lifecycle.Warning:
			lines = append(lines, "Warning "+c.Reason+": "+c.Message)
		case c.Message != "" && !(explained && repeats[c.Type]):
			lines = append(lines, c.Type+"="+string(c.Status)+" "+c.Reason+": "+c.Message)
		default:
			names = append(names, c.Type+"="+string(c.Status)+" ("+c.Reason+")")
		}
	}
	if len(names)+len(lines) == 0 {
		return
	}
	t.line("")
	t.line("Conditions at the end")
	if len(names) > 0 {
		t.hanging("  ▸ ", "    ", strings.Join(names, ", "))
	}
	for _, l := range lines {
		t.hanging("  ▸ ", "    ", l)
	}
}

// repeats are conditions whose messages repeat what lifecycles wait for.
var repeats = map[string]bool{lifecycle.Ready: true, lifecycle.Reconciling: true, lifecycle.Stalled: true, "VersionSettled": true}

// asItShould reports whether the condition needs no attention.
func asItShould(c *metav1.Condition) bool {
	good := metav1.ConditionTrue
	switch c.Type {
	case lifecycle.Reconciling, lifecycle.Stalled, lifecycle.Paused, lifecycle.AwaitingApproval, lifecycle.Warning:
		good = metav1.ConditionFalse
	}
	return c.Status == good
}

func (t *text) assumptions(o *Object) {
	if len(o.Assumptions) == 0 {
		return
	}
	t.line("")
	t.line("Taken for granted, since the input does not say")
	for _, a := range o.Assumptions {
		t.hanging("  · ", "    ", a)
	}
}

// times explains the source of the times, if the text contains any.
func (t *text) times(p *Plan) {
	for i := range p.Objects {
		if len(p.Objects[i].Effects) > 0 || moves(p.Objects[i].Lifecycles) {
			t.line("")
			t.prose("", clockWords)
			return
		}
	}
}

func moves(lifecycles []Lifecycle) bool {
	for i := range lifecycles {
		if len(lifecycles[i].Path) > 0 {
			return true
		}
	}
	return false
}

// columns is the width of a text.
func columns(s string) int { return len([]rune(s)) }

// clockWords explain the source of the times in a plan.
const clockWords = "Times are estimates: they are those of a simulated cluster with quick pods and little data, not of yours."

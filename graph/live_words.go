package graph

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// walked is how often an edge was taken.
func (live *Live) walked(e Edge) int {
	if live == nil {
		return 0
	}
	for _, w := range live.Walked {
		if w.Event == e.Event && w.From == e.From && w.To == e.To {
			return w.Count
		}
	}
	return 0
}

// visits is how often a state was entered; the current state counts at least once.
func (live *Live) visits(state string) int {
	if live == nil {
		return 0
	}
	if n := live.Visited[state]; n > 0 || state != live.State {
		return n
	}
	return 1
}

// at reports whether a state is the current one.
func (live *Live) at(state string) bool {
	return live != nil && live.State != "" && live.State == state
}

// blocks returns the waiting entry of one of an edge's guards, if the edge leaves the
// current state.
func (live *Live) blocks(e Edge) (Waiting, bool) {
	if !live.at(e.From) {
		return Waiting{}, false
	}
	names := guardNames(e.Guard)
	for _, w := range live.Waiting {
		if slices.Contains(names, w.Guard) {
			return w, true
		}
	}
	return Waiting{}, false
}

// guardNames are the names in a guard's text, such as in-sync in All(in-sync, ready).
func guardNames(guard string) []string {
	return strings.FieldsFunc(guard, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.' && r != '/'
	})
}

// spent is how long the object has been, or was, in a state; zero if unknown.
func (live *Live) spent(state string) time.Duration {
	if live == nil {
		return 0
	}
	if live.at(state) && !live.EnteredAt.IsZero() && !live.Now.IsZero() {
		return max(live.Now.Sub(live.EnteredAt), 0)
	}
	return live.Durations[state].Spent
}

// stateLine is the small line of a state on a live picture.
func (live *Live) stateLine(b *box) string {
	var words []string
	if n := live.visits(b.Name); n > 1 {
		words = append(words, fmt.Sprintf("×%d", n))
	}
	if d := live.spent(b.Name); d > 0 {
		words = append(words, shortDuration(d))
	}
	if p := live.progress(); p != "" && live.at(b.Name) {
		words = append(words, p)
	} else if d := live.usual(b.Name); d > 0 {
		words = append(words, "usually "+shortDuration(d))
	}
	if b.implied() || len(words) == 0 {
		return stateText(b)
	}
	return strings.Join(words, " · ")
}

func (live *Live) usual(state string) time.Duration {
	if live == nil {
		return 0
	}
	return live.Durations[state].Usual
}

func (live *Live) progress() string {
	if live == nil || live.Progress == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d %s", live.Progress.Done, live.Progress.Total, plural(clean(live.Progress.Unit), live.Progress.Total))
}

// headline is the current state, for how long, the progress and the deadline.
func (live *Live) headline() string {
	if live == nil || live.State == "" {
		return ""
	}
	text := clean(live.State)
	if d := live.spent(live.State); d > 0 {
		text += " for " + shortDuration(d)
	}
	if p := live.progress(); p != "" {
		text += " · " + p
		if live.Progress.Current != "" {
			text += ", now " + clean(live.Progress.Current)
		}
	}
	return text + live.deadlineText()
}

func (live *Live) deadlineText() string {
	if live.Deadline.IsZero() {
		return ""
	}
	text := " · deadline " + live.Deadline.UTC().Format("15:04:05") + " UTC"
	if live.Now.IsZero() {
		return text
	}
	if left := live.Deadline.Sub(live.Now); left >= 0 {
		return text + ", in " + shortDuration(left)
	}
	return text + ", passed " + shortDuration(live.Now.Sub(live.Deadline)) + " ago"
}

// waitingLine describes one guard in words.
func (w Waiting) waitingLine() string {
	text := clean(w.Guard)
	if w.Expected != "" {
		text += ": expected " + clean(w.Expected)
	}
	if w.Observed != "" {
		text += ", observed " + clean(w.Observed)
	}
	return text
}

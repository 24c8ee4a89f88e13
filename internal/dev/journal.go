package dev

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// stampWidth is the width of the time at the start of a line.
const stampWidth = len(time.TimeOnly) + 2

// cut truncates a line to the width.
func cut(line string, width int, ascii bool) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	ellipsis := "…"
	if ascii {
		ellipsis = "..."
	}
	return string([]rune(line)[:max(0, width-utf8.RuneCountInString(ellipsis))]) + ellipsis
}

// maxLines is the maximum number of lines of one entry.
const maxLines = 10

// journal remembers the last printed state of each lifecycle, so that each transition is printed once although the status is
// also written for other reasons.
type journal struct {
	width   int
	printed map[string]mark
}

// mark identifies one visit of a state.
type mark struct {
	state       string
	entered     time.Time
	transitions int32
	attempt     string
}

func newJournal(width int) *journal { return &journal{width: width, printed: map[string]mark{}} }

// entries returns the transitions of an object that have not been printed, each as one or more lines.
func (j *journal) entries(name, uid string, status *lifecyclev1.Status) [][]string {
	var out [][]string
	for i := range status.Lifecycles {
		e := &status.Lifecycles[i]
		key := uid + "/" + e.Name
		before, seen := j.printed[key]
		now := mark{state: e.State, entered: e.EnteredAt.Time, transitions: e.Transitions}
		if e.Attempt != nil {
			now.attempt = e.Attempt.ID
		}
		j.printed[key] = now
		inferred := len(e.History) <= 1 && e.Attempt == nil // the inferred state before any transition
		if seen && now == before || inferred {
			continue
		}
		out = append(out, j.entry(name, e, now.attempt != before.attempt))
	}
	return out
}

// entry formats a transition as one line, with further lines for what the user must read.
func (j *journal) entry(name string, e *lifecyclev1.Lifecycle, begins bool) []string {
	progress := ""
	if p := e.Progress; p != nil && p.Total > 0 {
		progress = fmt.Sprintf("%d/%d", p.Done, p.Total)
	}
	line := fmt.Sprintf("%-8s %-8s %-16s %-5s", name, e.Name, e.State, progress)
	detail, more := j.detail(e, begins, j.width-utf8.RuneCountInString(line)-1)
	out := []string{strings.TrimRight(line+" "+detail, " ")}
	for _, text := range more {
		out = append(out, wrap(text, j.width-2)...)
	}
	if len(out) > maxLines {
		out = append(out[:maxLines-1], "  ... kubectl describe shows the rest")
	}
	return out
}

// detail returns the most important fact about the new state for the line itself, and further texts if they do not fit into it.
func (j *journal) detail(e *lifecyclev1.Lifecycle, begins bool, room int) (detail string, more []string) {
	switch {
	case begins && e.Attempt != nil && e.Attempt.From != "":
		detail = e.Attempt.From + " to " + e.Attempt.To
	case begins && e.Attempt != nil:
		detail = e.Attempt.To
	case e.Deadline == nil && len(e.WaitingFor) == 0 && e.Attempt != nil:
		return "after " + e.EnteredAt.Sub(e.Attempt.StartedAt.Time).String(), nil
	case e.Progress != nil && e.Progress.Current != "":
		return e.Progress.Current, nil
	}
	if e.Deadline != nil || len(e.WaitingFor) == 0 {
		return detail, nil
	}
	// The state waits for the user, who needs the complete text.
	for _, waiting := range e.WaitingFor {
		text := waiting.Guard + ": " + waiting.Observed
		if waiting.Expected != "" {
			text += " (expected: " + waiting.Expected + ")"
		}
		more = append(more, text)
	}
	if len(more) == 1 && detail == "" && utf8.RuneCountInString(more[0]) <= room {
		return more[0], nil
	}
	return detail, more
}

// wrap breaks a text between words and indents each line.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			out = append(out, "  "+line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		out = append(out, "  "+line)
	}
	return out
}

package graph

import (
	"fmt"
	"strings"
	"time"
)

// stateText is the small line under a state's name: its kind and its limit.
func stateText(b *box) string {
	if b.implied() {
		return b.note
	}
	var words []string
	if b.Kind != "" {
		words = append(words, strings.ToLower(clean(string(b.Kind))))
	}
	switch {
	case b.refused():
		words = append(words, "refused")
	case b.Kind == Hold:
		words = append(words, "planned")
	}
	if b.Deadline != "" {
		words = append(words, limitText(clean(b.Deadline)))
	}
	return strings.Join(words, " · ")
}

// limitText formats a duration as a limit; other text is unchanged.
func limitText(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return "up to " + shortDuration(d)
	}
	return s
}

// shortDuration formats the two largest units: 4m31s, 2h12m, 6d3h.
func shortDuration(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return units(d, time.Minute, time.Second, "m", "s")
	case d < 24*time.Hour:
		return units(d, time.Hour, time.Minute, "h", "m")
	}
	return units(d, 24*time.Hour, time.Hour, "d", "h")
}

func units(d, large, small time.Duration, l, s string) string {
	text := fmt.Sprintf("%d%s", d/large, l)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf("%d%s", rest, s)
	}
	return text
}

// edgeText is the label of one edge: its event, and the words "one-way" if it is.
func edgeText(e Edge) string {
	text := cut(clean(e.Event), labelLength)
	if e.OneWay {
		text += " · one-way"
	}
	return text
}

// wireText is the label of a wire, one line per edge. Above labelLines it counts the rest.
func wireText(w *wire, live *Live) []string {
	var lines []string
	for i, e := range w.edges {
		if i == labelLines-1 && len(w.edges) > labelLines {
			return append(lines, fmt.Sprintf("+%d more", len(w.edges)-i))
		}
		text := edgeText(e)
		if n := live.walked(e); n > 1 {
			text += fmt.Sprintf(" ×%d", n)
		}
		lines = append(lines, text)
	}
	return lines
}

func (w *wire) oneWay() bool {
	for _, e := range w.edges {
		if e.OneWay {
			return true
		}
	}
	return false
}

func plural(unit string, n int) string {
	switch {
	case unit == "":
		return "done"
	case n == 1 || strings.HasSuffix(unit, "s"):
		return unit
	}
	return unit + "s"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

package v1

import (
	"bytes"
	"encoding/json"
)

// History is a list of transitions, oldest first. In JSON, a transition of the same attempt as the one before it does not repeat the
// attempt:
//
//	2026-11-20T08:31:02Z changed: Settled -> Checking, attempt 5f2c91
//	2026-11-20T08:31:04Z node-selected: Checking -> Restarting
type History []Transition

// MarshalJSON implements json.Marshaler.
func (h History) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	text, before := append(make([]byte, 0, 96*len(h)+2), '['), ""
	for i := range h {
		if i > 0 {
			text = append(text, ',')
		}
		line := h[i]
		switch line.Attempt {
		case before:
			line.Attempt = ""
		case "":
			line.Attempt = noAttempt
		}
		next, err := line.MarshalJSON()
		if err != nil {
			return nil, err
		}
		text, before = append(text, next...), h[i].Attempt
	}
	return append(text, ']'), nil
}

// attempts gives each transition the attempt of the one before it if its line had none.
func (h History) attempts() {
	before := ""
	for i := range h {
		switch h[i].Attempt {
		case "":
			h[i].Attempt = before
		case noAttempt:
			h[i].Attempt = ""
		}
		before = h[i].Attempt
	}
}

// UnmarshalJSON implements json.Unmarshaler. Every watch event and every answer to a write contains a history: this reads it with one
// allocation for the list, and without reflection. It never fails, as Transition.UnmarshalJSON.
func (h *History) UnmarshalJSON(text []byte) error {
	lines := 0
	for rest := text; ; lines++ {
		line, after, ok := nextLine(rest)
		if !ok {
			return h.unmarshalAny(text)
		}
		if line == nil {
			break
		}
		rest = after
	}
	*h = make(History, lines)
	rest := text
	for i := range *h {
		var line []byte
		line, rest, _ = nextLine(rest)
		_ = (*h)[i].UnmarshalJSON(line) // never fails
	}
	h.attempts()
	return nil
}

// unmarshalAny reads a list of anything, as an earlier release or a person may have stored it.
func (h *History) unmarshalAny(text []byte) error {
	var all []json.RawMessage
	_ = json.Unmarshal(text, &all) // what is no list has no transitions
	*h = make(History, len(all))
	for i := range *h {
		_ = (*h)[i].UnmarshalJSON(all[i]) // never fails
	}
	h.attempts()
	return nil
}

// nextLine returns the next text of a list, with its quotes, and what follows it. It returns no text at the end, and false if there is
// anything but texts.
func nextLine(list []byte) (line, rest []byte, ok bool) {
	const between = "[], \t\r\n"
	start := bytes.IndexByte(list, '"')
	if start < 0 {
		return nil, nil, len(bytes.Trim(list, between)) == 0
	}
	for end := start + 1; end < len(list); end++ {
		switch list[end] {
		case '\\':
			end++
		case '"':
			return list[start : end+1], list[end+1:], len(bytes.Trim(list[:start], between)) == 0
		}
	}
	return nil, nil, false
}

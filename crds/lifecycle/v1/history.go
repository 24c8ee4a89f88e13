package v1

import (
	"bytes"
	"encoding/json"
)

// History is a list of transitions, oldest first.
//
// +listType=atomic
// +kubebuilder:validation:MaxItems=20
type History []Transition

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

package v1

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Transition is one entry of a lifecycle's history. In JSON it is a line of text, because the API server validates every field of
// every entry at each status write:
//
//	2026-11-20T08:31:02Z node-selected: Checking -> Restarting, attempt 5f2c91, 6 times
//
// Reading a line never fails: an unreadable history must not prevent the reading of a resource.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:MaxLength=320
type Transition struct {
	// At is when the transition was committed. For a folded loop it is the last time.
	At metav1.Time `json:"-"`
	// Event is the name of the transition.
	Event string `json:"-"`
	// From is the state that the transition left.
	From string `json:"-"`
	// To is the state that the transition entered.
	To string `json:"-"`
	// Attempt the transition belongs to. Empty for none.
	Attempt string `json:"-"`
	// Times is how often a folded loop took this transition. Defaults to 1.
	Times int32 `json:"-"`
}

const (
	arrowLabel   = "-> "
	attemptLabel = "attempt "
	timesLabel   = " times"
	// noAttempt stands in a line for the attempt of a transition that belongs to none, after one that belongs to an attempt.
	noAttempt = "-"
)

// String returns the transition as its line in the status.
func (t Transition) String() string {
	text := make([]byte, 0, 128)
	text = t.At.UTC().AppendFormat(text, time.RFC3339)
	text = append(text, ' ')
	text = append(text, t.Event...)
	text = append(text, ": "...)
	if t.From != "" {
		text = append(append(text, t.From...), ' ')
	}
	text = append(append(text, arrowLabel...), t.To...)
	if t.Attempt != "" {
		text = append(append(append(text, ", "...), attemptLabel...), t.Attempt...)
	}
	if t.Times > 1 {
		text = append(strconv.AppendInt(append(text, ", "...), int64(t.Times), 10), timesLabel...)
	}
	return string(text)
}

// MarshalJSON implements json.Marshaler.
func (t Transition) MarshalJSON() ([]byte, error) {
	line := t.String()
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return json.Marshal(line)
	}
	text := make([]byte, 0, len(line)+len(`""`))
	return append(append(append(text, '"'), line...), '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler. Of text that is no line of a history it keeps what it can read.
func (t *Transition) UnmarshalJSON(text []byte) error {
	*t = Transition{}
	line, err := strconv.Unquote(string(text)) // as JSON, but for surrogates and escaped slashes, at a third of the cost
	if err != nil && json.Unmarshal(text, &line) != nil {
		return nil //nolint:nilerr // the doc says why
	}
	at, line, _ := strings.Cut(line, " ")
	if parsed, err := time.Parse(time.RFC3339, at); err == nil {
		t.At = metav1.NewTime(parsed.Local())
	}
	event, path, _ := strings.Cut(line, ": ")
	arrow := strings.LastIndex(path, arrowLabel)
	if arrow < 0 {
		return nil
	}
	t.Event, t.From = event, strings.TrimSuffix(path[:arrow], " ")
	to, details, _ := strings.Cut(path[arrow+len(arrowLabel):], ", ")
	t.To = to
	for detail := range strings.SplitSeq(details, ", ") {
		if attempt, ok := strings.CutPrefix(detail, attemptLabel); ok {
			t.Attempt = attempt
		} else if times, ok := strings.CutSuffix(detail, timesLabel); ok {
			n, _ := strconv.ParseInt(times, 10, 32) // 0, which means 1, for text that is no number
			t.Times = int32(n)
		}
	}
	return nil
}

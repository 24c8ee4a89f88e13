package transitions

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// coded is the JSON form of a fact in a journal. A known fact has At. A fact that was not requested is null.
type coded[T any] struct {
	Known      *T         `json:"known,omitempty"`
	At         *time.Time `json:"at,omitempty"`
	Unreadable *string    `json:"unreadable,omitempty"`
	Since      *time.Time `json:"since,omitempty"`
	Pending    bool       `json:"pending,omitempty"`
}

// MarshalJSON encodes the fact so that a guard returns the same verdict for the decoded one. An error is encoded as its text: a
// guard sees nothing else of it.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	var c coded[T]
	switch f.status {
	case known:
		at := f.at.UTC()
		c.Known, c.At = &f.value, &at
	case unreadable:
		reason := f.Err().Error()
		c.Unreadable = &reason
		if !f.at.IsZero() {
			since := f.at.UTC()
			c.Since = &since
		}
	case pending:
		c.Pending = true
	default:
		return []byte("null"), nil
	}
	return json.Marshal(c)
}

var errNoFact = errors.New("neither known, nor unreadable, nor pending")

// UnmarshalJSON decodes the output of MarshalJSON.
func (f *Fact[T]) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*f = Fact[T]{}
		return nil
	}
	var c coded[T]
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("reading a fact: %w", err)
	}
	switch {
	case c.At != nil:
		var value T // null encodes the nil slice or map
		if c.Known != nil {
			value = *c.Known
		}
		*f = Known(value, *c.At)
	case c.Unreadable != nil:
		var since time.Time
		if c.Since != nil {
			since = *c.Since
		}
		*f = UnreadableSince[T](errors.New(*c.Unreadable), since) //nolint:err113 // the text of an error in another process
	case c.Pending:
		*f = Pending[T]()
	default:
		return fmt.Errorf("reading a fact: %w", errNoFact)
	}
	return nil
}

package ceph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// missing is an answer without a field that every release has.
func missing(field string) error {
	return fmt.Errorf("the answer has no %s: it is not of a form that is known", field)
}

// decode parses an answer: one JSON document, with the types of the target.
func decode(data []byte, into any) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return errors.New("the answer is empty")
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	return nil
}

// answer is the form of an answer. read converts it, and fails if a field that it needs is missing.
type answer[T any] interface{ read() (T, error) }

// question asks and parses in one step. Every failure other than a refusal is *Unreadable.
func question[A answer[T], T any](ctx context.Context, c Client, what string, args ...string) (T, error) {
	var none T
	data, err := c.ask(ctx, what, args...)
	if err != nil {
		return none, err
	}
	var a A
	if err := decode(data, &a); err != nil {
		return none, &Unreadable{What: what, Err: err}
	}
	value, err := a.read()
	if err != nil {
		return none, &Unreadable{What: what, Err: err}
	}
	return value, nil
}

package transitions

import (
	"errors"
	"fmt"
	"time"
)

// Need names an observation that costs a call to an external system. A fact that is read from the cache has no need.
type Need string

// Fact is one costly observation of the current reconcile. It is never kept for the next one.
//
// The zero value is a fact that was not requested. Reading it is a programming error and panics with NotAsked; the caller of a
// guard recovers the panic and returns an error that names the guard.
type Fact[T any] struct {
	value T
	err   error
	// at is the time of the observation. Of an unreadable fact it is since when it could not be read; zero if that is not known.
	at     time.Time
	status factStatus
}

type factStatus uint8

const (
	notAsked factStatus = iota
	pending
	unreadable
	known
)

// NotAsked is the panic value of Get on a fact whose need was not declared.
type NotAsked struct {
	// Type of the fact's value, which identifies the fact in the error.
	Type string
}

func (n NotAsked) Error() string {
	return fmt.Sprintf("a fact of type %s was read without its need being declared: add the need to the guard, action or projection that reads it", n.Type)
}

// Known returns a fact that was observed at the given time.
func Known[T any](value T, at time.Time) Fact[T] {
	return Fact[T]{value: value, at: at, status: known}
}

// Unreadable returns a fact that was requested and could not be read. The error is shown in status.
func Unreadable[T any](err error) Fact[T] {
	return Fact[T]{err: err, status: unreadable}
}

// UnreadableSince is Unreadable with the time since which every attempt to read the fact has failed; zero if that is not known. It is shown in
// status as well.
func UnreadableSince[T any](err error, since time.Time) Fact[T] {
	return Fact[T]{err: err, at: since, status: unreadable}
}

// Pending returns a fact that was requested and has no answer yet. It makes a guard Unknown, as an unreadable fact does, but
// changes no field of the status.
func Pending[T any]() Fact[T] { return Fact[T]{status: pending} }

// Get returns the value and whether it is known. It panics with NotAsked if the fact was not requested.
func (f Fact[T]) Get() (T, bool) {
	if f.status == notAsked {
		panic(NotAsked{Type: fmt.Sprintf("%T", *new(T))})
	}
	return f.value, f.status == known
}

// Asked reports whether the fact was requested in this reconcile. Only code that shows the facts that happen to be known may
// use it; a guard declares its needs instead.
func (f Fact[T]) Asked() bool { return f.status != notAsked }

// At returns the time of the observation; zero unless the fact is known.
func (f Fact[T]) At() time.Time {
	if f.status != known {
		return time.Time{}
	}
	return f.at
}

// Gap returns the verdict of a guard that depends on this fact while it is not known: Unknown, with the reason.
func (f Fact[T]) Gap() Verdict {
	switch f.status {
	case pending:
		return Verdict{Pending: true, Observed: f.Err().Error()}
	case unreadable:
		return Verdict{Observed: "cannot be read" + f.since() + ": " + f.Err().Error()}
	default:
		return Verdict{Observed: "not asked"}
	}
}

// since returns since when the fact is unreadable, in words; empty if that is not known.
func (f Fact[T]) since() string {
	if f.at.IsZero() {
		return ""
	}
	return " since " + f.at.UTC().Format(time.RFC3339)
}

// String formats the fact for a failing test or a log.
func (f Fact[T]) String() string {
	switch f.status {
	case known:
		return fmt.Sprintf("%+v", f.value)
	case pending:
		return "(pending)"
	case unreadable:
		return "(unreadable: " + f.Err().Error() + ")"
	default:
		return "(not asked)"
	}
}

var (
	errUnanswered = errors.New("not answered yet")
	errUnspecific = errors.New("no reason was given")
)

// Err returns why a requested fact is not known; nil if it is known.
func (f Fact[T]) Err() error {
	switch {
	case f.status == pending:
		return errUnanswered
	case f.status == unreadable && f.err == nil:
		return errUnspecific
	default:
		return f.err
	}
}

package transitions

import (
	"fmt"
	"time"
)

// Need names something that costs a call to observe. What the cache knows anyway has no need.
type Need string

// Fact is one costly observation of this pass. A pass never remembers a fact.
//
// The zero value is a fact that nobody asked for: reading it is a programming error and panics with NotAsked,
// which the caller of a guard turns into an error that names the guard.
type Fact[T any] struct {
	value  T
	err    error
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

// NotAsked is the panic value of reading a fact whose need was not declared.
type NotAsked struct {
	// Type of the fact's value, to find it by.
	Type string
}

func (n NotAsked) Error() string {
	return fmt.Sprintf("a fact of type %s was read without its need being declared: add the need to the guard, action or projection that reads it", n.Type)
}

// Known makes a fact that was observed at the given time.
func Known[T any](value T, at time.Time) Fact[T] {
	return Fact[T]{value: value, at: at, status: known}
}

// Unreadable makes a fact that was asked for and could not be read.
func Unreadable[T any](err error) Fact[T] {
	return Fact[T]{err: err, status: unreadable}
}

// Pending makes a fact that was asked for and has not been answered yet.
// It blocks like an unreadable one, but changes nothing that a person sees.
func Pending[T any]() Fact[T] { return Fact[T]{status: pending} }

// Get returns the value and whether it is known. It panics with NotAsked if nobody asked.
func (f Fact[T]) Get() (T, bool) {
	if f.status == notAsked {
		panic(NotAsked{Type: fmt.Sprintf("%T", *new(T))})
	}
	return f.value, f.status == known
}

// Asked says whether the fact was asked for in this pass. Only code that renders what it happens to know may use it.
func (f Fact[T]) Asked() bool { return f.status != notAsked }

// At is when the value was observed; zero unless known.
func (f Fact[T]) At() time.Time { return f.at }

// Gap is the verdict of a guard that could not read the fact: Unknown, saying why.
func (f Fact[T]) Gap() Verdict {
	switch f.status {
	case pending:
		return Verdict{Pending: true, Saw: "not answered yet"}
	case unreadable:
		return Verdict{Saw: "cannot be read: " + f.reason()}
	default:
		return Verdict{Saw: "not asked"}
	}
}

// String shows the fact to a person who reads a failing test or a log.
func (f Fact[T]) String() string {
	switch f.status {
	case known:
		return fmt.Sprintf("%+v", f.value)
	case pending:
		return "(pending)"
	case unreadable:
		return "(unreadable: " + f.reason() + ")"
	default:
		return "(not asked)"
	}
}

func (f Fact[T]) reason() string {
	if f.err == nil {
		return "no reason was given"
	}
	return f.err.Error()
}

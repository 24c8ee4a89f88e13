package explore

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// calls counts the calls that the operator makes in one reconcile, and injects the planned fault.
type calls struct {
	// fault is injected at the call of that number, counted from 1; 0 injects nothing.
	fault Fault
	at    int
	// made are the calls so far.
	made []call
	// refuses is the answer to every status write, empty if they are accepted. statusWrites is their number so far.
	refuses      Fault
	statusWrites int
	// firstStatus is the number of the call that writes the status first.
	firstStatus int
	// liveReads is the number of reads from the API server.
	liveReads int
	// dead means that the process crashed: its further calls have no effect.
	dead bool
	// external means that the call with the fault is an effect outside the API, as the reconcile without a fault showed.
	external bool
	// continues means that the operator reconciles again at once after a commit.
	continues bool
}

// call is the kind of a call.
type call uint8

const (
	// effect reaches outside the API.
	effect call = iota
	write
	// eviction is a write that a disruption budget may refuse as well.
	eviction
)

var errDead = errors.New("the process has died")

// read is a read. Only a live read can fail.
func (c *calls) read(live bool) error {
	switch {
	case c.dead:
		return errDead
	case !live:
		return nil
	}
	c.liveReads++
	if c.fault == Unread {
		return apierrors.NewTimeoutError("the API server does not answer", 1)
	}
	return nil
}

// write is a write to the API.
func (c *calls) write(do func() error) error { return c.call(write, do) }

// evict is the eviction of a pod.
func (c *calls) evict(do func() error) error { return c.call(eviction, do) }

// status is a write of the object's status. A refused one is not counted as a call, because no other fault can be injected into
// it.
func (c *calls) status(do func() error) error {
	c.statusWrites++
	if c.statusWrites == 1 {
		c.firstStatus = len(c.made) + 1
	}
	if c.dead || c.refuses == "" {
		return c.call(write, do)
	}
	return answered(c.refuses)
}

// effect is an effect that may reach outside the API. An effect that writes to the API is not counted in addition to its
// writes.
func (c *calls) effect(do func() error) error {
	if c.dead {
		return errDead
	}
	before := len(c.made)
	if c.at == before+1 && c.fault != "" && c.fault != Unread && c.external {
		return c.call(effect, do)
	}
	err := do()
	if len(c.made) == before && !c.dead {
		c.made = append(c.made, effect)
	}
	return err
}

// call numbers a call and injects the fault if it is due.
func (c *calls) call(kind call, do func() error) error {
	if c.dead {
		return errDead
	}
	c.made = append(c.made, kind)
	if c.fault == "" || len(c.made) != c.at {
		return do()
	}
	switch c.fault { //nolint:exhaustive // the other faults occur between reconciles
	case DiesBefore:
		c.dead = true
		return errDead
	case DiesAfter:
		_ = do()
		c.dead = true
		return errDead
	case ReplyLost:
		if err := do(); err != nil {
			return err
		}
		return fmt.Errorf("waiting for the answer: %w", context.DeadlineExceeded)
	}
	return answered(c.fault)
}

// answered returns the API server's answer to a write that it did not carry out.
func answered(fault Fault) error {
	switch fault {
	case Conflict:
		return apierrors.NewConflict(schema.GroupResource{Resource: "any"}, "any", errors.New("somebody was faster"))
	case forbidden:
		return apierrors.NewForbidden(schema.GroupResource{Resource: "any"}, "any", errors.New("an admission webhook denied the request"))
	case Invalid:
		return apierrors.NewInvalid(schema.GroupKind{Kind: "any"}, "any", nil)
	case Throttled:
		return apierrors.NewTooManyRequests("too many requests", 1)
	case TimedOut:
		return apierrors.NewTimeoutError("the request did not complete within the allotted time", 1)
	default:
		return apierrors.NewInternalError(errors.New("refused"))
	}
}

// turns returns the faults that are injected into a call. Answers that the runtime handles alike are alternated, because they
// lead to the same states: 422 and 429 mean that nothing was done, 500 and 504 leave the outcome unknown. Only for an eviction
// a 429 has another meaning: a disruption budget forbids it.
func turns(kind call, turn uint64) []Fault {
	crashes := []Fault{DiesBefore, DiesAfter, ReplyLost}
	denied, open := []Fault{Invalid, Throttled}, []Fault{Refused, TimedOut}
	switch kind {
	case effect:
		return append(crashes, Refused)
	case eviction:
		return append(crashes, Conflict, Invalid, Throttled, open[turn%2])
	default:
		return append(crashes, Conflict, denied[turn%2], open[turn/2%2])
	}
}

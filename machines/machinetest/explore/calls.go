package explore

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// calls counts what the operator does in one pass, and lets it go wrong where it is planned to.
type calls struct {
	// fault happens at the call of that number, counted from 1; 0 means that nothing goes wrong.
	fault Fault
	at    int
	// made are the calls so far, each with whether it is a write to the API.
	made []bool
	// liveReads were asked of the API server.
	liveReads int
	// dead says that the process died: whatever it does from now on is not done.
	dead bool
	// external says that the call at which it goes wrong is an effect outside the API, as the pass without a fault showed.
	external bool
}

var errDead = errors.New("the process has died")

// read is a read; only one of the API server itself can fail.
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
func (c *calls) write(do func() error) error { return c.call(true, do) }

// effect is an effect that may reach outside the API. One that writes to the API is no call of its own.
func (c *calls) effect(do func() error) error {
	if c.dead {
		return errDead
	}
	before := len(c.made)
	if c.at == before+1 && c.fault != "" && c.fault != Unread && c.external {
		return c.call(false, do)
	}
	err := do()
	if len(c.made) == before && !c.dead {
		c.made = append(c.made, false)
	}
	return err
}

// call numbers what is done and lets it go wrong.
func (c *calls) call(write bool, do func() error) error {
	if c.dead {
		return errDead
	}
	c.made = append(c.made, write)
	if c.fault == "" || len(c.made) != c.at {
		return do()
	}
	switch c.fault { //nolint:exhaustive // the others happen between passes
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
	case Refused:
		return apierrors.NewInternalError(errors.New("refused"))
	case Conflict:
		return apierrors.NewConflict(schema.GroupResource{Resource: "any"}, "any", errors.New("somebody was faster"))
	}
	return do()
}

package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
)

// repeat is how long a command that succeeded is not sent again: its effect is visible in the maps by then.
const repeat = 10 * time.Second

// Sender sends the commands of a cluster one after the other. A state needs several commands, and each of them may have to be repeated:
// Ceph succeeds for some that have no effect, and an answer may be lost. All of them are idempotent. What it remembers may be lost.
type Sender struct {
	// System that commands are sent to. Required.
	System System

	mu      sync.Mutex
	objects map[types.UID]*sent
}

// sent is what was sent for one object.
type sent struct {
	number int64
	// last command, whose answer has not been processed if open is true.
	last machines.RequestID
	text string
	open bool
	// done is when commands succeeded.
	done map[string]time.Time
	// failed is why commands failed, until they succeed.
	failed map[string]error
}

// Lifecycle is the name under which all commands of an object are numbered.
const Lifecycle = "commands"

// Send sends the command, unless it has just succeeded, which done reports. It returns ErrWait while another one is under way. For a
// command that failed it returns that error, also while it or another one is under way, so that what is shown stays the same and the caller
// backs off. That it succeeded is no evidence of its effect.
func (s *Sender) Send(ctx context.Context, to Endpoint, command Command, now time.Time) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.of(to.UID)
	text := command.String()
	pending, err := s.process(to, o, text, now)
	if err != nil {
		return false, err
	}
	maps.DeleteFunc(o.done, func(_ string, at time.Time) bool { return now.Sub(at) >= repeat })
	if _, recently := o.done[text]; recently {
		return true, nil
	}
	if pending {
		return false, fmt.Errorf("to %s: %w: the command to %s has not ended", text, lifecycle.ErrWait, o.text)
	}
	o.number++
	o.last, o.text, o.open = machines.RequestID{UID: string(to.UID), Lifecycle: Lifecycle, State: "sending", Sequence: o.number}, text, true
	s.System.Write(ctx, to, o.last, command)
	return false, o.failure(text)
}

// process takes the answer of the command without one, and reports whether it is still under way. The error is that of the command to be sent:
// it has just failed, or it failed before and cannot be sent again yet.
func (s *Sender) process(to Endpoint, o *sent, text string, now time.Time) (pending bool, err error) {
	if !o.open {
		return false, nil
	}
	answer := s.System.Answer(to, o.last)
	if answer.State == external.Pending {
		return true, o.failure(text)
	}
	o.open = false
	if answer.State == external.Done {
		o.done[o.text] = now
		delete(o.failed, o.text)
	} else if o.failed[o.text] = failed(answer); o.text == text {
		return false, o.failure(text)
	}
	return false, nil
}

// failure is the error of a command before it was repeated; nil if it did not fail.
func (o *sent) failure(text string) error {
	if o.failed[text] == nil {
		return nil
	}
	return fmt.Errorf("to %s: %w", text, o.failed[text])
}

func (s *Sender) of(object types.UID) *sent {
	if s.objects == nil {
		s.objects = map[types.UID]*sent{}
	}
	if s.objects[object] == nil {
		s.objects[object] = &sent{done: map[string]time.Time{}, failed: map[string]error{}}
	}
	return s.objects[object]
}

// failed is why a command with the answer failed.
func failed(a external.Answer) error {
	switch {
	case a.State == external.Refused:
		return fmt.Errorf("ceph answered %s: %s", a.Name, a.Text)
	case a.Text == "":
		return errors.New("the command has no answer")
	default:
		return errors.New(a.Text)
	}
}

// Clone returns a Sender that remembers the same, for a search over many states.
func (s *Sender) Clone() *Sender {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &Sender{System: s.System, objects: map[types.UID]*sent{}}
	for uid, o := range s.objects {
		c := *o
		c.done, c.failed = maps.Clone(o.done), maps.Clone(o.failed)
		out.objects[uid] = &c
	}
	return out
}

// Remembers returns what decides what is sent next for an object: the command without a processed answer, why commands failed, and which
// ones succeeded how long ago.
func (s *Sender) Remembers(object types.UID, now time.Time) (open string, failed map[string]error, done map[string]time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.of(object)
	if o.open {
		open = o.text
	}
	done = map[string]time.Duration{}
	for text, at := range o.done {
		if age := now.Sub(at); age < repeat {
			done[text] = age
		}
	}
	return open, maps.Clone(o.failed), done
}

// Drop forgets a deleted object.
func (s *Sender) Drop(object types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, object)
}

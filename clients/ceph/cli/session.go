package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/clients/ceph"
)

// sessionProgram answers requests over one connection to Ceph.
//
//go:embed session.py
var sessionProgram string

// Session runs commands in a pod over one connection to Ceph, which is kept while commands follow each other. A run of the ceph command
// takes 0.6 seconds or more, nearly all of it for its start: a command of a session takes less than a tenth of that. It implements
// ceph.Runner.
//
// The program is Python with the modules of the ceph command itself, and its exit codes and texts are the same. Where it cannot be run, each
// command is a run of its own, as of Pod. The caller must close it.
type Session struct {
	// Pod in which it runs, with all bounds. Required.
	Pod *Pod
	// Clock of the process. Required.
	Clock clock.WithDelayedExecution

	mu      sync.Mutex
	closed  bool
	current *conversation
	// beginning is true while a conversation is begun. Other commands are runs of their own meanwhile.
	beginning bool
	// used is when the last command was run, and refusedAt when a conversation could not be begun.
	used, refusedAt time.Time
}

const (
	// idle is how long a conversation is continued after the last command. The program ends after twice as long.
	idle = time.Minute
	// retry is how long no conversation is tried after one that could not be begun: longer than a command may take, so that one of the ceph
	// command itself says why it is not answered.
	retry = 30 * time.Second
)

// Run runs one command, or several that are lines of the input if it has no arguments.
func (s *Session) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	timeout := or(s.Pod.Timeout, DefaultTimeout)
	late := fmt.Errorf("the ceph command took longer than %s", timeout)
	limited, cancel := context.WithTimeoutCause(ctx, timeout+transfer, late)
	defer cancel()
	c := s.conversation(limited)
	if c == nil {
		return s.Pod.Run(ctx, command)
	}
	defer c.release()
	result, err := c.run(limited, command, timeout)
	if err != nil { // what hangs may be the connection
		s.retire(c)
	}
	return result, err
}

// Close ends the conversation.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if c := s.current; c != nil {
		s.current = nil
		c.end(errClosed)
		<-c.over
	}
}

var (
	errClosed       = errors.New("the connection to Ceph was closed")
	errNotConnected = errors.New("the program did not connect to Ceph in time")
)

// conversation returns the present one or a new one, which the caller must release; nil if there can be none now.
func (s *Session) conversation(ctx context.Context) *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	if s.current != nil && (now.Sub(s.used) > idle || s.current.reason() != nil) {
		s.current.retire()
		s.current = nil
	}
	s.used = now
	switch {
	case s.current != nil:
		s.current.hold()
		return s.current
	case s.closed, s.beginning, !s.refusedAt.IsZero() && now.Sub(s.refusedAt) < retry:
		return nil
	}
	s.beginning = true
	s.mu.Unlock()
	c, err := s.begin(ctx)
	s.mu.Lock()
	s.beginning = false
	switch _, absent := errors.AsType[*ceph.NotStarted](err); {
	case err != nil && !absent && ctx.Err() == nil:
		s.refusedAt = s.Clock.Now()
		return nil
	case err != nil:
		return nil
	case s.closed:
		c.end(errClosed)
		return nil
	}
	s.current = c
	c.hold()
	return c
}

// retire ends a conversation once its other commands have ended. The next command begins another one.
func (s *Session) retire(c *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == c {
		s.current = nil
	}
	c.retire()
}

// begin starts the program and waits until it is connected.
func (s *Session) begin(ctx context.Context) (*conversation, error) {
	p := s.Pod
	seconds := int(or(p.ConnectTimeout, DefaultConnectTimeout).Round(time.Second) / time.Second)
	command := []string{"python3", "-c", sessionProgram, p.Conf, p.Name, p.Keyring, strconv.Itoa(max(seconds, 1))}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second+transfer, errNotConnected)
	defer cancel()
	c := converse(s.Clock, p.Exec, command, or(p.MaxOutput, DefaultMaxOutput))
	select {
	case <-c.ready:
		return c, nil
	case <-c.over:
		return nil, c.reason()
	case <-ctx.Done():
		c.end(context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
}

package ceph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Kind of a refusal: what a caller does about it.
type Kind string

const (
	// Rejected is every refusal that repeating does not cure.
	Rejected Kind = "Rejected"
	// Busy means not now (EBUSY): a daemon must not be stopped now.
	Busy Kind = "Busy"
	// NotKnownYet means that Ceph lacks the data for an answer (EAGAIN), as after the start of a manager.
	NotKnownYet Kind = "NotKnownYet"
	// Unsupported means that the release has no such command or argument (EINVAL).
	Unsupported Kind = "Unsupported"
	// NotFound means that what the command names does not exist (ENOENT), or that no such daemon answers (ENXIO).
	NotFound Kind = "NotFound"
)

// The error numbers of Linux that are distinguished.
const (
	codeNotFound    = 2
	codeNoDaemon    = 6
	codeAgain       = 11
	codeBusy        = 16
	codeUnsupported = 22
)

// Refused is a refusal: Ceph received the command, did not execute it and returned a reason.
type Refused struct {
	Kind Kind
	// Name is the error's name, such as EPERM.
	Name string
	// Text is Ceph's reason, cut to a length that a status can show.
	Text string
}

// Error quotes Ceph's answer.
func (r *Refused) Error() string {
	if r.Text == "" {
		return "ceph answered " + r.Name
	}
	return fmt.Sprintf("ceph answered %s: %s", r.Name, r.Text)
}

// Unreadable means that there is no usable answer to a question, or that a command was not sent. A retry is always safe.
type Unreadable struct {
	// What was requested, such as "reading the OSD map".
	What string
	Err  error
}

func (u *Unreadable) Error() string { return u.What + ": " + u.Err.Error() }

// Unwrap returns the cause.
func (u *Unreadable) Unwrap() error { return u.Err }

// OutcomeUnknown means that there is no answer to a command that may have been executed. Only a read can resolve it.
type OutcomeUnknown struct {
	// What was requested, such as "setting the flag noout of osd.3".
	What string
	Err  error
}

func (o *OutcomeUnknown) Error() string { return o.What + ": outcome unknown: " + o.Err.Error() }

// Unwrap returns the cause.
func (o *OutcomeUnknown) Unwrap() error { return o.Err }

// AsRefused returns Ceph's refusal if err is one.
func AsRefused(err error) (Refused, bool) {
	if r, ok := errors.AsType[*Refused](err); ok {
		return *r, true
	}
	return Refused{}, false
}

// IsOutcomeUnknown reports whether a command that returned err may have been executed.
func IsOutcomeUnknown(err error) bool {
	var o *OutcomeUnknown
	return errors.As(err, &o)
}

// failed matches the line by which the command reports a refusal. Without it a non-zero exit code means that no daemon answered: the
// cluster was not reached, or the keys were not accepted.
var failed = regexp.MustCompile(`(?m)^Error (E[A-Z0-9]{2,15})(?:: ?(.*))?$`)

// refusal returns the refusal in a result, or nil.
func refusal(result Result) *Refused {
	m := failed.FindSubmatch(result.Stderr)
	if m == nil {
		return nil
	}
	r := &Refused{Kind: Rejected, Name: string(m[1]), Text: shown(string(m[2]))}
	switch result.Code {
	case codeNotFound, codeNoDaemon:
		r.Kind = NotFound
	case codeAgain:
		r.Kind = NotKnownYet
	case codeBusy:
		r.Kind = Busy
	case codeUnsupported:
		r.Kind = Unsupported
	}
	return r
}

const maxText = 300

// shown cuts and cleans text of Ceph for a status.
func shown(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text))
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}

// complaint returns why a command failed although no daemon refused it.
func complaint(result Result) error {
	text := bytes.TrimSpace(result.Stderr)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) == 0 {
		return fmt.Errorf("the ceph command ended with exit code %d and no reason", result.Code)
	}
	return fmt.Errorf("the ceph command ended with exit code %d: %s", result.Code, shown(string(text)))
}

// ask runs a command that changes nothing, and returns its output.
func (c Client) ask(ctx context.Context, what string, args ...string) ([]byte, error) {
	result, err := c.Runner.Run(ctx, Command{Args: args})
	if err != nil {
		return nil, &Unreadable{What: what, Err: err}
	}
	if r := refusal(result); r != nil {
		return nil, fmt.Errorf("%s: %w", what, r)
	}
	if result.Code != 0 {
		return nil, &Unreadable{What: what, Err: complaint(result)}
	}
	return result.Stdout, nil
}

// do runs a command that changes something.
func (c Client) do(ctx context.Context, what string, command Command) error {
	result, err := c.Runner.Run(ctx, command)
	var never *NotStarted
	switch {
	case errors.As(err, &never):
		return &Unreadable{What: what, Err: err}
	case err != nil:
		return &OutcomeUnknown{What: what, Err: err}
	}
	if r := refusal(result); r != nil {
		return fmt.Errorf("%s: %w", what, r)
	}
	if result.Code != 0 {
		return &OutcomeUnknown{What: what, Err: complaint(result)}
	}
	return nil
}

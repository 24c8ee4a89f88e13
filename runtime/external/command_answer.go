package external

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/machines"
)

// AnswerState is the progress of a command.
type AnswerState string

const (
	// None: this process knows of no command with this request ID.
	None AnswerState = ""
	// Pending: the command was sent or queued and has no outcome yet.
	Pending AnswerState = "pending"
	// Done: the command succeeded.
	Done AnswerState = "done"
	// Refused: the system rejected the command and returned the reason.
	Refused AnswerState = "refused"
	// Failed: the command was never sent.
	Failed AnswerState = "failed"
	// Unknown: the command may have been executed, may still be, or never will be. Only a read can find out. So is a command of an older
	// status that was put back after later ones: it is not sent.
	Unknown AnswerState = "unknown"
)

// Answer is the outcome of a command.
type Answer struct {
	RequestID machines.RequestID
	State     AnswerState
	// Code and Name of the error in the system's protocol.
	Code int
	Name string
	// Text is the system's message, or why there is no answer.
	Text string
}

// failure says in words for users why the command had no success; empty if it had, or has no outcome.
func (a Answer) failure() string {
	what := ""
	switch a.State {
	case Refused:
		what = "the last command was refused"
		if a.Code != 0 || a.Name != "" {
			what += strings.TrimRight(fmt.Sprintf(" with %d %s", a.Code, a.Name), " ")
		}
	case Failed:
		what = "the last command was not sent"
	case Unknown:
		what = "it is not known whether the last command was carried out"
	case None, Pending, Done:
		return ""
	}
	if a.Text == "" {
		return what
	}
	return what + ": " + a.Text
}

package external

import "github.com/detent-dev/detent/machines"

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

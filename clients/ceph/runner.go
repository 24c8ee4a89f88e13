package ceph

import "context"

// Command is one call of the ceph command.
type Command struct {
	// Args of the command without the program and its global options, such as "osd", "dump".
	Args []string
	// Input is the standard input.
	Input []byte
}

// Result of a command that ran to its end.
type Result struct {
	// Code is the exit code.
	Code int
	// Stdout and Stderr are complete.
	Stdout, Stderr []byte
}

// Runner runs the ceph command with answers in JSON. It must be safe for concurrent use.
type Runner interface {
	// Run returns an error if the command did not run to its end: it could not be started, it exceeded its time, or it printed more
	// than is read. Started reports through *NotStarted that it was never started.
	Run(ctx context.Context, command Command) (Result, error)
}

// NotStarted is a command that was never started, so that it changed nothing.
type NotStarted struct{ Err error }

func (n *NotStarted) Error() string { return "starting the ceph command: " + n.Err.Error() }

// Unwrap returns the cause.
func (n *NotStarted) Unwrap() error { return n.Err }

// Client asks one cluster. It holds no state.
type Client struct {
	Runner Runner
	// KeysFrom is the monitor that keys are read from and stored through. Optional; default: any.
	KeysFrom Daemon
}

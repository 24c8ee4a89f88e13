package connector

import (
	"time"

	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// NeedConnectors is what Connect reports of all connectors.
const NeedConnectors transitions.Need = "connectors"

// State is a state of a connector as Connect names it.
type State string

// States that can be requested, and Failed.
const (
	Running State = "RUNNING"
	Paused  State = "PAUSED"
	Stopped State = "STOPPED"
	Failed  State = "FAILED"
)

const (
	// unpublished is the state of a connector whose state no worker has published yet.
	unpublished State = ""
	// unassigned and restarting are those of a connector that no worker runs at present. It starts as Connect has stored.
	unassigned State = "UNASSIGNED"
	restarting State = "RESTARTING"
)

// Facts of one connector.
type Facts struct {
	Now time.Time
	// Declared is true if the spec declares the connector. One that is not declared is deleted.
	Declared bool
	// Refused is true while the spec cannot be applied. Config is not what Connect is to have then: the connector is neither created nor
	// configured.
	Refused bool
	// Config is the digest of the declared configuration.
	Config string
	// State is the state that it must have: the declared one, or Stopped while its offsets are changed.
	State State
	// Restart is the restart that is due; empty if none is.
	Restart Restart
	// Connector is what Connect reports.
	Connector transitions.Fact[Connector] `need:"connectors"`
	// Answer to the command of this visit of the state.
	Answer connectoroffsets.Answer
	// Failure is why the last command failed; nil if it did not.
	Failure *transitions.Problem
	// Since is when the state was entered.
	Since time.Time
	// Attempted is the target of the attempt in progress; empty if there is none.
	Attempted string
}

// Connector is what Connect reports of the connector.
type Connector struct {
	Exists bool
	// Config is the digest of its configuration.
	Config string
	State  State
	// TasksWork is true if a task is neither paused nor failed, TasksPaused if one is paused. The tasks of a connector that has failed go on,
	// and follow requests for another state, which the connector itself does not.
	TasksWork, TasksPaused bool
}

// paused reports whether nothing of a connector that is to pause works, or will work again: it has paused, or Connect has stored that it is to
// pause, and it has failed with its tasks paused or failed, or is started again first. A paused task shows that of one that has failed; else only
// the confirmed request does.
func (c *Connector) paused(d Data) bool {
	return c.State == Paused || c.State == Failed && !c.TasksWork && (c.TasksPaused || d.pauses()) || c.startsPaused(d)
}

// startsPaused reports whether no worker runs the connector, and it will be paused when one does.
func (c *Connector) startsPaused(d Data) bool {
	return d.pauses() && (c.State == unassigned || c.State == restarting)
}

// halted reports whether the connector, or a task of one that has failed, waits for a request to run again.
func (c *Connector) halted() bool {
	return c.State == Paused || c.State == Stopped || c.State == Failed && c.TasksPaused
}

// Restart is a restart of a connector or of a task.
type Restart struct {
	// Annotation that requests it; empty for an automatic restart.
	Annotation string
	// Value is the digest of the annotation's value.
	Value string
	// Tasks is true if its tasks restart too, and OnlyFailed if only what has failed does.
	Tasks, OnlyFailed bool
	// Task is the number of the task to restart, plus one; zero for the connector.
	Task int
}

// due reports whether a restart is due.
func (r Restart) due() bool { return r != Restart{} }

// Command is what is requested of Connect.
type Command string

// Commands.
const (
	None        Command = ""
	Create      Command = "create"
	Configure   Command = "configure"
	Pause       Command = "pause"
	Resume      Command = "resume"
	Stop        Command = "stop"
	Delete      Command = "delete"
	RestartIt   Command = "restart"
	RestartTask Command = "restart-task"
)

// Effect is one effect.
type Effect struct {
	Command Command
	// State of a Create.
	State State
	// Restart of a restart.
	Restart Restart
	// Clear is the annotation to remove, of a restart that Connect has carried out. Command is empty then.
	Clear string
}

// due returns the command that brings the connector to what the spec declares. A connector is stopped before it is configured, so that
// a new configuration does not run. While the spec is refused, it keeps the configuration that Connect has.
func (f *Facts) due(c *Connector, d Data) Command {
	switch {
	case f.Declared && c.Exists:
		return f.differs(c, d)
	case c.Exists:
		return Delete
	case f.Declared && !f.Refused:
		return Create
	}
	return None
}

// differs returns the command for a declared connector that exists. A pause is requested in each state that a worker has published: Connect
// stores it, the tasks of a connector that has failed follow it, and one without a worker does once it has one.
func (f *Facts) differs(c *Connector, d Data) Command {
	switch {
	case f.State == Stopped && c.State != Stopped:
		return Stop
	case c.Config != f.Config && !f.Refused:
		return Configure
	case f.State == Running && (c.halted() || c.startsPaused(d)):
		return Resume
	case f.State == Paused && c.State != unpublished && !c.paused(d):
		return Pause
	case f.Restart.due() && c.State != Stopped && f.Restart.Task > 0:
		return RestartTask
	case f.Restart.due() && c.State != Stopped:
		return RestartIt
	}
	return None
}

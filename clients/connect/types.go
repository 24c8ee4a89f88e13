package connect

import "strings"

// State is the state of a connector or a task.
type State string

// States that Connect reports. Only Running, Paused and Stopped can be requested.
const (
	Running    State = "RUNNING"
	Paused     State = "PAUSED"
	Stopped    State = "STOPPED"
	Failed     State = "FAILED"
	Unassigned State = "UNASSIGNED"
	Restarting State = "RESTARTING"
)

// Worker is what a worker reports about itself.
type Worker struct {
	Version        string `json:"version"`
	Commit         string `json:"commit"`
	KafkaClusterID string `json:"kafka_cluster_id"`
}

// Status is the published state of a connector and its tasks.
type Status struct {
	Name      string       `json:"name"`
	Type      string       `json:"type"`
	Connector WorkerState  `json:"connector"`
	Tasks     []TaskStatus `json:"tasks"`
}

// WorkerState is a state with the worker that published it.
type WorkerState struct {
	State State `json:"state"`
	// Worker is its advertised host and port.
	Worker string `json:"worker_id"`
	// Trace is the stack trace of a failure. It may contain values of the configuration.
	Trace string `json:"trace,omitempty"`
}

// TaskStatus is the published state of one task.
type TaskStatus struct {
	ID int `json:"id"`
	WorkerState
}

// StoppedWithoutTasks reports whether the connector has stopped and no task is left in the published states. It does not prove that
// no task runs: a worker that is silent may still run one.
func (s Status) StoppedWithoutTasks() bool {
	return s.Connector.State == Stopped && len(s.Tasks) == 0
}

// EntryName returns the key of a ConfigMap that holds the offsets of a connector. A key must not contain ">".
func EntryName(connector string) string {
	return strings.ReplaceAll(connector, "->", "--") + ".json"
}

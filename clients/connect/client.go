package connect

import "context"

// Reader observes a Connect cluster through one worker. Every method sends one request when it is called; nothing is cached. It
// returns within the deadline of the context and the implementation's own time-out. It fails with *Refused (Connect answered and
// refused, such as 404 for an unknown connector) or *Unreadable. The caller owns the result.
type Reader interface {
	// Worker reads the version of the worker that answers, and the id of the Kafka cluster it uses.
	Worker(ctx context.Context) (Worker, error)
	// Connectors reads the names of all connectors, sorted.
	Connectors(ctx context.Context) ([]string, error)
	// Configs reads the configurations of all connectors with one request, by name, and Statuses the states. A connector of which no worker
	// has published a state yet has none. Any worker answers from its own copy.
	Configs(ctx context.Context) (map[string]map[string]string, error)
	Statuses(ctx context.Context) (map[string]Status, error)
	// Config reads the configuration of a connector, with the name that Connect adds.
	Config(ctx context.Context, connector string) (map[string]string, error)
	// Status reads the states that the workers published last. Any worker answers from its own copy. A worker that is dead or
	// silent published its state before that.
	Status(ctx context.Context, connector string) (Status, error)
	// Tasks reads the ids of the configured tasks through the herder of the worker that answers: an answer proves that the worker
	// was alive and took part in the group after the request was sent. A stopped connector has no tasks.
	Tasks(ctx context.Context, connector string) ([]int, error)
	// Offsets reads the offsets that a connector has committed, as Connect's JSON document.
	Offsets(ctx context.Context, connector string) (string, error)
}

// Writer changes a Connect cluster. Every method sends its request at most once. It fails with *Refused (not executed),
// *Unreadable (not sent, so not executed) or *OutcomeUnknown.
type Writer interface {
	// Create creates a connector in an initial state: Running, Paused or Stopped. A name that exists is refused with
	// CodeConflict.
	Create(ctx context.Context, connector string, config map[string]string, initial State) error
	// Configure replaces the configuration of a connector, and creates the connector if it does not exist.
	Configure(ctx context.Context, connector string, config map[string]string) error
	// Delete deletes a connector. Its offsets remain: a connector that is created again under the name continues from them.
	Delete(ctx context.Context, connector string) error
	// Pause and Resume request the state. Connect answers before any worker has acted.
	Pause(ctx context.Context, connector string) error
	Resume(ctx context.Context, connector string) error
	// Stop requests that the connector stops and its tasks end. Connect answers once the request is stored; tasks may still run.
	// Each request writes an empty set of tasks, which starts a rebalance also if the connector is stopped: do not repeat a stop
	// that succeeded.
	Stop(ctx context.Context, connector string) error
	// Restart restarts a connector and, if tasks is true, its tasks: all of them, or only what has failed.
	Restart(ctx context.Context, connector string, tasks, onlyFailed bool) error
	// RestartTask restarts one task.
	RestartTask(ctx context.Context, connector string, task int) error
	// AlterOffsets sends the body unchanged and returns Connect's message. Partitions that the body does not contain keep their
	// offsets.
	AlterOffsets(ctx context.Context, connector, body string) (message string, err error)
	// ResetOffsets removes all offsets of a connector and returns Connect's message. It succeeds also if there are none.
	ResetOffsets(ctx context.Context, connector string) (message string, err error)
}

// Client reads and changes a Connect cluster.
type Client interface {
	Reader
	Writer
}

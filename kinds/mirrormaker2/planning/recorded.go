package planning

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	connectclient "github.com/detent-dev/detent/clients/connect"
)

// recorded is a client that records its writes as effects of the resource.
type recorded struct {
	connectclient.Client
	simulation *simulation
	of         types.NamespacedName
}

func (t *recorded) done(verb, connector, words string, err error) error {
	t.simulation.env.Effect(t.of, System, verb, connector, words+" "+connector)
	return err
}

// Create implements connectclient.Writer.
func (t *recorded) Create(ctx context.Context, connector string, config map[string]string, initial connectclient.State) error {
	return t.done("create", connector, "create connector", t.Client.Create(ctx, connector, config, initial))
}

// Configure implements connectclient.Writer.
func (t *recorded) Configure(ctx context.Context, connector string, config map[string]string) error {
	return t.done("configure", connector, "configure connector", t.Client.Configure(ctx, connector, config))
}

// Delete implements connectclient.Writer.
func (t *recorded) Delete(ctx context.Context, connector string) error {
	return t.done("delete", connector, "delete connector", t.Client.Delete(ctx, connector))
}

// Pause implements connectclient.Writer.
func (t *recorded) Pause(ctx context.Context, connector string) error {
	return t.done("pause", connector, "pause connector", t.Client.Pause(ctx, connector))
}

// Resume implements connectclient.Writer.
func (t *recorded) Resume(ctx context.Context, connector string) error {
	return t.done("resume", connector, "resume connector", t.Client.Resume(ctx, connector))
}

// Stop implements connectclient.Writer.
func (t *recorded) Stop(ctx context.Context, connector string) error {
	return t.done("stop", connector, "stop connector", t.Client.Stop(ctx, connector))
}

// Restart implements connectclient.Writer.
func (t *recorded) Restart(ctx context.Context, connector string, tasks, onlyFailed bool) error {
	return t.done("restart", connector, "restart connector", t.Client.Restart(ctx, connector, tasks, onlyFailed))
}

// RestartTask implements connectclient.Writer.
func (t *recorded) RestartTask(ctx context.Context, connector string, task int) error {
	return t.done("restart-task", connector, "restart a task of connector", t.Client.RestartTask(ctx, connector, task))
}

// AlterOffsets implements connectclient.Writer.
func (t *recorded) AlterOffsets(ctx context.Context, connector, body string) (string, error) {
	message, err := t.Client.AlterOffsets(ctx, connector, body)
	return message, t.done("alter", connector, "alter the offsets of", err)
}

// ResetOffsets implements connectclient.Writer.
func (t *recorded) ResetOffsets(ctx context.Context, connector string) (string, error) {
	message, err := t.Client.ResetOffsets(ctx, connector)
	return message, t.done("reset", connector, "reset the offsets of", err)
}

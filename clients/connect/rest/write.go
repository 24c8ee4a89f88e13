package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/detent-dev/detent/clients/connect"
)

// Create implements connect.Writer.
func (c *Client) Create(ctx context.Context, connector string, config map[string]string, initial connect.State) error {
	what := "creating " + connector
	body, err := json.Marshal(struct {
		Name    string            `json:"name"`
		Config  map[string]string `json:"config"`
		Initial connect.State     `json:"initial_state"`
	}{connector, config, initial})
	if err != nil {
		return connect.WriteFailure(what, err, false)
	}
	return c.write(ctx, call{what: what, method: http.MethodPost, path: "/connectors", body: body, want: []int{http.StatusCreated}})
}

// Configure implements connect.Writer.
func (c *Client) Configure(ctx context.Context, connector string, config map[string]string) error {
	what := "configuring " + connector
	body, err := json.Marshal(config)
	if err != nil {
		return connect.WriteFailure(what, err, false)
	}
	return c.write(ctx, call{what: what, method: http.MethodPut, path: connectorPath(connector, "/config"), body: body, want: []int{http.StatusOK, http.StatusCreated}})
}

// Delete implements connect.Writer.
func (c *Client) Delete(ctx context.Context, connector string) error {
	return c.write(ctx, call{what: "deleting " + connector, method: http.MethodDelete, path: connectorPath(connector, ""), want: []int{http.StatusNoContent}})
}

// Pause implements connect.Writer.
func (c *Client) Pause(ctx context.Context, connector string) error {
	return c.write(ctx, call{what: "pausing " + connector, method: http.MethodPut, path: connectorPath(connector, "/pause"), want: []int{http.StatusAccepted}})
}

// Resume implements connect.Writer.
func (c *Client) Resume(ctx context.Context, connector string) error {
	return c.write(ctx, call{what: "resuming " + connector, method: http.MethodPut, path: connectorPath(connector, "/resume"), want: []int{http.StatusAccepted}})
}

// Stop implements connect.Writer.
func (c *Client) Stop(ctx context.Context, connector string) error {
	return c.write(ctx, call{what: "stopping " + connector, method: http.MethodPut, path: connectorPath(connector, "/stop"), want: []int{http.StatusNoContent}})
}

// Restart implements connect.Writer.
func (c *Client) Restart(ctx context.Context, connector string, tasks, onlyFailed bool) error {
	query := fmt.Sprintf("/restart?includeTasks=%t&onlyFailed=%t", tasks, onlyFailed)
	return c.write(ctx, call{what: "restarting " + connector, method: http.MethodPost, path: connectorPath(connector, query), want: []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent}})
}

// RestartTask implements connect.Writer.
func (c *Client) RestartTask(ctx context.Context, connector string, task int) error {
	what := fmt.Sprintf("restarting task %d of %s", task, connector)
	return c.write(ctx, call{what: what, method: http.MethodPost, path: connectorPath(connector, fmt.Sprintf("/tasks/%d/restart", task)), want: []int{http.StatusOK, http.StatusNoContent}})
}

// AlterOffsets implements connect.Writer.
func (c *Client) AlterOffsets(ctx context.Context, connector, body string) (string, error) {
	return c.offsets(ctx, call{what: "altering the offsets of " + connector, method: http.MethodPatch, path: connectorPath(connector, "/offsets"), body: []byte(body)})
}

// ResetOffsets implements connect.Writer.
func (c *Client) ResetOffsets(ctx context.Context, connector string) (string, error) {
	return c.offsets(ctx, call{what: "resetting the offsets of " + connector, method: http.MethodDelete, path: connectorPath(connector, "/offsets")})
}

func (c *Client) offsets(ctx context.Context, request call) (string, error) {
	var answer struct {
		Message string `json:"message"`
	}
	request.want, request.into = []int{http.StatusOK}, &answer
	err := c.write(ctx, request)
	return answer.Message, err
}

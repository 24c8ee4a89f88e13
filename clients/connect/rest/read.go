package rest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/detent-dev/detent/clients/connect"
)

// Worker implements connect.Reader.
func (c *Client) Worker(ctx context.Context) (w connect.Worker, err error) {
	err = c.read(ctx, call{what: "reading the worker's version", path: "/", into: &w})
	return w, err
}

// Connectors implements connect.Reader.
func (c *Client) Connectors(ctx context.Context) (names []string, err error) {
	err = c.read(ctx, call{what: "listing connectors", path: "/connectors", into: &names})
	slices.Sort(names)
	return names, err
}

// Configs implements connect.Reader. A connector that was deleted meanwhile is missing.
func (c *Client) Configs(ctx context.Context) (map[string]map[string]string, error) {
	var all map[string]struct {
		Info *struct {
			Config map[string]string `json:"config"`
		} `json:"info"`
	}
	if err := c.read(ctx, call{what: "reading the configurations of the connectors", path: "/connectors?expand=info", into: &all}); err != nil {
		return nil, err
	}
	out := make(map[string]map[string]string, len(all))
	for name, one := range all {
		if one.Info != nil {
			out[name] = one.Info.Config
		}
	}
	return out, nil
}

// Statuses implements connect.Reader. An answer without the state of a connector that it names is unreadable.
func (c *Client) Statuses(ctx context.Context) (map[string]connect.Status, error) {
	const what = "reading the states of the connectors"
	var all map[string]struct {
		Status connect.Status `json:"status"`
	}
	if err := c.read(ctx, call{what: what, path: "/connectors?expand=status", into: &all}); err != nil {
		return nil, err
	}
	out := make(map[string]connect.Status, len(all))
	for name, one := range all {
		if one.Status.Connector.State == "" {
			return nil, &connect.Unreadable{What: what, Err: errNoState}
		}
		out[name] = one.Status
	}
	return out, nil
}

// Config implements connect.Reader.
func (c *Client) Config(ctx context.Context, connector string) (config map[string]string, err error) {
	err = c.read(ctx, call{what: "reading the configuration of " + connector, path: connectorPath(connector, "/config"), into: &config})
	return config, err
}

var errNoState = errors.New("the answer has no state of the connector: is another program listening there?")

// Status implements connect.Reader. An answer without a state is unreadable.
func (c *Client) Status(ctx context.Context, connector string) (s connect.Status, err error) {
	what := "reading the status of " + connector
	err = c.read(ctx, call{what: what, path: connectorPath(connector, "/status"), into: &s})
	if err == nil && s.Connector.State == "" {
		err = &connect.Unreadable{What: what, Err: errNoState}
	}
	return s, err
}

// Tasks implements connect.Reader.
func (c *Client) Tasks(ctx context.Context, connector string) ([]int, error) {
	var tasks []struct {
		ID struct {
			Task int `json:"task"`
		} `json:"id"`
	}
	err := c.read(ctx, call{what: "reading the tasks of " + connector, path: connectorPath(connector, "/tasks"), into: &tasks})
	ids := make([]int, 0, len(tasks))
	for _, t := range tasks {
		ids = append(ids, t.ID.Task)
	}
	slices.Sort(ids)
	return ids, err
}

// Offsets implements connect.Reader.
func (c *Client) Offsets(ctx context.Context, connector string) (string, error) {
	var document json.RawMessage
	err := c.read(ctx, call{what: "reading the offsets of " + connector, path: connectorPath(connector, "/offsets"), into: &document})
	return string(document), err
}

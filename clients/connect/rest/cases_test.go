package rest_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/rest"
)

// TestClientCases checks the cases rest- of test/testdata/cases/offsets.yaml that are about one request. Those about several are in
// TestKindRunsConnectors of controllers/mirrormaker2.
func TestClientCases(t *testing.T) {
	status := func(ctx context.Context, c *rest.Client) error {
		_, err := c.Status(ctx, connector)
		return err
	}
	configure := func(ctx context.Context, c *rest.Client) error { return c.Configure(ctx, connector, nil) }
	const reading, configuring = "reading the status of " + connector + ": ", "configuring " + connector + ": outcome unknown: "
	for _, tc := range []struct {
		name   string
		send   func(ctx context.Context, c *rest.Client) error
		code   int
		answer string
		want   string
	}{
		{"rest-error-message-extraction, a message", status, 500, `{"message": "x"}`, reading + "connect answered 500: x"},
		{"rest-error-message-extraction, truncated JSON", status, 500, `{"message": "x`, reading + "connect answered 500"},
		{"rest-error-message-extraction, plain text", status, 500, `x`, reading + "connect answered 500"},
		{"rest-put-config-500-bad-body", configure, 500, `x`, configuring + "connect answered 500"},
		{"rest-status-unlisted-2xx", status, 202, `{"message": "x"}`, reading + "connect answered 202: x"},
		{"rest-status-500", status, 500, `{"error_code":500,"message":"the group is not available"}`, reading + "connect answered 500: the group is not available"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client := serve(t, rest.Options{}, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.answer)
			})
			err := tc.send(t.Context(), client)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestClientCreatesInAState checks rest-create-sends-initial-state. rest-create-without-state has another outcome: the state of a connector
// is always sent, and is RUNNING where none is declared.
func TestClientCreatesInAState(t *testing.T) {
	for state, want := range map[connect.State]string{
		connect.Stopped: `{"name":"c","config":{"tasks.max":"1"},"initial_state":"STOPPED"}`,
		connect.Running: `{"name":"c","config":{"tasks.max":"1"},"initial_state":"RUNNING"}`,
	} {
		var got string
		client := serve(t, rest.Options{}, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = string(body)
			w.WriteHeader(http.StatusCreated)
		})
		if err := client.Create(t.Context(), "c", map[string]string{"tasks.max": "1"}, state); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
	}
}

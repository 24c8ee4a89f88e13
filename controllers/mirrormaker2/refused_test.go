package mirrormaker2_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// refusing is an API server that refuses some requests.
type refusing struct {
	client.Client
	// refuse returns why a request is refused, or nil. It is not called while it is nil.
	refuse func(verb, name string) error
}

func (c *refusing) judge(verb, name string) error {
	if c.refuse == nil {
		return nil
	}
	return c.refuse(verb, name)
}

func (c *refusing) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := c.judge("get", key.Name); err != nil {
		return err
	}
	return c.Client.Get(ctx, key, o, opts...)
}

func (c *refusing) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if err := c.judge("create", o.GetName()); err != nil {
		return err
	}
	return c.Client.Create(ctx, o, opts...)
}

func (c *refusing) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := c.judge("patch", o.GetName()); err != nil {
		return err
	}
	return c.Client.Patch(ctx, o, patch, opts...)
}

// TestKindWarnsOfFailures checks the cases of test/testdata/cases/offsets.yaml in which Connect or the API server fails while a request is
// carried out: the warning quotes the failure, the annotations stay, and the request is done when the failure ends.
func TestKindWarnsOfFailures(t *testing.T) {
	const denied = "exceeded quota: offsets"
	deny := func(verb, name string) func(string, string) error {
		return func(v, n string) error {
			if v == verb && n == name {
				return errors.New(denied)
			}
			return nil
		}
	}
	answers := func(suffix string, code int, body string) func(*http.Request) *http.Response {
		return func(q *http.Request) *http.Response {
			if q.Method != http.MethodGet || !strings.HasSuffix(q.URL.Path, source+suffix) {
				return nil
			}
			return response(code, body)
		}
	}
	broken := `{"error_code":500,"message":"the group is not available"}`
	for name, tc := range map[string]struct {
		operation string
		refuse    func(verb, name string) error
		answer    func(q *http.Request) *http.Response
		reason    string
		want      string
	}{
		"mm2-list-rest-get-fails":           {operation: "list", answer: answers("/offsets", 500, broken), reason: "ListOffsets", want: "the group is not available"}, //nolint:bodyclose // the client closes it
		"mm2-list-configmap-write-fails":    {operation: "list", refuse: deny("create", "my-mm2-offsets"), reason: "ListOffsets", want: denied},
		"mm2-list-annotation-removal-fails": {operation: "list", refuse: deny("patch", "my-mm2"), reason: "ListOffsets", want: denied},
		"mm2-list-configmap-read-fails":     {operation: "list", refuse: deny("get", "my-mm2-offsets"), reason: "ListOffsets", want: denied},
		"mm2-alter-configmap-read-fails":    {operation: "alter", refuse: deny("get", "my-mm2-offsets"), reason: "AlterOffsets", want: denied},
		"mm2-reset-status-call-fails":       {operation: "reset", answer: answers("/status", 500, broken), reason: "ResetOffsets", want: "the group is not available"},                        //nolint:bodyclose // the client closes it
		"mm2-alter-status-has-no-state":     {operation: "alter", answer: answers("/status", 200, `{"foo":"bar"}`), reason: "AlterOffsets", want: "the answer has no state of the connector"}, //nolint:bodyclose // the client closes it
		"mm2-reset-status-has-no-state":     {operation: "reset", answer: answers("/status", 200, `{"foo":"bar"}`), reason: "ResetOffsets", want: "the answer has no state of the connector"}, //nolint:bodyclose // the client closes it
		"mm2-reset-kept-write-fails":        {operation: "reset", refuse: deny("create", "my-mm2-offsets-before"), reason: "ResetOffsets", want: denied},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if tc.operation == "alter" {
				objects = append(objects, body(altered))
			}
			r := newRig(t, objects...)
			server := &refusing{Client: r.client}
			r.client = server
			r.start()
			r.until("that all is settled", r.settled)
			if tc.operation != "list" {
				r.edit(state(kafkav1beta2.ConnectorStopped))
				r.until("that it is stopped", r.settled)
			}
			r.annotate(tc.operation, source)
			server.refuse, r.answer = tc.refuse, tc.answer
			warned := func() bool {
				server.refuse = nil
				got := r.warning(tc.reason)
				server.refuse = tc.refuse
				return strings.Contains(got, tc.want) && strings.Contains(got, source)
			}
			r.until("the warning", warned)
			for range 20 {
				r.step()
			}
			if !warned() || r.get().Annotations["strimzi.io/connector-offsets"] != tc.operation || len(r.changes()) > 0 {
				t.Errorf("warning %q, annotations %v, sent %v", r.warning(tc.reason), r.get().Annotations, r.changes())
			}
			server.refuse, r.answer = nil, nil
			r.until("that it is done", func() bool { return r.unannotated() && r.warning(tc.reason) == "" })
		})
	}
}

// TestKindStopsAConnectorWhoseConfigurationWasRefusedForLong checks that the pauses between the repetitions of a refused request do not delay
// another request.
func TestKindStopsAConnectorWhoseConfigurationWasRefusedForLong(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.answer = func(q *http.Request) *http.Response {
		if q.Method == http.MethodPut && strings.HasSuffix(q.URL.Path, source+"/config") {
			return response(http.StatusBadRequest, `{"error_code":400,"message":"Connector configuration is invalid"}`)
		}
		return nil
	}
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.TasksMax = new(int32(1)) })
	for range 2700 { // the pauses are of five minutes then
		r.step()
	}
	r.writes = nil
	r.edit(state(kafkav1beta2.ConnectorStopped))
	for range 15 {
		r.step()
	}
	if want := "PUT /connectors/" + source + "/stop"; len(r.writes) == 0 || r.writes[0] != want {
		t.Errorf("sent %v within 15 s, want %s first", r.writes, want)
	}
}

package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/rest"
)

const connector = "a->b.MirrorSourceConnector"

// serve returns a client of a server with the handler.
func serve(t *testing.T, opts rest.Options, handler http.HandlerFunc) *rest.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	opts.Address = server.Listener.Addr().String()
	return newClient(t, opts)
}

func newClient(t *testing.T, opts rest.Options) *rest.Client {
	t.Helper()
	client, err := rest.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// TestClientRequests checks what each method sends.
func TestClientRequests(t *testing.T) {
	type want struct{ Line, Body string }
	cases := map[string]struct {
		send   func(ctx context.Context, c *rest.Client) error
		status int
		answer string
		want   want
	}{
		"create": {
			send: func(ctx context.Context, c *rest.Client) error {
				return c.Create(ctx, connector, map[string]string{"tasks.max": "1"}, connect.Stopped)
			}, status: 201, want: want{"POST /connectors", `{"name":"a-\u003eb.MirrorSourceConnector","config":{"tasks.max":"1"},"initial_state":"STOPPED"}`},
		},
		"configure, and it existed": {
			send: func(ctx context.Context, c *rest.Client) error {
				return c.Configure(ctx, connector, map[string]string{"tasks.max": "1"})
			}, status: 200, want: want{"PUT /connectors/a-%3Eb.MirrorSourceConnector/config", `{"tasks.max":"1"}`},
		},
		"configure, and it was created": {
			send: func(ctx context.Context, c *rest.Client) error { return c.Configure(ctx, "x/y", nil) }, status: 201,
			want: want{"PUT /connectors/x%2Fy/config", "null"},
		},
		"delete": {send: func(ctx context.Context, c *rest.Client) error { return c.Delete(ctx, connector) }, status: 204, want: want{Line: "DELETE /connectors/a-%3Eb.MirrorSourceConnector"}},
		"pause":  {send: func(ctx context.Context, c *rest.Client) error { return c.Pause(ctx, connector) }, status: 202, want: want{Line: "PUT /connectors/a-%3Eb.MirrorSourceConnector/pause"}},
		"resume": {send: func(ctx context.Context, c *rest.Client) error { return c.Resume(ctx, connector) }, status: 202, want: want{Line: "PUT /connectors/a-%3Eb.MirrorSourceConnector/resume"}},
		"stop":   {send: func(ctx context.Context, c *rest.Client) error { return c.Stop(ctx, connector) }, status: 204, want: want{Line: "PUT /connectors/a-%3Eb.MirrorSourceConnector/stop"}},
		"restart": {
			send:   func(ctx context.Context, c *rest.Client) error { return c.Restart(ctx, connector, true, false) },
			status: 202, want: want{Line: "POST /connectors/a-%3Eb.MirrorSourceConnector/restart?includeTasks=true&onlyFailed=false"},
		},
		"restart a task": {
			send:   func(ctx context.Context, c *rest.Client) error { return c.RestartTask(ctx, connector, 3) },
			status: 204, want: want{Line: "POST /connectors/a-%3Eb.MirrorSourceConnector/tasks/3/restart"},
		},
		"alter sends the body unchanged": {
			send: func(ctx context.Context, c *rest.Client) error {
				_, err := c.AlterOffsets(ctx, connector, "{ \"offsets\": 1.50\n}")
				return err
			}, status: 200, answer: `{"message":"done"}`, want: want{"PATCH /connectors/a-%3Eb.MirrorSourceConnector/offsets", "{ \"offsets\": 1.50\n}"},
		},
		"reset": {
			send: func(ctx context.Context, c *rest.Client) error {
				_, err := c.ResetOffsets(ctx, connector)
				return err
			}, status: 200, answer: `{"message":"done"}`, want: want{Line: "DELETE /connectors/a-%3Eb.MirrorSourceConnector/offsets"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got want
			client := serve(t, rest.Options{}, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = want{r.Method + " " + r.RequestURI, string(body)}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			})
			if err := c.send(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestClientAnswers checks what each read returns.
func TestClientAnswers(t *testing.T) {
	answers := map[string]string{
		"/":                         `{"version":"4.1.2","commit":"c","kafka_cluster_id":"k"}`,
		"/connectors":               `["b","a"]`,
		"/connectors?expand=info":   `{"a":{"info":{"name":"a","config":{"name":"a"},"tasks":[{"connector":"a","task":0}],"type":"source"}},"b":{"info":null}}`,
		"/connectors?expand=status": `{"a":{"status":{"name":"a","connector":{"state":"PAUSED","worker_id":"w:1"},"tasks":[],"type":"source"}}}`,
		"/connectors/a/config":      `{"name":"a"}`,
		"/connectors/a/status":      `{"name":"a","connector":{"state":"RUNNING","worker_id":"w:1","version":"4"},"tasks":[{"id":0,"state":"FAILED","worker_id":"w:1","trace":"t"}],"type":"source"}`,
		"/connectors/a/tasks":       `[{"id":{"connector":"a","task":1},"config":{}},{"id":{"connector":"a","task":0},"config":{}}]`,
		"/connectors/a/offsets":     `{"offsets":[{"partition":{"p":9007199254740993},"offset":{"offset":1.50}}]}`,
	}
	client := serve(t, rest.Options{}, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, answers[r.URL.RequestURI()]) })
	var got struct {
		Configs    map[string]map[string]string
		Statuses   map[string]connect.Status
		Worker     connect.Worker
		Connectors []string
		Config     map[string]string
		Status     connect.Status
		Tasks      []int
		Offsets    string
	}
	want := got
	want.Worker = connect.Worker{Version: "4.1.2", Commit: "c", KafkaClusterID: "k"}
	want.Connectors, want.Config = []string{"a", "b"}, map[string]string{"name": "a"}
	want.Status = connect.Status{Name: "a", Type: "source", Connector: connect.WorkerState{State: connect.Running, Worker: "w:1"}, Tasks: []connect.TaskStatus{{WorkerState: connect.WorkerState{State: connect.Failed, Worker: "w:1", Trace: "t"}}}}
	want.Tasks, want.Offsets = []int{0, 1}, answers["/connectors/a/offsets"]

	want.Configs = map[string]map[string]string{"a": {"name": "a"}}
	want.Statuses = map[string]connect.Status{"a": {Name: "a", Type: "source", Connector: connect.WorkerState{State: connect.Paused, Worker: "w:1"}, Tasks: []connect.TaskStatus{}}}

	var errs [8]error
	got.Configs, errs[6] = client.Configs(t.Context())
	got.Statuses, errs[7] = client.Statuses(t.Context())
	got.Worker, errs[0] = client.Worker(t.Context())
	got.Connectors, errs[1] = client.Connectors(t.Context())
	got.Config, errs[2] = client.Config(t.Context(), "a")
	got.Status, errs[3] = client.Status(t.Context(), "a")
	got.Tasks, errs[4] = client.Tasks(t.Context(), "a")
	got.Offsets, errs[5] = client.Offsets(t.Context(), "a")
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestClientFailures checks what a caller learns from every kind of bad answer, for a read and for a write.
func TestClientFailures(t *testing.T) {
	type outcome struct {
		Refused, Unknown bool
		Text             string
	}
	of := func(err error) outcome {
		if err == nil {
			return outcome{}
		}
		_, refused := connect.AsRefused(err)
		return outcome{refused, connect.IsOutcomeUnknown(err), err.Error()}
	}
	const reading, resetting = "reading the offsets of " + connector + ": ", "resetting the offsets of " + connector + ": outcome unknown: "
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	cases := map[string]struct {
		handler     http.HandlerFunc
		read, write outcome
	}{
		"404 quotes Connect": {
			answer(404, `{"error_code":404,"message":"Connector nope not found"}`),
			outcome{Refused: true, Text: "connect answered 404: Connector nope not found"}, outcome{Refused: true, Text: "connect answered 404: Connector nope not found"},
		},
		"500 proves nothing": {
			answer(500, `{"error_code":500,"message":"Request timed out"}`),
			outcome{Text: reading + "connect answered 500: Request timed out"}, outcome{Unknown: true, Text: resetting + "connect answered 500: Request timed out"},
		},
		"a gateway's page": {
			answer(503, `<html>`),
			outcome{Text: reading + "connect answered 503"}, outcome{Unknown: true, Text: resetting + "connect answered 503"},
		},
		"404 of another program": {
			answer(404, `404 page not found`),
			outcome{Text: reading + "the answer is not Connect's: is another program listening there?: status 404"},
			outcome{Unknown: true, Text: resetting + "the answer is not Connect's: is another program listening there?: status 404"},
		},
		"a secret in a message": {
			answer(400, `{"message":"Invalid value, sasl.password=hunter2"}`),
			outcome{Refused: true, Text: "connect answered 400: Invalid value, sasl.password=[hidden]"}, outcome{Refused: true, Text: "connect answered 400: Invalid value, sasl.password=[hidden]"},
		},
		"the middle of a long message is cut": {
			answer(400, `{"message":"`+strings.Repeat("ä", 600)+strings.Repeat("ö", 600)+`"}`),
			outcome{Refused: true, Text: "connect answered 400: " + strings.Repeat("ä", 500) + " ... " + strings.Repeat("ö", 500)}, outcome{Refused: true, Text: "connect answered 400: " + strings.Repeat("ä", 500) + " ... " + strings.Repeat("ö", 500)},
		},
		"an answer without end": {
			func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					if _, err := w.Write(make([]byte, 4096)); err != nil {
						return
					}
				}
			},
			outcome{Text: reading + "the answer has more than 65536 bytes"}, outcome{Unknown: true, Text: resetting + "the answer has more than 65536 bytes"},
		},
		"the connection is closed without an answer": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			outcome{Text: reading + "EOF"}, outcome{Unknown: true, Text: resetting + "EOF"},
		},
		"no answer in time": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			outcome{Text: reading + "no answer within 200ms"}, outcome{Unknown: true, Text: resetting + "no answer within 200ms"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, rest.Options{ReadTimeout: 200 * time.Millisecond, WriteTimeout: 200 * time.Millisecond, MaxBytes: 64 << 10}, c.handler)
			_, read := client.Offsets(t.Context(), connector)
			if diff := cmp.Diff(c.read, of(read)); diff != "" {
				t.Errorf("read: %s", diff)
			}
			_, write := client.ResetOffsets(t.Context(), connector)
			if diff := cmp.Diff(c.write, of(write)); diff != "" {
				t.Errorf("write: %s", diff)
			}
		})
	}
}

func TestClientStatusWithoutState(t *testing.T) {
	client := serve(t, rest.Options{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"foo":"bar"}`) })
	_, err := client.Status(t.Context(), "a")
	if want := "reading the status of a: the answer has no state of the connector: is another program listening there?"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestClientFollowsNoRedirect(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	client := serve(t, rest.Options{}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, read := client.Offsets(t.Context(), connector)
	write := client.Stop(t.Context(), connector)
	if _, refused := connect.AsRefused(read); read == nil || refused || !connect.IsOutcomeUnknown(write) || reached.Load() {
		t.Errorf("read %v, write %v, other host reached: %t", read, write, reached.Load())
	}
}

func TestClientUsesNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	var dialled []string
	client := newClient(t, rest.Options{Address: "connect.test:8083", Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
		dialled = append(dialled, addr)
		return nil, errors.New("connection refused")
	}})
	_, _ = client.Connectors(t.Context()) // only where it dials matters
	if diff := cmp.Diff([]string{"connect.test:8083"}, dialled); diff != "" {
		t.Error(diff)
	}
}

func TestClientSendsAWriteOnce(t *testing.T) {
	var requests sync.Map
	client := serve(t, rest.Options{}, func(w http.ResponseWriter, r *http.Request) {
		n, _ := requests.LoadOrStore(r.Method, new(atomic.Int32))
		n.(*atomic.Int32).Add(1)
		if r.Method != http.MethodGet {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `[]`)
	})
	_, _ = client.Connectors(t.Context()) // a connection that is kept alive is where a transport would send again
	_, reset := client.ResetOffsets(t.Context(), connector)
	_, alter := client.AlterOffsets(t.Context(), connector, `{}`)
	stop := client.Stop(t.Context(), connector)
	for _, err := range []error{reset, alter, stop} {
		if !connect.IsOutcomeUnknown(err) {
			t.Errorf("the outcome of a lost answer is known: %v", err)
		}
	}
	got := map[string]int32{}
	requests.Range(func(method, n any) bool {
		got[method.(string)] = n.(*atomic.Int32).Load()
		return true
	})
	if diff := cmp.Diff(map[string]int32{"GET": 1, "DELETE": 1, "PATCH": 1, "PUT": 1}, got); diff != "" {
		t.Error(diff)
	}
}

func TestClientKnowsThatNothingWasSent(t *testing.T) {
	refused := errors.New("connection refused")
	client := newClient(t, rest.Options{Address: "connect.test:8083", Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refused }})
	err := client.Stop(t.Context(), connector)
	if connect.IsOutcomeUnknown(err) || !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

func TestNew(t *testing.T) {
	cases := map[string]rest.Options{
		"no address":       {},
		"no port":          {Address: "connect"},
		"no host":          {Address: ":8083"},
		"a negative limit": {Address: "connect:8083", MaxBytes: -1},
	}
	for name, opts := range cases {
		if _, err := rest.New(opts); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := rest.New(rest.Options{Address: "[::1]:8083"}); err != nil {
		t.Error(err)
	}
}

func ExampleClient_Offsets() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"offsets":[{"partition":{"cluster":"a","partition":0,"topic":"orders"},"offset":{"offset":99}}]}`)
	}))
	defer server.Close()
	client, err := rest.New(rest.Options{Address: server.Listener.Addr().String()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	document, err := client.Offsets(context.Background(), "a->b.MirrorSourceConnector")
	fmt.Println(document, err)
	// Output: {"offsets":[{"partition":{"cluster":"a","partition":0,"topic":"orders"},"offset":{"offset":99}}]} <nil>
}

package catalogue_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/internal/catalogue"
)

var now = time.Date(2026, 11, 20, 8, 35, 33, 0, time.UTC)

// orders is a cluster in the middle of its roll, and a second lifecycle at rest.
const orders = `
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: orders, namespace: prod}
status:
  summary: {lifecycle: version, state: AwaitingInSync, since: "2026-11-20T08:31:02Z"}
  lifecycles:
  - {name: roll, machine: node-roll, state: Settled, enteredAt: "2026-11-20T07:00:00Z"}
  - name: version
    machine: kafka-version-change@sha256:00000000
    state: AwaitingInSync
    enteredAt: "2026-11-20T08:31:02Z"
    attempt: {id: 5f2c91, from: 4.0.0, to: 4.1.1, startedAt: "2026-11-20T08:14:20Z"}
    waitingFor: [{guard: in-sync, expected: the selected node back in sync, observed: broker 4 is out of the ISR of orders-7}]
`

func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "saved.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// draw draws with the machines of this binary.
func draw(t *testing.T, request catalogue.Request, stdin io.Reader) (catalogue.Drawing, error) {
	t.Helper()
	request.Machines = all(t)
	return catalogue.Draw(context.Background(), request, stdin)
}

func TestDraw(t *testing.T) {
	file := write(t, orders)
	none := write(t, "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: orders}\n")
	several := write(t, strings.Replace(orders, "summary: {lifecycle: version,", "summary: {lifecycle: '',", 1))
	foreign := write(t, strings.ReplaceAll(orders, "kafka-version-change", "tea-making"))
	cases := map[string]struct {
		request catalogue.Request
		has     []string
		err     string
		notices int
	}{
		"a machine as text": {request: catalogue.Request{What: "node-roll"}, has: []string{"node-roll", "○ Settled"}},
		"a machine in ASCII": {
			request: catalogue.Request{What: "node-roll", Text: graph.TextOptions{ASCII: true}}, has: []string{"o Settled"},
		},
		"a machine as SVG":      {request: catalogue.Request{What: "node-roll", Format: catalogue.SVG}, has: []string{"<svg ", "#ffffff"}},
		"a dark machine as SVG": {request: catalogue.Request{What: "node-roll", Format: catalogue.SVG, Theme: graph.Dark}, has: []string{"<svg ", "#0d1117"}},
		"a machine as Mermaid":  {request: catalogue.Request{What: "node-roll", Format: catalogue.Mermaid}, has: []string{"stateDiagram-v2"}},
		"a machine as DOT":      {request: catalogue.Request{What: "node-roll", Format: catalogue.DOT}, has: []string{"digraph"}},
		"a machine as JSON":     {request: catalogue.Request{What: "node-roll", Format: catalogue.JSON}, has: []string{`"name": "node-roll"`}},
		"another format":        {request: catalogue.Request{What: "node-roll", Format: "png"}, err: `there is no format "png": there are text, svg, mermaid, dot, json`},
		"an unknown machine":    {request: catalogue.Request{What: "kafka"}, err: `there is no machine "kafka": there are ` + catalogue.Names(all(t)) + `; an object is written as TYPE/NAME`},
		"the lifecycle that the summary names": {
			request: catalogue.Request{Files: []string{file}}, notices: 1,
			has: []string{"▶ AwaitingInSync              4m31s  ◀ now", "waiting for in-sync: expected the selected node back in sync"},
		},
		"another lifecycle by name": {
			request: catalogue.Request{What: "kafka/orders", Files: []string{file}, Lifecycle: "roll"}, has: []string{"node-roll", "▶ Settled"},
		},
		"a lifecycle that is not there": {
			request: catalogue.Request{Files: []string{file}, Lifecycle: "ca"}, err: `Kafka orders has no lifecycle "ca": it has roll, version`,
		},
		"no summary and several lifecycles": {
			request: catalogue.Request{Files: []string{several}}, err: "Kafka orders has several lifecycles: choose one with --lifecycle, of roll, version",
		},
		"an object without lifecycles": {
			request: catalogue.Request{What: "kafka/orders", Files: []string{none}}, err: "the status of Kafka orders holds no lifecycles: nothing has driven it yet",
		},
		"an object of another program's machine": {
			request: catalogue.Request{Files: []string{foreign}},
			err:     `finding the machine of lifecycle version of Kafka orders: there is no machine "tea-making": there are ` + catalogue.Names(all(t)),
		},
		"an object that is not in the file": {
			request: catalogue.Request{What: "kafka/payments", Files: []string{file}}, err: "kafka/payments is not in the input: there are kafka/orders -n prod",
		},
		"no object in a file by a machine's name": {
			request: catalogue.Request{What: "node-roll", Files: []string{file}}, err: `"node-roll" names no object: write TYPE/NAME, as for kubectl get`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.request.Now = now
			got, err := draw(t, tc.request, strings.NewReader(""))
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Fatalf("error (-want +got):\n%s", diff)
			}
			for _, part := range tc.has {
				if !strings.Contains(string(got.Content), part) {
					t.Errorf("%q is not in the picture:\n%s", part, got.Content)
				}
			}
			if len(got.Notices) != tc.notices {
				t.Errorf("notices %q, want %d", got.Notices, tc.notices)
			}
		})
	}
}

func TestDrawJSONHoldsTheStateOfTheObject(t *testing.T) {
	got, err := draw(t, catalogue.Request{Files: []string{"-"}, Format: catalogue.JSON, Now: now}, strings.NewReader(orders))
	if err != nil {
		t.Fatal(err)
	}
	var document graph.Document
	if err := json.Unmarshal(got.Content, &document); err != nil {
		t.Fatal(err)
	}
	if document.Live == nil || document.Live.State != "AwaitingInSync" || document.Name != "kafka-version-change" {
		t.Errorf("live %+v of %s", document.Live, document.Name)
	}
}

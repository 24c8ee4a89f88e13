package wire_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/connecttest"
	"github.com/detent-dev/detent/simulator/connect"
)

const stored = `{"offsets":[{"partition":{"cluster":"a","partition":0,"topic":"orders"},"offset":{"offset":9}}]}`

// stoppedWith returns a world with a stopped source connector that has the offsets of stored.
func stoppedWith(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t, connecttest.Setup{Workers: 2})
	name := connecttest.Name(w, connecttest.Source)
	if err := w.Client(0).Create(t.Context(), name, connecttest.Config(w, connecttest.Source), client.Stopped); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client(0).AlterOffsets(t.Context(), name, stored); err != nil {
		t.Fatal(err)
	}
	return w, name
}

// TestClusterFaults checks what a client learns of a request that fails, and whether it was executed.
func TestClusterFaults(t *testing.T) {
	type want struct {
		Refused, Unknown, Executed bool
	}
	cases := map[string]struct {
		kind connect.FaultKind
		want want
	}{
		"no failure":                             {0, want{Executed: true}},
		"the request is lost":                    {connect.LoseRequest, want{Unknown: true}},
		"the answer is lost":                     {connect.LoseAnswer, want{Unknown: true, Executed: true}},
		"there is no answer":                     {connect.Hang, want{Unknown: true}},
		"there is no answer, and it is executed": {connect.HangApplied, want{Unknown: true, Executed: true}},
		"Connect gives up":                       {connect.TimeOut, want{Unknown: true}},
		"Connect gives up after it was executed": {connect.TimeOutApplied, want{Unknown: true, Executed: true}},
		"Connect gives up before it is executed": {connect.TimeOutLater, want{Unknown: true, Executed: true}},
		"a rebalance is expected":                {connect.Conflict, want{Refused: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, connector := stoppedWith(t)
			if c.kind != 0 {
				if err := w.do(func(cluster *connect.Cluster) {
					cluster.Faults = []connect.Fault{{Method: "PUT", Suffix: "/stop", Kind: connect.LoseRequest}, {Method: "DELETE", Suffix: "/offsets", Kind: c.kind}}
				}); err != nil {
					t.Fatal(err)
				}
			}
			_, err := w.Client(0).ResetOffsets(t.Context(), connector)
			_, refused := client.AsRefused(err)
			document, readErr := w.Client(0).Offsets(t.Context(), connector)
			if readErr != nil {
				t.Fatal(readErr)
			}
			got := want{Refused: refused, Unknown: client.IsOutcomeUnknown(err), Executed: document == `{"offsets":[]}`}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
		})
	}
}

// TestClusterThaw checks that a request to a frozen worker is executed when it thaws, also if the client has left.
func TestClusterThaw(t *testing.T) {
	w, connector := stoppedWith(t)
	if err := w.do(func(c *connect.Cluster) { c.Freeze(0) }); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client(0).ResetOffsets(t.Context(), connector); !client.IsOutcomeUnknown(err) {
		t.Fatal(err)
	}
	before, err := w.Client(1).Offsets(t.Context(), connector)
	if err := errors.Join(err, w.Thaw(t.Context(), 0)); err != nil {
		t.Fatal(err)
	}
	after, err := w.Client(1).Offsets(t.Context(), connector)
	if diff := cmp.Diff([]string{stored, `{"offsets":[]}`}, []string{before, after}); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// TestServerListensAgain checks that a worker that was started again has its address, and is asked for nothing while it is down.
func TestServerListensAgain(t *testing.T) {
	w, connector := stoppedWith(t)
	if err := w.Kill(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	err := w.Client(1).Stop(t.Context(), connector)
	if err == nil || client.IsOutcomeUnknown(err) {
		t.Errorf("a worker that is down: %v", err)
	}
	if err := w.do(func(c *connect.Cluster) { c.Start(1, true) }); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client(1).Worker(t.Context()); err != nil {
		t.Error(err)
	}
}

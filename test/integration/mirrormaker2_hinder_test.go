package integration

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	mirrormaker2controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Hinder keeps the request from progressing beyond the state of the visit.
func (w *groups) Hinder(v Visit, key client.ObjectKey) {
	held := map[string]connectoroffsets.EffectKind{
		connectoroffsets.Accepting: connectoroffsets.Show, connectoroffsets.Listing: connectoroffsets.Write, connectoroffsets.SavingBefore: connectoroffsets.Keep,
		connectoroffsets.Finishing: connectoroffsets.Finish, connectoroffsets.RestartingWorker: connectoroffsets.Restart,
	}
	w.at(key, func(g *group) {
		if effect, holds := held[v.State]; holds {
			g.held[effect] = true
		}
		switch v.State {
		case connectoroffsets.AwaitingConnector, connectoroffsets.AwaitingStopped:
			g.commands = true
		case connectoroffsets.RestartingWorker:
			g.silent = true
		case connectoroffsets.Applying:
			g.patient = true
			g.delayed()
		case connectoroffsets.Verifying:
			g.blind = true
		case connectoroffsets.Retrying:
			g.patient = true
			g.by(conflicts)
		case connectoroffsets.Failed:
			g.patient = true
		case connectoroffsets.Mismatched:
			g.others = document(5)
		}
	})
}

// conflicts refuses every change of offsets as Connect does during a rebalance.
func conflicts(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPatch {
		return nil, nil //nolint:nilnil // Connect answers
	}
	body := `{"error_code":409,"message":"Cannot complete request because of a conflicting operation (e.g. worker rebalance)"}`
	return &http.Response{StatusCode: http.StatusConflict, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// delayed delays every change of offsets until the resource is released.
func (g *group) delayed() {
	released := make(chan struct{})
	g.by(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPatch {
			return nil, nil //nolint:nilnil // Connect answers
		}
		select {
		case <-released:
			return nil, nil //nolint:nilnil // Connect answers
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
	g.undo = append(g.undo, func() { close(released) })
}

// steer hinders what the operator observes and executes, as the visits require.
func (w *groups) steer(kind *mirrormaker2controller.Kind) {
	observe, execute := kind.Observe, kind.Execute
	kind.Observe = func(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, r lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		v, err := observe(ctx, m, r)
		if err == nil {
			w.at(client.ObjectKeyFromObject(m), func(g *group) { g.disturb(v) })
		}
		return v, err
	}
	kind.Execute = func(ctx context.Context, t lifecycle.EffectRequest[*kafkav1beta2.KafkaMirrorMaker2, *observation.Snapshot, mirrormaker2controller.Effect]) error {
		waits := false
		w.at(client.ObjectKeyFromObject(t.Object), func(g *group) {
			waits = t.Effect.Connector != nil && g.commands || t.Effect.Offsets != nil && g.held[t.Effect.Offsets.Kind]
		})
		if waits {
			return lifecycle.ErrWait
		}
		return execute(ctx, t)
	}
}

func (g *group) disturb(v *observation.Snapshot) {
	wait := time.Second
	if g.patient {
		wait = time.Hour
	}
	v.Limits.Settle, v.Limits.Retry, v.Limits.Failed = wait, wait, wait
	seen := v.Offsets[mirrorSource]
	if seen == nil {
		return
	}
	if g.blind && v.Records[mirrorSource].Phase == connectoroffsets.Sent && seen.Offsets.Asked() {
		seen.Offsets = transitions.Unreadable[connectoroffsets.Offsets](errors.New("no worker answers"))
	}
	if c, known := seen.Connector.Get(); known && g.silent {
		for i := range c.Workers {
			c.Workers[i].Quiet, c.Workers[i].Silent = false, true
		}
		seen.Connector = transitions.Known(c, seen.Connector.At())
	}
}

// Release removes what hinders, and the annotations of a request that cannot be carried out.
func (w *groups) Release(object lifecycle.Object) {
	key := client.ObjectKeyFromObject(object)
	var undo []func()
	var ended func()
	w.at(key, func(g *group) {
		undo, g.undo, ended = g.undo, nil, g.sending.Wait
		g.held, g.commands, g.blind, g.silent = map[connectoroffsets.EffectKind]bool{}, false, false, false
	})
	for _, f := range undo {
		f()
	}
	ended()
	w.at(key, func(g *group) {
		g.by(nil)
		// A change that was executed is visible soon, and one that was not is sent again.
		g.patient = stateOf(object.GetName()) == "applying" && g.changes > 0
	})
	own := map[string]connectoroffsets.Operation{"refusing": connectoroffsets.Alter, "failed": connectoroffsets.Alter, "mismatched": connectoroffsets.Alter, "repeated": connectoroffsets.Reset}
	if operation, ends := own[stateOf(object.GetName())]; ends && object.GetAnnotations()[request.OperationAnnotation] == string(operation) {
		m := mirrorIn(object)
		delete(m.Annotations, request.OperationAnnotation)
		delete(m.Annotations, request.ConnectorAnnotation)
	}
}

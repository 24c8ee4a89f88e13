package mirrormaker2

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/connect"
	controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// configMapOf returns the stored ConfigMap; nil if there is none.
func configMapOf(at *explore.Scenario, name string) (found *corev1.ConfigMap) {
	at.Objects("ConfigMap", func(o client.Object) {
		if m, ok := o.(*corev1.ConfigMap); ok && o.GetName() == name {
			found = m
		}
	})
	return found
}

// resourceOf returns the stored resource; nil if it was deleted.
func resourceOf(at *explore.Scenario) (found *kafkav1beta2.KafkaMirrorMaker2) {
	at.Objects(kafkav1beta2.KindKafkaMirrorMaker2, func(o client.Object) { found, _ = o.(*kafkav1beta2.KafkaMirrorMaker2) })
	return found
}

// recordOf returns the stored record of the request.
func recordOf(at *explore.Scenario) connectoroffsets.Record {
	m := configMapOf(at, keep.RequestName(name))
	if m == nil {
		return connectoroffsets.Record{}
	}
	r, err := connectoroffsets.ReadRecord(m.Data, keep.Key(source))
	if err != nil {
		panic(err) // only the operator writes it
	}
	return r
}

// judgeCommand records harm if a command is sent that must not be.
func (w *World) judgeCommand(at *explore.Scenario, c *command) {
	switch c.do.Verb {
	case connection.Alter, connection.Reset:
		w.judgeChange(at, c)
	case connection.Create, connection.Resume, connection.Pause:
		if recordOf(at).HoldsStopped() && c.do.Initial != connect.Stopped {
			w.hurt("the connector is resumed while a change may be executed")
		}
	case connection.Configure, connection.Stop, connection.Delete, connection.Restart, connection.RestartTask:
	}
}

// judgeChange records harm if a change is sent that must not be.
func (w *World) judgeChange(at *explore.Scenario, c *command) {
	k := &w.connector
	if k.target != connect.Stopped || k.state != connect.Stopped {
		w.hurt("a change is sent while the connector is not stopped")
	}
	for i := range w.processes {
		if p := &w.processes[i]; p.held != 0 && !p.exactlyOnce {
			w.hurt(fmt.Sprintf("a change is sent while worker %d may commit old offsets", p.worker))
		}
	}
	if slices.Contains(w.executed, c.request) {
		w.hurt("a change is sent although it was executed")
	}
	kept, found := keep.Of(configMapOf(at, keep.BeforeName(name)), source, c.request)
	if !found || offsetIn(kept.Offsets) != k.offset {
		w.hurt("a change is sent before the offsets from before are kept")
	}
	if c.do.Verb == connection.Alter && c.do.Body != configMapOf(at, listName).Data[connect.EntryName(source)] {
		w.hurt("a document is sent that the user has replaced")
	}
}

// requests returns the annotations that request something.
func requests(m *kafkav1beta2.KafkaMirrorMaker2) string {
	if m == nil {
		return ""
	}
	return m.Annotations[request.OperationAnnotation]
}

// judgeAnnotations records harm if an effect has removed the annotations of a request whose end is not recorded.
func (w *World) judgeAnnotations(at *explore.Scenario, before string) {
	m := resourceOf(at)
	if before == "" || m == nil || requests(m) != "" {
		return
	}
	switch r := recordOf(at); {
	case r.Phase != connectoroffsets.Done || string(r.Operation) != before:
		w.hurt("the annotations are removed before the end of the request is recorded")
	case r.Operation == connectoroffsets.Alter && r.Digest != keep.Digest(configMapOf(at, listName).Data[connect.EntryName(source)]):
		w.hurt("the annotations are removed although the document that the user has replaced is not applied")
	}
}

// judgeList records harm if a list has other offsets than Connect.
func (w *World) judgeList(at *explore.Scenario) {
	m := configMapOf(at, listName)
	if m == nil {
		return
	}
	if text, found := m.Data[connect.EntryName(source)]; found && offsetIn(text) != w.connector.offset {
		w.hurt("a list has other offsets than Connect")
	}
}

// watched wraps the kind, so that what it does is judged by the world.
func watched(at *explore.Scenario, kind controller.Kind) controller.Kind {
	execute := kind.Execute
	kind.Execute = func(ctx context.Context, t lifecycle.EffectRequest[*kafkav1beta2.KafkaMirrorMaker2, *observation.Snapshot, controller.Effect]) error {
		e := t.Effect.Offsets
		if e == nil {
			return execute(ctx, t)
		}
		of(at).request = e.ID
		before := requests(resourceOf(at))
		err := execute(ctx, t)
		w := of(at)
		w.judgeAnnotations(at, before)
		if e.Kind == connectoroffsets.Write && err == nil {
			w.judgeList(at)
		}
		return err
	}
	return kind
}

// harmOf returns the first damage.
func harmOf(w explore.World) error {
	if k, ok := w.(*World); ok && k.harm != "" {
		return errors.New(k.harm)
	}
	return nil
}

// settled returns what is wrong with a resource that is Ready and at rest.
func settled(m *kafkav1beta2.KafkaMirrorMaker2, w explore.World) error {
	k, ok := w.(*World)
	if !ok {
		return nil
	}
	want := connect.Running
	if m.Spec.Mirrors[0].SourceConnector.State == kafkav1beta2.ConnectorStopped {
		want = connect.Stopped
	}
	if k.connector.target != want {
		return fmt.Errorf("the resource shows as ready at rest, and its connector is to be %s instead of %s", k.connector.target, want)
	}
	return nil
}

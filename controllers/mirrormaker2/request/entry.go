package request

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/detent-dev/detent/clients/connect"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// mostBytes is what Kubernetes lets a ConfigMap hold.
const mostBytes = 1 << 20

// running returns a problem unless the spec declares the connector as stopped. The spec counts, and not what Connect reports: a
// connector that is to run is resumed while its offsets are changed.
func running(c kafkav1beta2.NamedConnector, operation connectoroffsets.Operation) *transitions.Problem {
	if c.Desired() == kafkav1beta2.ConnectorStopped {
		return nil
	}
	return failed(operation, c.Name, "the connector not being stopped: its state in KafkaMirrorMaker2 CR is %s. Set it to stopped; the same edit may request the change.", c.Desired())
}

// configMap returns the name of the ConfigMap of a list or an alter.
func configMap(c kafkav1beta2.NamedConnector, operation connectoroffsets.Operation) (string, *transitions.Problem) {
	property, within, reference := "listOffsets", "toConfigMap", (*kafkav1beta2.ConfigMapName)(nil)
	switch {
	case operation == connectoroffsets.Alter:
		property, within = "alterOffsets", "fromConfigMap"
		if c.AlterOffsets != nil {
			reference = &c.AlterOffsets.FromConfigMap
		}
	case c.ListOffsets != nil:
		reference = &c.ListOffsets.ToConfigMap
	}
	switch {
	case reference == nil:
		return "", failed(operation, c.Name, "missing property %s in KafkaMirrorMaker2 CR.", property)
	case reference.Name == "":
		return "", failed(operation, c.Name, "missing property %s.%s.name in KafkaMirrorMaker2 CR.", property, within)
	}
	return reference.Name, nil
}

// body returns the entry that an alter sends.
func body(ctx context.Context, c kafkav1beta2.NamedConnector, read ReadConfigMap) (string, *transitions.Problem) {
	fail := func(cause string, args ...any) (string, *transitions.Problem) {
		return "", failed(connectoroffsets.Alter, c.Name, cause, args...)
	}
	name, problem := configMap(c, connectoroffsets.Alter)
	if problem == nil {
		problem = running(c, connectoroffsets.Alter)
	}
	if problem != nil {
		return "", problem
	}
	entry := connect.EntryName(c.Name)
	stored, err := read(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return fail("missing ConfigMap %s. Create it with the entry %s, or list the offsets first.", name, entry)
	case err != nil:
		return fail("ConfigMap %s not being readable: %s", name, short(err.Error()))
	}
	text, found := stored.Data[entry]
	switch {
	case !found:
		return fail("missing entry %s in ConfigMap %s. Add it, or list the offsets first.", entry, name)
	case len(text) > mostBytes:
		return fail("entry %s of ConfigMap %s having %d bytes: a ConfigMap holds at most %d. Alter the offsets in several steps.", entry, name, len(text), mostBytes)
	}
	if err := connect.CheckJSON(text); err != nil {
		return fail("entry %s of ConfigMap %s not being usable: %s. Correct the entry.", entry, name, short(err.Error()))
	}
	return text, nil
}

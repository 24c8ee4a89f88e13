package request

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

const (
	// stopped is the declared state in which offsets can be changed.
	stopped = "stopped"
	// mostBytes is what Kubernetes lets a ConfigMap hold.
	mostBytes = 1 << 20
)

// running returns a problem unless the spec declares the connector as stopped. The spec counts, and not what Connect reports: a
// connector that is to run is resumed while its offsets are changed.
func (c Connector) running(operation connectoroffsets.Operation) *transitions.Problem {
	if c.State == stopped {
		return nil
	}
	state := c.State
	if state == "" {
		state = "running"
	}
	return failed(operation, c.Name, "the connector not being stopped: its state in KafkaMirrorMaker2 CR is %s. Set it to stopped; the same edit may request the change.", state)
}

// configMap returns the name of the ConfigMap of a list or an alter.
func (c Connector) configMap(operation connectoroffsets.Operation) (string, *transitions.Problem) {
	property, within, reference := "listOffsets", "toConfigMap", c.ListOffsets
	if operation == connectoroffsets.Alter {
		property, within, reference = "alterOffsets", "fromConfigMap", c.AlterOffsets
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
func (c Connector) body(ctx context.Context, read ReadConfigMap) (string, *transitions.Problem) {
	fail := func(cause string, args ...any) (string, *transitions.Problem) {
		return "", failed(connectoroffsets.Alter, c.Name, cause, args...)
	}
	name, problem := c.configMap(connectoroffsets.Alter)
	if problem == nil {
		problem = c.running(connectoroffsets.Alter)
	}
	if problem != nil {
		return "", problem
	}
	entry := connect.EntryName(c.Name)
	configMap, err := read(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return fail("missing ConfigMap %s. Create it with the entry %s, or list the offsets first.", name, entry)
	case err != nil:
		return fail("ConfigMap %s not being readable: %s", name, short(err.Error()))
	}
	body, found := configMap.Data[entry]
	switch {
	case !found:
		return fail("missing entry %s in ConfigMap %s. Add it, or list the offsets first.", entry, name)
	case len(body) > mostBytes:
		return fail("entry %s of ConfigMap %s having %d bytes: a ConfigMap holds at most %d. Alter the offsets in several steps.", entry, name, len(body), mostBytes)
	}
	if err := connect.CheckJSON(body); err != nil {
		return fail("entry %s of ConfigMap %s not being usable: %s. Correct the entry.", entry, name, short(err.Error()))
	}
	return body, nil
}

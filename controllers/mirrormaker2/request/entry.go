package request

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/detent-dev/detent/clients/connect"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// mostBytes is what Kubernetes lets a ConfigMap hold. Of one that the operator writes, package keep uses less.
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
	if wrong := validation.IsDNS1123Subdomain(reference.Name); len(wrong) > 0 {
		return "", failed(operation, c.Name, "property %s.%s.name in KafkaMirrorMaker2 CR being %s, which no ConfigMap can have as its name. Correct it.", property, within, quote(reference.Name))
	}
	return reference.Name, nil
}

// alter sets what is requested by an alter. It is identified by its body also while the spec declares the connector as running: otherwise
// it would be another request once the connector is stopped again.
func alter(ctx context.Context, c kafkav1beta2.NamedConnector, read ReadConfigMap, request *Request) {
	name, problem := configMap(c, connectoroffsets.Alter)
	if problem != nil {
		request.Problem = problem
		return
	}
	stored, err := read(ctx, name)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		request.Problem, request.Unreadable = Unreadable(connectoroffsets.Alter, c.Name, name, err), true
	default:
		if request.Body, request.Problem = body(c.Name, name, stored, err == nil); request.Problem == nil {
			sum := sha256.Sum256([]byte(request.Body))
			request.Digest = hex.EncodeToString(sum[:])
		}
	}
	if problem := running(c, connectoroffsets.Alter); problem != nil {
		request.Problem, request.Unreadable = problem, false
	}
}

// Unreadable returns the problem of an operation on a connector whose ConfigMap the API server does not return.
func Unreadable(operation connectoroffsets.Operation, connector, name string, err error) *transitions.Problem {
	return failed(operation, connector, "ConfigMap %s not being readable: %s", name, short(err.Error()))
}

// body returns the entry that an alter sends, from its ConfigMap if that exists.
func body(connector, name string, stored *corev1.ConfigMap, exists bool) (string, *transitions.Problem) {
	fail := func(cause string, args ...any) (string, *transitions.Problem) {
		return "", failed(connectoroffsets.Alter, connector, cause, args...)
	}
	entry := connect.EntryName(connector)
	if !exists {
		return fail("missing ConfigMap %s. Create it with the entry %s, or list the offsets first.", name, entry)
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

// Package request reads what the annotations of a KafkaMirrorMaker2 request: that the offsets of one, of several or of all its
// connectors are listed, altered or reset. What cannot be carried out becomes a problem, for a condition of type Warning.
package request

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// Annotations that users set together. Both are removed when the request is done.
const (
	// OperationAnnotation is list, alter or reset.
	OperationAnnotation = "strimzi.io/connector-offsets"
	// ConnectorAnnotation is the name of a connector, several names with commas between them, or All.
	ConnectorAnnotation = "strimzi.io/mirrormaker-connector"
)

// All stands for every connector of the resource.
const All = "*"

// Resource is the part of a KafkaMirrorMaker2 that a request depends on.
type Resource struct {
	Annotations map[string]string
	// Connectors that the spec declares. Their names differ.
	Connectors []kafkav1beta2.NamedConnector
	// Reserved are the names of the operator's ConfigMaps, which no list may overwrite.
	Reserved []string
}

// ReadConfigMap reads a ConfigMap in the namespace of the resource from the API server: users name these ConfigMaps, so that a cache
// with a selector does not hold them. It returns an error that apierrors.IsNotFound recognizes if there is none.
type ReadConfigMap func(ctx context.Context, name string) (*corev1.ConfigMap, error)

// Request is what is requested of one connector.
type Request struct {
	// Request for its machine. Shown is not set: it depends on what is recorded.
	connectoroffsets.Request
	// ConfigMap that a list writes to; empty for others.
	ConfigMap string
	// Body of an alter: the entry as the user wrote it. Digest is its SHA-256 in hexadecimal digits.
	Body string
}

// Requests are the outcome of reading the annotations.
type Requests struct {
	// Of holds the requests by the names of the connectors.
	Of map[string]Request
	// Problem is why nothing that the annotations request can be carried out; nil if that is not so, or if there are none.
	Problem *transitions.Problem
}

// Read returns the requests of a resource. Only an alter that needs it reads a ConfigMap. If the annotations themselves have a problem, each
// connector that they name has it too: it is not known which connectors are meant. A problem of one connector does not stop the others.
func Read(ctx context.Context, resource Resource, read ReadConfigMap) Requests {
	operation, connectors, problem := selected(resource)
	requests := Requests{Of: make(map[string]Request, len(connectors)), Problem: problem}
	for _, c := range connectors {
		one := requested(ctx, c, operation, read)
		if slices.Contains(resource.Reserved, one.ConfigMap) {
			one.Problem = failed(operation, c.Name, "ConfigMap %s being one that the operator keeps: a list would overwrite its content. Name another one in listOffsets.toConfigMap.name.", one.ConfigMap)
		}
		if problem != nil {
			one.Problem, one.Unreadable = problem, false
		}
		requests.Of[c.Name] = one
	}
	return requests
}

func requested(ctx context.Context, c kafkav1beta2.NamedConnector, operation connectoroffsets.Operation, read ReadConfigMap) Request {
	request := Request{Request: connectoroffsets.Request{Operation: operation}}
	switch operation {
	case connectoroffsets.List:
		request.ConfigMap, request.Problem = configMap(c, operation)
	case connectoroffsets.Alter:
		alter(ctx, c, read, &request)
	case connectoroffsets.Reset:
		request.Problem = running(c, operation)
	}
	return request
}

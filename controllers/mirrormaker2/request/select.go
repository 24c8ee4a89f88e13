package request

import (
	"slices"
	"strings"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// selected returns the operation and the connectors that the annotations select; none if there are no annotations.
func selected(resource Resource) (connectoroffsets.Operation, []kafkav1beta2.NamedConnector, *transitions.Problem) {
	operationText, hasOperation := resource.Annotations[OperationAnnotation]
	names, hasNames := resource.Annotations[ConnectorAnnotation]
	switch {
	case !hasOperation && !hasNames:
		return "", nil, nil
	case !hasOperation:
		return "", nil, annotations(names, "missing annotation %s in KafkaMirrorMaker2 CR. Set it to list, alter or reset, or remove %s.", OperationAnnotation, ConnectorAnnotation)
	case !hasNames:
		return "", nil, annotations("", "missing annotation %s in KafkaMirrorMaker2 CR. Set it to %s, or remove %s.", ConnectorAnnotation, valid(resource), OperationAnnotation)
	case operationText == "":
		return "", nil, annotations(names, "empty annotation %s in KafkaMirrorMaker2 CR. Set it to list, alter or reset.", OperationAnnotation)
	case strings.TrimSpace(names) == "":
		return "", nil, annotations("", "empty annotation %s in KafkaMirrorMaker2 CR. Set it to %s.", ConnectorAnnotation, valid(resource))
	}
	operation := connectoroffsets.Operation(operationText)
	if !slices.Contains([]connectoroffsets.Operation{connectoroffsets.List, connectoroffsets.Alter, connectoroffsets.Reset}, operation) {
		return "", nil, annotations(names, "unknown value %s of annotation %s in KafkaMirrorMaker2 CR. Set it to list, alter or reset.", quote(operationText), OperationAnnotation)
	}
	connectors, problem := named(resource, operation, names)
	return operation, connectors, problem
}

// named returns the connectors with the names, and the problem of the first name that is not valid.
func named(resource Resource, operation connectoroffsets.Operation, names string) ([]kafkav1beta2.NamedConnector, *transitions.Problem) {
	if strings.TrimSpace(names) == All && len(resource.Connectors) > 0 {
		return resource.Connectors, nil
	}
	var connectors []kafkav1beta2.NamedConnector
	var problem *transitions.Problem
	for part := range strings.SplitSeq(names, ",") {
		name := strings.TrimSpace(part)
		is := func(c kafkav1beta2.NamedConnector) bool { return c.Name == name }
		i := slices.IndexFunc(resource.Connectors, is)
		switch {
		case i < 0 && problem != nil:
		case name == "":
			problem = failed(operation, names, "an empty name in annotation %s. Remove the comma, or set it to %s.", ConnectorAnnotation, valid(resource))
		case i < 0:
			problem = failed(operation, name, "unknown connector in annotation %s. Set it to %s.", ConnectorAnnotation, valid(resource))
		case !slices.ContainsFunc(connectors, is):
			connectors = append(connectors, resource.Connectors[i])
		}
	}
	return connectors, problem
}

// valid describes the values of ConnectorAnnotation.
func valid(resource Resource) string {
	if len(resource.Connectors) == 0 {
		return "the name of a connector after declaring one in the spec"
	}
	names := make([]string, 0, len(resource.Connectors))
	for _, c := range resource.Connectors {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return "one or several of " + strings.Join(names, ", ") + ", or to " + All
}

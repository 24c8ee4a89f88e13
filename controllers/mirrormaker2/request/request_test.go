package request_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

const (
	source     = "east-kafka->west-kafka.MirrorSourceConnector"
	checkpoint = "east-kafka->west-kafka.MirrorCheckpointConnector"
	entry      = "east-kafka--west-kafka.MirrorSourceConnector.json"
	document   = "{ \"offsets\": [] }\n"
	choice     = "one or several of " + checkpoint + ", " + source + ", or to *"
)

// configMaps reads from a map; a nil value cannot be read.
func configMaps(data map[string]map[string]string) request.ReadConfigMap {
	return func(_ context.Context, name string) (*corev1.ConfigMap, error) {
		entries, found := data[name]
		switch {
		case !found:
			return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
		case entries == nil:
			return nil, errors.New("the API server is overloaded")
		}
		return &corev1.ConfigMap{Data: entries}, nil
	}
}

func set(operation, connector string) map[string]string {
	return map[string]string{request.OperationAnnotation: operation, request.ConnectorAnnotation: connector}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func refused(operation connectoroffsets.Operation, problem *transitions.Problem) request.Request {
	return request.Request{Request: connectoroffsets.Request{Operation: operation, Problem: problem}}
}

// misnamed are the requests of annotations that name a connector beside one that is not valid.
func misnamed(connector string, of request.Request) request.Requests {
	return request.Requests{Of: map[string]request.Request{connector: of}, Problem: of.Problem}
}

func alter(body string) request.Request {
	return request.Request{Request: connectoroffsets.Request{Operation: connectoroffsets.Alter, Digest: digest(body)}, Body: body}
}

// connector returns one that is stopped, with the names of its ConfigMaps; nil if it has no such property.
func connector(name string, list, alter *string) kafkav1beta2.NamedConnector {
	c := &kafkav1beta2.MirrorMaker2Connector{State: kafkav1beta2.ConnectorStopped}
	if list != nil {
		c.ListOffsets = &kafkav1beta2.ListOffsets{ToConfigMap: kafkav1beta2.ConfigMapName{Name: *list}}
	}
	if alter != nil {
		c.AlterOffsets = &kafkav1beta2.AlterOffsets{FromConfigMap: kafkav1beta2.ConfigMapName{Name: *alter}}
	}
	return kafkav1beta2.NamedConnector{Name: name, MirrorMaker2Connector: c}
}

// only returns a connector that runs and has only the property listOffsets.
func only(list string) []kafkav1beta2.NamedConnector {
	c := connector(source, &list, nil)
	c.State = ""
	return []kafkav1beta2.NamedConnector{c}
}

// resumed returns a source connector that runs.
func resumed() []kafkav1beta2.NamedConnector {
	c := connector(source, nil, new("my-offsets"))
	c.State = ""
	return []kafkav1beta2.NamedConnector{c}
}

// declared are a stopped source connector and a running checkpoint connector.
func declared() []kafkav1beta2.NamedConnector {
	return []kafkav1beta2.NamedConnector{
		connector(source, new("my-offsets"), new("my-offsets")),
		{Name: checkpoint, MirrorMaker2Connector: &kafkav1beta2.MirrorMaker2Connector{}},
	}
}

func TestRead(t *testing.T) {
	type requests = map[string]request.Request
	manage := func(message string) request.Requests {
		return request.Requests{Of: requests{}, Problem: transitions.Problemf(request.ReasonManage, "%s", message)}
	}
	for name, tc := range map[string]struct {
		annotations map[string]string
		connectors  []kafkav1beta2.NamedConnector
		want        request.Requests
	}{
		"no annotation requests nothing": {want: request.Requests{Of: requests{}}},
		"the operation alone": {
			annotations: map[string]string{request.OperationAnnotation: "list"},
			want:        manage("Failed to manage the connector offsets due to missing annotation strimzi.io/mirrormaker-connector in KafkaMirrorMaker2 CR. Set it to " + choice + ", or remove strimzi.io/connector-offsets."),
		},
		"the connector alone": {
			annotations: map[string]string{request.ConnectorAnnotation: source},
			want:        manage("Failed to manage the connector offsets for " + source + " due to missing annotation strimzi.io/connector-offsets in KafkaMirrorMaker2 CR. Set it to list, alter or reset, or remove strimzi.io/mirrormaker-connector."),
		},
		"an empty operation": {
			annotations: set("", source),
			want:        manage("Failed to manage the connector offsets for " + source + " due to empty annotation strimzi.io/connector-offsets in KafkaMirrorMaker2 CR. Set it to list, alter or reset."),
		},
		"an empty connector": {
			annotations: set("reset", " "),
			want:        manage("Failed to manage the connector offsets due to empty annotation strimzi.io/mirrormaker-connector in KafkaMirrorMaker2 CR. Set it to " + choice + "."),
		},
		"both annotations empty": {
			annotations: set("", ""),
			want:        manage("Failed to manage the connector offsets due to empty annotation strimzi.io/connector-offsets in KafkaMirrorMaker2 CR. Set it to list, alter or reset."),
		},
		"an unknown operation": {
			annotations: set("List", source),
			want:        manage("Failed to manage the connector offsets for " + source + " due to unknown value \"List\" of annotation strimzi.io/connector-offsets in KafkaMirrorMaker2 CR. Set it to list, alter or reset."),
		},
		"an unknown connector": {
			annotations: set("reset", "Typo"),
			want:        request.Requests{Of: requests{}, Problem: transitions.Problemf(request.ReasonReset, "Failed to reset the connector offsets for Typo due to unknown connector in annotation strimzi.io/mirrormaker-connector. Set it to %s.", choice)},
		},
		"several unknown connectors beside one, which has the problem of the first": {
			annotations: set("reset", "Typo,"+source+",,Other"),
			want: misnamed(source, refused(connectoroffsets.Reset, transitions.Problemf(
				request.ReasonReset, "Failed to reset the connector offsets for Typo due to unknown connector in annotation strimzi.io/mirrormaker-connector. Set it to %s.", choice))),
		},
		"an empty name beside one that is to run": {
			annotations: set("reset", checkpoint+","),
			want: misnamed(checkpoint, refused(connectoroffsets.Reset, transitions.Problemf(
				request.ReasonReset, "Failed to reset the connector offsets for %s, due to an empty name in annotation strimzi.io/mirrormaker-connector. Remove the comma, or set it to %s.", checkpoint, choice))),
		},
		"an unknown connector beside an alter, which keeps its digest": {
			annotations: set("alter", source+",Typo"),
			want: misnamed(source, request.Request{Body: document, Request: connectoroffsets.Request{Operation: connectoroffsets.Alter, Digest: digest(document), Problem: transitions.Problemf(
				request.ReasonAlter, "Failed to alter the connector offsets for Typo due to unknown connector in annotation strimzi.io/mirrormaker-connector. Set it to %s.", choice)}}),
		},
		"all connectors of a resource without connectors": {
			annotations: set("list", "*"), connectors: []kafkav1beta2.NamedConnector{},
			want: request.Requests{Of: requests{}, Problem: transitions.Problemf(request.ReasonList, "Failed to list the connector offsets for * due to unknown connector in annotation strimzi.io/mirrormaker-connector. Set it to the name of a connector after declaring one in the spec.")},
		},
		"a list of offsets needs no stop": {
			annotations: set("list", source), connectors: only("target"),
			want: request.Requests{Of: requests{source: {Request: connectoroffsets.Request{Operation: connectoroffsets.List}, ConfigMap: "target"}}},
		},
		"a list of offsets into a ConfigMap of the operator": {
			annotations: set("list", source), connectors: only("mm2-offsets-before"),
			want: request.Requests{Of: requests{source: {ConfigMap: "mm2-offsets-before", Request: connectoroffsets.Request{Operation: connectoroffsets.List, Problem: transitions.Problemf(
				request.ReasonList, "Failed to list the connector offsets for %s due to ConfigMap mm2-offsets-before being one that the operator keeps: a list would overwrite its content. Name another one in listOffsets.toConfigMap.name.", source)}}}},
		},
		"a list of offsets into an impossible name": {
			annotations: set("list", source), connectors: only("team/offsets"),
			want: request.Requests{Of: requests{source: refused(connectoroffsets.List, transitions.Problemf(
				request.ReasonList, "Failed to list the connector offsets for %s due to property listOffsets.toConfigMap.name in KafkaMirrorMaker2 CR being \"team/offsets\", which no ConfigMap can have as its name. Correct it.", source))}},
		},
		"a list of offsets without listOffsets": {
			annotations: set("list", checkpoint),
			want: request.Requests{Of: requests{checkpoint: refused(connectoroffsets.List, transitions.Problemf(
				request.ReasonList, "Failed to list the connector offsets for %s due to missing property listOffsets in KafkaMirrorMaker2 CR.", checkpoint))}},
		},
		"a list of offsets without the name of a ConfigMap": {
			annotations: set("list", source), connectors: only(""),
			want: request.Requests{Of: requests{source: refused(connectoroffsets.List, transitions.Problemf(
				request.ReasonList, "Failed to list the connector offsets for %s due to missing property listOffsets.toConfigMap.name in KafkaMirrorMaker2 CR.", source))}},
		},
		"an alter has the entry as its body, byte for byte": {
			annotations: set("alter", source), want: request.Requests{Of: requests{source: alter(document)}},
		},
		"an alter of a running connector has the same digest": {
			annotations: set("alter", source), connectors: resumed(),
			want: request.Requests{Of: requests{source: {Body: document, Request: connectoroffsets.Request{
				Operation: connectoroffsets.Alter, Digest: digest(document), Problem: transitions.Problemf(
					request.ReasonAlter, "Failed to alter the connector offsets for %s due to the connector not being stopped: its state in KafkaMirrorMaker2 CR is running. Set it to stopped; the same edit may request the change.", source),
			}}}},
		},
		"a reset": {
			annotations: set("reset", source), want: request.Requests{Of: requests{source: refused(connectoroffsets.Reset, nil)}},
		},
		"a reset of a running connector": {
			annotations: set("reset", checkpoint),
			want: request.Requests{Of: requests{checkpoint: refused(connectoroffsets.Reset, transitions.Problemf(
				request.ReasonReset, "Failed to reset the connector offsets for %s due to the connector not being stopped: its state in KafkaMirrorMaker2 CR is running. Set it to stopped; the same edit may request the change.", checkpoint))}},
		},
		"several connectors, one named twice: a problem of one does not stop the other": {
			annotations: set("alter", source+", "+checkpoint+","+source),
			want: request.Requests{Of: requests{source: alter(document), checkpoint: refused(connectoroffsets.Alter, transitions.Problemf(
				request.ReasonAlter, "Failed to alter the connector offsets for %s due to missing property alterOffsets in KafkaMirrorMaker2 CR.", checkpoint))}},
		},
		"all connectors": {
			annotations: set("alter", " * "),
			want: request.Requests{Of: requests{source: alter(document), checkpoint: refused(connectoroffsets.Alter, transitions.Problemf(
				request.ReasonAlter, "Failed to alter the connector offsets for %s due to missing property alterOffsets in KafkaMirrorMaker2 CR.", checkpoint))}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.connectors == nil {
				tc.connectors = declared()
			}
			read := configMaps(map[string]map[string]string{"my-offsets": {entry: document}})
			got := request.Read(t.Context(), request.Resource{Annotations: tc.annotations, Connectors: tc.connectors, Reserved: []string{"mm2-offsets-before"}}, read)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadEntry is about the entry of an alter: any JSON is sent, because Connect says what it accepts.
func TestReadEntry(t *testing.T) {
	const failed = "Failed to alter the connector offsets for " + source + " due to "
	holds := func(text string) map[string]map[string]string {
		return map[string]map[string]string{"my-offsets": {entry: text}}
	}
	for name, tc := range map[string]struct {
		data map[string]map[string]string
		// body of the request, or the message of its problem.
		body, problem string
	}{
		"no ConfigMap":                      {problem: "missing ConfigMap my-offsets. Create it with the entry " + entry + ", or list the offsets first."},
		"a ConfigMap that cannot be read":   {data: map[string]map[string]string{"my-offsets": nil}, problem: "ConfigMap my-offsets not being readable: the API server is overloaded"},
		"no entry":                          {data: map[string]map[string]string{"my-offsets": {"other": document}}, problem: "missing entry " + entry + " in ConfigMap my-offsets. Add it, or list the offsets first."},
		"an empty entry":                    {data: holds(""), problem: "entry " + entry + " of ConfigMap my-offsets not being usable: it is not valid JSON at byte 0: unexpected end of JSON input. Correct the entry."},
		"broken JSON":                       {data: holds(`{"test":}`), problem: "entry " + entry + " of ConfigMap my-offsets not being usable: it is not valid JSON at byte 9: invalid character '}' looking for beginning of value. Correct the entry."},
		"JSON with text after it":           {data: holds(document + "x"), problem: "entry " + entry + " of ConfigMap my-offsets not being usable: it is not valid JSON at byte 19: invalid character 'x' after top-level value. Correct the entry."},
		"more than a ConfigMap may hold":    {data: holds(strings.Repeat(" ", 2<<20)), problem: "entry " + entry + " of ConfigMap my-offsets having 2097152 bytes: a ConfigMap holds at most 1048576. Alter the offsets in several steps."},
		"a document":                        {data: holds(document), body: document},
		"an empty list is for Connect":      {data: holds("[]"), body: "[]"},
		"a number beyond 2^53 keeps digits": {data: holds(`{"offsets":[{"partition":{},"offset":{"offset":9007199254740993}}]}`), body: `{"offsets":[{"partition":{},"offset":{"offset":9007199254740993}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			want := alter(tc.body)
			if tc.problem != "" {
				want = refused(connectoroffsets.Alter, transitions.Problemf(request.ReasonAlter, "%s", failed+tc.problem))
				want.Unreadable = strings.Contains(tc.problem, "not being readable")
			}
			resource := request.Resource{Annotations: set("alter", source), Connectors: declared()}
			got := request.Read(t.Context(), resource, configMaps(tc.data))
			if diff := cmp.Diff(request.Requests{Of: map[string]request.Request{source: want}}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailed(t *testing.T) {
	got := request.Failed(connectoroffsets.Alter, checkpoint, "message from endpoint")
	want := transitions.Problemf(request.ReasonAlter, "Failed to alter the connector offsets for %s due to \"message from endpoint\".", checkpoint)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestReadLongTexts shows that messages stay short, whatever users write.
func TestReadLongTexts(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, annotations := range map[string]map[string]string{
		"a long operation": set(long, source), "a long connector": set("reset", long), "both": set(long, long),
	} {
		t.Run(name, func(t *testing.T) {
			got := request.Read(t.Context(), request.Resource{Annotations: annotations, Connectors: declared()}, configMaps(nil))
			if got.Problem == nil || len(got.Problem.Message) > 1000 {
				t.Errorf("the problem is %v and requests are of %v, want a message of at most 1000 bytes", got.Problem, slices.Sorted(maps.Keys(got.Of)))
			}
		})
	}
}

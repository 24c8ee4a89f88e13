package request_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// offsetsCases is test/testdata/cases/offsets.yaml.
type offsetsCases struct {
	Fixtures struct {
		ConfigMap   string `json:"configMap"`
		OffsetsJSON string `json:"offsetsJson"`
	} `json:"fixtures"`
	Cases []offsetsCase `json:"cases"`
}

type offsetsCase struct {
	Name  string `json:"name"`
	Given struct {
		Connector   string            `json:"connector"`
		Annotations map[string]string `json:"annotations"`
		Spec        map[string]any    `json:"spec"`
		Kube        struct {
			// GetConfigMap is absent, error, a text about it, or its content.
			GetConfigMap any `json:"getConfigMap"`
		} `json:"kube"`
	} `json:"given"`
	Expect struct {
		Conditions []struct {
			Reason      transitions.Reason `json:"reason"`
			MustMention []string           `json:"mustMention"`
		} `json:"conditions"`
	} `json:"expect"`
}

// outcome is what a request comes to.
type outcome struct {
	Reason    transitions.Reason
	Mentioned []string
	// Body of an alter that is accepted.
	Body string
}

// better are the outcomes that differ on purpose. Strimzi ignores a name of no connector and the operation none, fails the whole
// resource at an unknown operation, and sends a change of a connector that the same edit resumes.
var better = map[string]outcome{
	"mm2-op-unknown-value":             {Reason: request.ReasonManage, Mentioned: []string{request.OperationAnnotation}},
	"mm2-op-none-value":                {Reason: request.ReasonManage, Mentioned: []string{request.OperationAnnotation}},
	"mm2-connector-name-unknown":       {Reason: request.ReasonReset, Mentioned: []string{"source->target.Typo", "source->target.MirrorSourceConnector"}},
	"mm2-resume-and-alter-in-one-edit": {Reason: request.ReasonAlter, Mentioned: []string{"stopped"}},
}

// accepted are the cases in which the request can be carried out. What Connect or the API server does after it is tested with the kind:
// TestKindWarnsOfFailures, TestKindQuotesConnect, TestKindWaitsForAConnector, TestKindWaitsForWorkers, TestKindListsOffsets,
// TestKindAltersOffsets.
var accepted = []string{
	"mm2-list-rest-get-fails", "mm2-list-configmap-write-fails", "mm2-list-annotation-removal-fails", "mm2-list-creates-configmap-chk",
	"mm2-list-merges-into-existing-configmap-src", "mm2-alter-status-has-no-state", "mm2-alter-succeeds-src", "mm2-alter-succeeds-chk",
	"mm2-reset-status-call-fails", "mm2-reset-status-has-no-state", "mm2-reset-succeeds-src", "mm2-reset-succeeds-chk", "mm2-mock-alter",
	"mm2-mock-reset", "mm2-alter-rest-409", "mm2-reset-rest-500", "mm2-op-while-connector-absent", "mm2-op-with-zero-replicas",
	"seed-list-existing-configmap-no-owner", "seed-owner-reference-not-blocking", "seed-api-error-message-in-condition",
}

// elsewhere are the cases without a request, by the start of their names, with what decides them.
var elsewhere = map[string]string{
	"kc-list-":                         "the cases mm2-list-: KafkaConnector is not reconciled",
	"kc-alter-":                        "the cases mm2-alter-: KafkaConnector is not reconciled",
	"kc-reset-":                        "the cases mm2-reset-, and TestKindRetriesToRemoveAnnotations",
	"kc-mock-alter":                    "mm2-mock-alter",
	"kc-mock-reset":                    "mm2-mock-reset",
	"kc-mock-created-stopped":          "mm2-mock-created-stopped",
	"kc-mock-stop-":                    "TestKindRunsConnectors",
	"kc-mock-failed-to-paused":         "TestKindRunsConnectors",
	"kc-mock-config-change-uses-put":   "TestKindRunsConnectors",
	"kc-mock-create-rest-error":        "TestKindRunsConnectors",
	"kc-mock-restart-":                 "TestKindRunsConnectors",
	"kc-mock-connect-unreachable":      "TestKindShowsThatConnectIsNotReached",
	"kc-mock-reconciliation-paused":    "TestKindPauses",
	"rest-error-message-extraction":    "TestClientCases of clients/connect/rest",
	"rest-put-config-500-bad-body":     "TestClientCases of clients/connect/rest",
	"rest-status-unlisted-2xx":         "TestClientCases of clients/connect/rest",
	"rest-status-500":                  "TestClientCases of clients/connect/rest",
	"rest-create-sends-initial-state":  "TestClientCreatesInAState of clients/connect/rest",
	"rest-create-without-state":        "TestClientCreatesInAState of clients/connect/rest",
	"rest-create-409-then-201":         "TestKindRunsConnectors",
	"rest-status-backoff-":             "TestKindRunsConnectors",
	"connect-":                         "TestBehavioursRestateCases of clients/connect/connecttest",
	"st-mm2-":                          "test/e2e, on real Connect",
	"mm2-mock-pause-reconciliation":    "TestKindPauses, with a condition of another name: docs/decisions/0509",
	"mm2-mock-connector-version":       "TestConnectorsVersion of controllers/mirrormaker2/render",
	"mm2-mock-created-":                "TestKindCreatesConnectorsInTheirStates",
	"seed-heartbeat-connector-allowed": "TestReadHeartbeat",
}

func TestReadCases(t *testing.T) {
	data, err := os.ReadFile("../../../test/testdata/cases/offsets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file offsetsCases
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	unread := slices.Concat(accepted, slices.Collect(maps.Keys(better)))
	unmatched := maps.Clone(elsewhere)
	for _, tc := range file.Cases {
		matches := func(start, _ string) bool { return strings.HasPrefix(tc.Name, start) }
		maps.DeleteFunc(unmatched, matches)
		if slices.ContainsFunc(slices.Collect(maps.Keys(elsewhere)), func(start string) bool { return matches(start, "") }) {
			continue
		}
		unread = slices.DeleteFunc(unread, func(name string) bool { return name == tc.Name })
		t.Run(tc.Name, func(t *testing.T) {
			want := tc.want(file.Fixtures.OffsetsJSON)
			got := tc.read(t, file.Fixtures.ConfigMap, file.Fixtures.OffsetsJSON, want.Mentioned)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if unread = slices.AppendSeq(unread, maps.Keys(unmatched)); len(unread) > 0 {
		t.Errorf("the file has no case %v", unread)
	}
}

func (tc *offsetsCase) want(document string) outcome {
	if want, found := better[tc.Name]; found {
		return want
	}
	var want outcome
	switch isAccepted := slices.Contains(accepted, tc.Name); {
	case isAccepted && tc.Given.Annotations[request.OperationAnnotation] == "alter":
		want.Body = document
	case !isAccepted && len(tc.Expect.Conditions) > 0:
		want.Reason = tc.Expect.Conditions[0].Reason
		want.Mentioned = slices.Clip(append([]string(nil), tc.Expect.Conditions[0].MustMention...))
	}
	return want
}

// read returns the outcome, with those of the texts that its message has.
func (tc *offsetsCase) read(t *testing.T, configMap, document string, texts []string) outcome {
	t.Helper()
	resource := request.Resource{Annotations: tc.Given.Annotations, Connectors: []kafkav1beta2.NamedConnector{tc.connector(configMap)}}
	requests := request.Read(t.Context(), resource, configMaps(tc.stored(configMap, document)))
	problem := requests.Problem
	var got outcome
	for _, r := range requests.Of {
		got.Body, problem = r.Body, r.Problem
	}
	if problem != nil {
		got.Body = ""
		got.Reason = problem.Reason
		for _, text := range texts {
			if strings.Contains(problem.Message, text) {
				got.Mentioned = append(got.Mentioned, text)
			}
		}
	}
	return got
}

// connector returns the connector of the case. A case without the state declares it as stopped: its subject is something else.
func (tc *offsetsCase) connector(configMap string) kafkav1beta2.NamedConnector {
	name := tc.Given.Connector
	if !strings.Contains(name, "->") {
		name = "source->target.MirrorSourceConnector"
	}
	reference := func(property string) *string {
		value, found := tc.Given.Spec[property]
		if found && value == nil {
			return nil
		}
		if _, unnamed := value.(map[string]any); unnamed {
			return new(string)
		}
		return &configMap
	}
	c := connector(name, reference("listOffsets"), reference("alterOffsets"))
	if state, found := tc.Given.Spec["state"]; found {
		text, _ := state.(string)
		c.State = kafkav1beta2.ConnectorState(text)
	}
	return c
}

// stored returns the ConfigMaps of the case. A case that does not say has one with the document.
func (tc *offsetsCase) stored(configMap, document string) map[string]map[string]string {
	entries := map[string]string{connect.EntryName(tc.connector(configMap).Name): document}
	switch given := tc.Given.Kube.GetConfigMap.(type) {
	case string:
		switch given {
		case "absent":
			return nil
		case "error":
			entries = nil
		}
	case map[string]any:
		data, _ := given["data"].(map[string]any)
		entries = map[string]string{}
		for key, value := range data {
			if entries[key], _ = value.(string); value == "valid json" {
				entries[key] = document
			}
		}
	}
	return map[string]map[string]string{configMap: entries}
}

func TestReadHeartbeat(t *testing.T) {
	const heartbeat = "source->target.MirrorHeartbeatConnector"
	read := configMaps(map[string]map[string]string{"my-offsets": {connect.EntryName(heartbeat): document}})
	for _, operation := range []string{"list", "alter", "reset"} {
		t.Run(operation, func(t *testing.T) {
			connectors := []kafkav1beta2.NamedConnector{connector(heartbeat, new("my-offsets"), new("my-offsets"))}
			got := request.Read(t.Context(), request.Resource{Annotations: set(operation, heartbeat), Connectors: connectors}, read)
			if len(got.Of) != 1 || got.Problem != nil || got.Of[heartbeat].Problem != nil {
				t.Errorf("requests are %v, want one of the connector without a problem", got)
			}
		})
	}
}

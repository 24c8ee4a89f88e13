package crds_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// The API server renders what kubectl get prints from the columns of the definition; the test runs the same code.
func TestDefinitionsColumns(t *testing.T) {
	since := time.Now().Add(-30 * time.Minute).UTC().Format(time.RFC3339)
	status := `
metadata: {name: orders, creationTimestamp: "` + since + `"}
spec: {replicas: 3}
status:
  conditions:
  - {type: Available, status: "True", reason: QuorumAndISR}
  - {type: Ready, status: "False", reason: AwaitingInSync}
  - {type: Warning, status: "True", reason: UnusedField}
  - {type: Warning, status: "True", reason: NotDeployed}
  summary: {lifecycle: version, state: AwaitingInSync, since: "` + since + `", progress: 2/6 node}
  kafkaVersion: 4.0.0
  kafkaMetadataVersion: 4.0-IV3
  roles: [controller, broker]
  nodeIds: [0, 1, 2]
  version: {version: 16.2.15}
  target: 18.2.7
  ceph: {health: HEALTH_OK}
  pods: 3
  readyPods: 2
  currentPods: 1
`
	tests := map[string]struct{ narrow, wide string }{
		"Kafka": {
			narrow: "Name=orders Ready=False State=AwaitingInSync For=30m Progress=2/6 node Age=30m",
			wide:   "Kafka Version=4.0.0 Metadata Version=4.0-IV3 Warning=UnusedField",
		},
		"KafkaNodePool": {
			narrow: `Name=orders Desired=3 Roles=["controller","broker"] Ready=False State=AwaitingInSync For=30m Progress=2/6 node Age=30m`,
			wide:   "Node IDs=[0,1,2] Warning=UnusedField",
		},
		"KafkaMirrorMaker2": {
			narrow: "Name=orders Desired=3 Ready=False State=AwaitingInSync For=30m Progress=2/6 node Age=30m",
			wide:   "Warning=UnusedField",
		},
		"Cluster": {
			narrow: "Name=orders Ready=False State=AwaitingInSync For=30m Version=16.2.15 Target=18.2.7 Health=HEALTH_OK Progress=2/6 node Age=30m",
			wide:   "Warning=UnusedField",
		},
		"StrimziPodSet": {narrow: "Name=orders Pods=3 Ready=2 Current=1 Age=30m"},
	}
	for kind, want := range tests {
		t.Run(kind, func(t *testing.T) {
			narrow, wide := printed(t, columnsOf(t, kind), status)
			if diff := cmp.Diff(want.narrow, narrow); diff != "" {
				t.Errorf("narrow: %s", diff)
			}
			if diff := cmp.Diff(want.wide, wide); diff != "" {
				t.Errorf("wide: %s", diff)
			}
		})
	}
}

func columnsOf(t *testing.T, kind string) []apiextensionsv1.CustomResourceColumnDefinition {
	t.Helper()
	for _, definition := range definitions(t) {
		if definition.Spec.Names.Kind == kind {
			return definition.Spec.Versions[0].AdditionalPrinterColumns
		}
	}
	t.Fatalf("no definition of %s", kind)
	return nil
}

func printed(t *testing.T, columns []apiextensionsv1.CustomResourceColumnDefinition, text string) (narrow, wide string) {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	convertor, err := tableconvertor.New(columns)
	if err != nil {
		t.Fatal(err)
	}
	table, err := convertor.ConvertToTable(t.Context(), k8sruntime.Object(&unstructured.Unstructured{Object: object}), &metav1.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var cells [2][]string
	for i, column := range table.ColumnDefinitions {
		cell, ok := table.Rows[0].Cells[i].(string)
		if !ok {
			encoded, err := yaml.Marshal(table.Rows[0].Cells[i])
			if err != nil {
				t.Fatal(err)
			}
			cell = strings.TrimSpace(string(encoded))
		}
		wide := min(int(column.Priority), 1)
		cells[wide] = append(cells[wide], column.Name+"="+cell)
	}
	return strings.Join(cells[0], " "), strings.Join(cells[1], " ")
}

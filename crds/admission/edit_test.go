package admission_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const goodKafka = `
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: orders}
spec:
  kafka:
    version: 4.1.1
    metadataVersion: 4.1-IV1
    listeners:
    - {name: plain, port: 9092, type: internal, tls: false}
    - {name: tls, port: 9093, type: internal, tls: true}
    config: {min.insync.replicas: 2, auto.create.topics.enable: false, log.cleaner.min.cleanable.ratio: 0.5, log.retention.hours: "24"}
`

const goodPool = `
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: brokers, labels: {strimzi.io/cluster: orders}}
spec:
  replicas: 3
  roles: [broker]
  storage:
    type: jbod
    volumes:
    - {id: 0, type: persistent-claim, size: 10Gi, class: fast, kraftMetadata: shared}
    - {id: 1, type: persistent-claim, size: 10Gi}
`

const singleVolumePool = `
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: brokers, labels: {strimzi.io/cluster: orders}}
spec:
  replicas: 3
  roles: [broker]
  storage: {type: persistent-claim, size: 10Gi, class: fast}
`

const goodPodSet = `
apiVersion: core.strimzi.io/v1beta2
kind: StrimziPodSet
metadata: {name: orders-brokers}
spec:
  selector: {matchLabels: {strimzi.io/cluster: orders}}
  pods:
  - {apiVersion: v1, kind: Pod, metadata: {name: orders-brokers-0}, spec: {containers: [{name: kafka, anything: {goes: here}}]}}
`

// parse reads one resource.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	resource := &unstructured.Unstructured{}
	if err := resource.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return resource
}

// edit is a resource with one field replaced by a value in YAML; an empty value removes the field. List elements go by position.
func edit(t *testing.T, text, value string, path ...any) *unstructured.Unstructured {
	t.Helper()
	resource := parse(t, text)
	var decoded any
	if value != "" {
		decoded = parse(t, "{apiVersion: v1, kind: Value, value: "+value+"}").Object["value"]
	}
	var at any = resource.Object
	for _, step := range path[:len(path)-1] {
		switch step := step.(type) {
		case string:
			at = at.(map[string]any)[step]
		case int:
			at = at.([]any)[step]
		}
	}
	last := path[len(path)-1]
	switch holder := at.(type) {
	case map[string]any:
		if value == "" {
			delete(holder, last.(string))
		} else {
			holder[last.(string)] = decoded
		}
	case []any:
		holder[last.(int)] = decoded
	default:
		t.Fatalf("no place for %v in %v", path, resource.Object)
	}
	return resource
}

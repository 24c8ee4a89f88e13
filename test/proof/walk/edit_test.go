package walk

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/crds/admission"
)

// An edit changes its field and nothing else, and never the object that it is applied to.
func TestApply(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"list": []any{map[string]any{"a": int64(1)}, "b"}, "kept": true}}
	before := fmt.Sprint(object)
	for name, tc := range map[string]struct {
		edit Edit
		want string
	}{
		"a field":             {Edit{Path: []any{"spec", "kept"}, Value: false}, `map[spec:map[kept:false list:[map[a:1] b]]]`},
		"in a list":           {Edit{Path: []any{"spec", "list", 0, "a"}, Value: int64(2)}, `map[spec:map[kept:true list:[map[a:2] b]]]`},
		"an item goes":        {Edit{Path: []any{"spec", "list", 0}, Class: Drop}, `map[spec:map[kept:true list:[b]]]`},
		"parents are made":    {Edit{Path: []any{"spec", "x", "y"}, Value: "z"}, `map[spec:map[kept:true list:[map[a:1] b] x:map[y:z]]]`},
		"a field that is not": {Edit{Path: []any{"spec", "x"}, Class: Drop}, `map[spec:map[kept:true list:[map[a:1] b]]]`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, fmt.Sprint(tc.edit.Apply(object))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, fmt.Sprint(object)); diff != "" {
				t.Errorf("the original (-want +got):\n%s", diff)
			}
		})
	}
}

// The schema rejects what the generator marks as invalid: every edit of every field of our kinds, without an API server. Every
// leaf has a limit: a value that is only too long or a list that is only too large is rejected.
func TestSchemaRejectsWhatIsInvalid(t *testing.T) {
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"examples/hello/crd/hello.example.org_greetings.yaml", "test/turnstile/crd/turnstile.test.detent.dev_turnstiles.yaml"} {
		text, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, definition); err != nil {
			t.Fatal(err)
		}
		definitions = append(definitions, definition)
	}
	schemas, err := admission.New(definitions)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, base := range append(kafkaObjects("n", "c"), others()...) {
		object := &unstructured.Unstructured{Object: base}
		if errs := schemas.Create(context.Background(), object); len(errs) > 0 {
			t.Fatalf("the base itself: %v", errs)
		}
		for _, edit := range Edits(schemaOf(t, definitions, object), base, "spec", kafkaSamples()) {
			tried++
			errs := schemas.Update(context.Background(), &unstructured.Unstructured{Object: edit.Apply(base)}, object)
			if !edit.Valid && len(errs) == 0 {
				t.Errorf("%s: %s is taken", object.GetKind(), edit)
			}
			for _, e := range errs {
				if strings.Contains(e.Detail, "CEL") || strings.Contains(e.Detail, "cost") {
					t.Errorf("%s: %s breaks a rule: %v", object.GetKind(), edit, e)
				}
			}
		}
	}
	t.Logf("%d edits", tried)
	if tried < 500 {
		t.Errorf("%d edits are too few for our kinds", tried)
	}
}

// others are resources of the kinds other than Kafka.
func others() []map[string]any {
	meta := map[string]any{"namespace": "n", "name": "x"}
	return []map[string]any{
		{"apiVersion": "hello.example.org/v1", "kind": "Greeting", "metadata": meta, "spec": map[string]any{"text": "hello"}},
		{"apiVersion": "turnstile.test.detent.dev/v1", "kind": "Turnstile", "metadata": meta, "spec": map[string]any{"model": "A", "arms": int64(2), "lamp": "red"}},
	}
}

// schemaOf returns the schema of the object's kind and version.
func schemaOf(t testing.TB, definitions []*apiextensionsv1.CustomResourceDefinition, object *unstructured.Unstructured) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	for _, d := range definitions {
		for i := range d.Spec.Versions {
			if v := &d.Spec.Versions[i]; d.Spec.Names.Kind == object.GetKind() && d.Spec.Group+"/"+v.Name == object.GetAPIVersion() {
				return v.Schema.OpenAPIV3Schema
			}
		}
	}
	t.Fatalf("no definition of %s %s", object.GetAPIVersion(), object.GetKind())
	return nil
}

// kafkaObjects are a small cluster of one node, as users write it.
func kafkaObjects(namespace, name string) []map[string]any {
	meta := func(name string) map[string]any {
		return map[string]any{"namespace": namespace, "name": name, "labels": map[string]any{"strimzi.io/cluster": "c"}}
	}
	return []map[string]any{
		{"apiVersion": "kafka.strimzi.io/v1beta2", "kind": "Kafka", "metadata": meta(name), "spec": map[string]any{
			"kafka": map[string]any{
				"version": "4.1.1", "metadataVersion": "4.1",
				"listeners": []any{map[string]any{"name": "plain", "port": int64(9092), "type": "internal", "tls": false}},
				"config": map[string]any{
					"broker.session.timeout.ms": int64(1000), "default.replication.factor": int64(1), "min.insync.replicas": int64(1),
					"offsets.topic.replication.factor": int64(1), "transaction.state.log.replication.factor": int64(1), "transaction.state.log.min.isr": int64(1),
				},
			},
		}},
		{"apiVersion": "kafka.strimzi.io/v1beta2", "kind": "KafkaNodePool", "metadata": meta("p"), "spec": map[string]any{
			"replicas": int64(1), "roles": []any{"controller", "broker"},
			"storage": map[string]any{"type": "jbod", "volumes": []any{map[string]any{"id": int64(0), "type": "persistent-claim", "size": "1Gi"}}},
		}},
	}
}

// kafkaSamples are values that do not follow from the schema.
func kafkaSamples() Samples {
	return Samples{
		"spec.kafka.version":               {"4.2.0", "4.0.0", "4.9.9", "3.0.0", "4.1.1-acme-2"},
		"spec.kafka.metadataVersion":       {"4.1-IV0", "4.0", "9.9", "2.0"},
		"spec.kafka.config.new-entry":      {int64(24), "x", true, nil, []any{int64(1)}, map[string]any{}, "${file:/a:b}", 1e300},
		"spec.kafka.config":                {map[string]any{"node.id": "7", "log.retention.hours": int64(1), "broker.session.timeout.ms": int64(1000)}},
		"spec.kafka.image":                 {"example.com/kafka:1", "example.com/missing:1"},
		"spec.kafka.resources":             {map[string]any{"requests": map[string]any{"memory": "1Gi"}, "limits": map[string]any{"memory": "512Mi"}}},
		"spec.resources":                   {map[string]any{"requests": map[string]any{"cpu": "100m"}, "limits": map[string]any{"memory": "2Gi"}}},
		"spec.kafka.jvmOptions":            {map[string]any{"-Xmx": "1g"}, map[string]any{"-XX": map[string]any{"UseG1GC": "true"}}},
		"spec.storage.volumes.*.size":      {"2Gi", "500Mi", "1e3"},
		"spec.kafka.listeners.*.port":      {int64(9093), int64(9091), int64(9090)},
		"spec.kafka.listeners.*.type":      {"nodeport"},
		"spec.kafkaExporter":               {map[string]any{"image": "exporter:1"}},
		"spec.entityOperator":              {map[string]any{"topicOperator": map[string]any{"image": "topics:1"}}},
		"spec.kafka.images":                {map[string]any{"4.1.1": "example.com/kafka:2"}, map[string]any{"x": "y"}},
		"spec.kafka.listeners.*.tls":       {true},
		"spec.kafka.authorization":         {map[string]any{"type": "simple"}},
		"spec.storage.volumes.*.sizeLimit": {"1Gi"},
	}
}

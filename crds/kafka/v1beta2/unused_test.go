package v1beta2_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestUnusedFieldsOfAKafka(t *testing.T) {
	tests := map[string]struct {
		spec string
		want []string
	}{
		"nothing is set": {spec: `{}`},
		"only what is used is set": {spec: `
kafka:
  version: 4.1.1
  metadataVersion: "4.1"
  image: kafka
  images: {4.1.1: kafka}
  imagePullSecrets: [{name: registry}]
  listeners: [{name: plain, port: 9092, type: internal, tls: false}]
  config: {min.insync.replicas: 2}
  resources: {limits: {memory: 1Gi}}
  jvmOptions: {-Xms: 1g, -Xmx: 1g}
entityOperator: {topicOperator: {image: topics, resources: {}}, userOperator: {}}
kafkaExporter: {image: exporter, resources: {}}`},
		"an authority is described": {
			spec: `clusterCa: {generateCertificateAuthority: false, validityDays: 90, renewalDays: 10, certificateExpirationPolicy: replace-key}`,
			want: []string{"spec.clusterCa.certificateExpirationPolicy", "spec.clusterCa.generateCertificateAuthority", "spec.clusterCa.renewalDays", "spec.clusterCa.validityDays"},
		},
		"a field is set to nothing": {spec: `{kafka: {rack: null, livenessProbe: null, replicas: null}, cruiseControl: null}`},
		"an empty object is set":    {spec: `{cruiseControl: {}}`, want: []string{"spec.cruiseControl"}},
		"zero and false are set": {
			spec: `{kafka: {replicas: 0, jvmOptions: {gcLoggingEnabled: false}}, kafkaExporter: {showAllOffsets: false}}`,
			want: []string{"spec.kafka.jvmOptions.gcLoggingEnabled", "spec.kafka.replicas", "spec.kafkaExporter.showAllOffsets"},
		},
		"left over from before there were pools": {
			spec: `{kafka: {replicas: 3, storage: {type: ephemeral}}, zookeeper: {replicas: 3}}`,
			want: []string{"spec.kafka.replicas", "spec.kafka.storage", "spec.zookeeper"},
		},
		"listeners are named": {
			spec: `{kafka: {listeners: [{name: plain}, {name: tls, authentication: {type: tls}, networkPolicyPeers: [{}]}]}}`,
			want: []string{"spec.kafka.listeners[tls].authentication", "spec.kafka.listeners[tls].networkPolicyPeers"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := v1beta2.KafkaSpec{}
			decode(t, test.spec, &spec)
			if diff := cmp.Diff(test.want, spec.UnusedFields()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnusedFieldsOfAPool(t *testing.T) {
	tests := map[string]struct {
		spec string
		want []string
	}{
		"nothing is set": {spec: `{}`},
		"only what is used is set": {spec: `
replicas: 3
roles: [broker]
resources: {limits: {memory: 1Gi}}
jvmOptions: {-Xms: 1g, -Xmx: 1g}
storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, size: 1Gi, class: fast, deleteClaim: true, kraftMetadata: shared}, {id: 1, type: ephemeral, sizeLimit: 1Gi}]}`},
		"volumes are named by id": {
			spec: `{storage: {type: jbod, volumes: [{id: 0}, {id: 7, selector: {zone: a}, overrides: [{broker: 0}]}]}}`,
			want: []string{"spec.storage.volumes[7].overrides", "spec.storage.volumes[7].selector"},
		},
		"a single volume": {
			spec: `{storage: {type: persistent-claim, volumeAttributesClass: gold}}`,
			want: []string{"spec.storage.volumeAttributesClass"},
		},
		"an empty template is nothing": {spec: `{template: {}}`},
		"a template of pods":           {spec: `{template: {pod: {affinity: {}, tolerations: [{}], metadata: {labels: {team: a}}}}}`},
		"the rest of a template":       {spec: `{template: {podSet: {}, pod: {hostUsers: false}}}`, want: []string{"spec.template.pod.hostUsers", "spec.template.podSet"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := v1beta2.KafkaNodePoolSpec{}
			decode(t, test.spec, &spec)
			if diff := cmp.Diff(test.want, spec.UnusedFields()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the schema calls unused and what UnusedFields reports are one list: a field is added to both or to neither.
func TestUnusedFieldsAgreeWithTheSchema(t *testing.T) {
	var kafka v1beta2.KafkaSpec
	var pool v1beta2.KafkaNodePoolSpec
	reports := map[string]func(spec string) []string{
		v1beta2.KindKafka: func(spec string) []string {
			kafka = v1beta2.KafkaSpec{}
			decode(t, spec, &kafka)
			return kafka.UnusedFields()
		},
		v1beta2.KindKafkaNodePool: func(spec string) []string {
			pool = v1beta2.KafkaNodePoolSpec{}
			decode(t, spec, &pool)
			return pool.UnusedFields()
		},
	}
	for kind, report := range reports {
		t.Run(kind, func(t *testing.T) {
			spec := specSchema(t, kind)
			var want []string
			whole := sample(spec, "spec", "", &want)
			slices.Sort(want)
			if len(want) < 15 {
				t.Fatalf("the schema names %d unused fields, want at least 15: %v", len(want), want)
			}
			text, err := yaml.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, report(string(text))); diff != "" {
				t.Errorf("schema (-) and UnusedFields (+) differ:\n%s", diff)
			}
		})
	}
}

func specSchema(t *testing.T, kind string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range definitions {
		if definition.Spec.Group == v1beta2.Group && definition.Spec.Names.Kind == kind {
			return definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		}
	}
	t.Fatalf("no definition of %s", kind)
	return apiextensionsv1.JSONSchemaProps{}
}

// sample is a value with every property set, lists with one element. It collects the paths of properties that are called unused.
func sample(schema apiextensionsv1.JSONSchemaProps, path, name string, unused *[]string) any {
	if strings.HasPrefix(schema.Description, "Not used: ") || strings.HasPrefix(schema.Description, "Not used yet: ") || strings.HasSuffix(path, ".resources.claims") {
		*unused = append(*unused, path)
		unused = &[]string{}
	}
	switch schema.Type {
	case "object":
		object := map[string]any{}
		for property, nested := range schema.Properties {
			object[property] = sample(nested, path+"."+property, property, unused)
		}
		if schema.AdditionalProperties != nil {
			object["any"] = sample(*schema.AdditionalProperties.Schema, path+".any", "any", unused)
		}
		return object
	case "array":
		element := sample(*schema.Items.Schema, path+keyOf(schema), name, unused)
		return []any{element}
	case "boolean":
		return true
	case "integer":
		return 7
	default:
		return "7"
	}
}

// keyOf is how UnusedFields names the one element of a list: all samples have 7 as id and as name.
func keyOf(schema apiextensionsv1.JSONSchemaProps) string {
	if len(schema.XListMapKeys) == 0 {
		return ""
	}
	return fmt.Sprintf("[%d]", 7)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

package status

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestSpecWarnings(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*kafkav1beta2.Kafka, *kafkav1beta2.KafkaNodePool)
		want   map[string]string
	}{
		"nothing to warn of": {},
		"a listener of another type": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Spec.Kafka.Listeners[0].Type = "nodeport"
			},
			want: map[string]string{ReasonUnsupportedListener: "listener plain is of type nodeport and is not served: only internal ones are"},
		},
		"pods with names that are too long": {
			change: func(k *kafkav1beta2.Kafka, p *kafkav1beta2.KafkaNodePool) {
				k.Name, p.Name = "a123456789b123456789c123456789d123456789e123456", "a123456789b12"
				p.Status.NodeIDs = []int32{7, 10}
			},
			want: map[string]string{ReasonNameTooLong: "pod a123456789b123456789c123456789d123456789e123456-a123456789b12-10 of KafkaNodePool a123456789b12 would have " +
				"a name of 64 characters, and Kubernetes takes 63: make a pool with a shorter name"},
		},
		"reserved properties": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Spec.Kafka.Config["node.id"], k.Spec.Kafka.Config["log.dirs"] = jsonText("1"), jsonText(`"/tmp"`)
			},
			want: map[string]string{ReasonReservedConfig: "left out of the configuration, since the cluster manages them itself: log.dirs, node.id"},
		},
		"properties that hold secrets": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Spec.Kafka.Config["delegation.token.secret.key"], k.Spec.Kafka.Config["my.api-key"] = jsonText(`"s3cret"`), jsonText(`"s3cret"`)
				k.Spec.Kafka.Config["reporter.password"], k.Spec.Kafka.Config["delegation.token.max.lifetime.ms"] = jsonText(`"${env:REPORTER}"`), jsonText("5")
			},
			want: map[string]string{ReasonSecretInConfig: "left out of the configuration, which lies in a ConfigMap and is no place for secrets: " +
				"delegation.token.secret.key, my.api-key. Write a reference that a config provider of Kafka resolves in the broker, such as ${env:NAME}. Its variable or file must be in the image, which spec.kafka.image names"},
		},
		"a property that is no scalar": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Spec.Kafka.Config["queued.max.requests"] = jsonText(`["hunter2"]`)
			},
			want: map[string]string{ReasonInvalidConfig: "reading spec.kafka.config[queued.max.requests]: want a string, a number or a boolean, saw a list"},
		},
		"a soaking time that cannot be read": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Annotations = map[string]string{facts.AnnotationSoak: "2 days"}
			},
			want: map[string]string{facts.ReasonInvalidAnnotation: `the annotation detent.dev/soak is "2 days": want a duration such as 90m or 36h, or whole days such as 7d; ` +
				"the metadata version is not raised until it can be read"},
		},
		"boolean annotations that are neither true nor false": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Name, k.Annotations = "my-cluster", map[string]string{"detent.dev/drain": "yes", "strimzi.io/skip-broker-scaledown-check": "FALSE"}
			},
			want: map[string]string{labels.InvalidAnnotation: `the annotation detent.dev/drain of Kafka my-cluster is "yes", neither true nor false, and has no effect: write true, or remove it`},
		},
		"annotations that the kind does not have": {
			change: func(k *kafkav1beta2.Kafka, p *kafkav1beta2.KafkaNodePool) {
				k.Name, k.Annotations = "my-cluster", map[string]string{"detent.dev/paused": "true", "detent.dev/soak": "7d", "example.com/paused": "true"}
				p.Annotations = map[string]string{"detent.dev/drain": "true"}
			},
			want: map[string]string{labels.UnknownAnnotation: "the annotation detent.dev/paused of Kafka my-cluster is unknown and has no effect. Remove it, or write detent.dev/pause; " +
				"the annotation detent.dev/drain of KafkaNodePool dual-role has no effect on this kind, but on Kafka. Remove it"},
		},
		"an exporter with an expression that cannot be read": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{TopicRegex: "orders-("}
			},
			want: map[string]string{render.ReasonInvalidComponent: "spec.kafkaExporter.topicRegex is not a regular expression: error parsing regexp: missing closing ): `orders-(`: " +
				"the exporter is not deployed, or stays as it was"},
		},
		"components without an image: the exporter has a default": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Spec.EntityOperator = &kafkav1beta2.EntityOperatorSpec{TopicOperator: &kafkav1beta2.EntityOperatorComponent{}, UserOperator: &kafkav1beta2.EntityOperatorComponent{Image: "x"}}
				k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{}
			},
			want: map[string]string{ReasonNotDeployed: "there is no default image of spec.entityOperator.topicOperator. Set image to deploy one of your own"},
		},
		"unused fields of cluster and pool": {
			change: func(k *kafkav1beta2.Kafka, p *kafkav1beta2.KafkaNodePool) {
				k.Spec.Kafka.LivenessProbe = &kafkav1beta2.Opaque{}
				p.Spec.Template = &kafkav1beta2.NodePoolTemplate{PodSet: &kafkav1beta2.Opaque{}}
			},
			want: map[string]string{ReasonUnusedField: "nothing is done with spec.kafka.livenessProbe; nothing is done with spec.template.podSet of KafkaNodePool dual-role"},
		},
		"labels of a template that are Detent's": {
			change: func(k *kafkav1beta2.Kafka, _ *kafkav1beta2.KafkaNodePool) {
				k.Spec.Kafka.Template = &kafkav1beta2.ClusterTemplate{Pod: &kafkav1beta2.PodTemplate{Metadata: &kafkav1beta2.MetadataTemplate{
					Labels: map[string]string{"team": "a", "strimzi.io/cluster": "other"}, Annotations: map[string]string{"detent.dev/x": "y"},
				}}}
			},
			want: map[string]string{ReasonReservedMetadata: "left out of the metadata of pods, because Detent sets such labels and annotations itself: detent.dev/x, strimzi.io/cluster"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Spec.Kafka.Listeners = []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: kafkav1beta2.ListenerInternal}}
			k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{}
			p := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "dual-role"}}
			if tc.change != nil {
				tc.change(k, p)
			}
			got := map[string]string{}
			declared := &render.Input{Name: k.Name, Spec: k.Spec, Pools: []render.Pool{{Name: p.Name, Spec: p.Spec}}}
			for _, c := range slices.Concat(specWarnings(declared), objectWarnings(k, &observation.Objects{Pools: []*kafkav1beta2.KafkaNodePool{p}})) {
				got[c.Reason] = c.Message
			}
			want := tc.want
			if want == nil {
				want = map[string]string{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func jsonText(text string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(text)} }

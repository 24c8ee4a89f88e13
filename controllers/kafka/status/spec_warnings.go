package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/annotations"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Reasons of warnings about parts of the spec that are not acted on.
const (
	// ReasonUnusedField: fields that have no effect.
	ReasonUnusedField = "UnusedField"
	// ReasonNotServedYet: listeners with TLS.
	ReasonNotServedYet = "NotServedYet"
	// ReasonNotDeployed: components without an image, of which there is no default.
	ReasonNotDeployed = "NotDeployed"
	// ReasonUnsupportedListener: listeners that are not internal.
	ReasonUnsupportedListener = "UnsupportedListener"
	// ReasonReservedConfig: properties that Detent manages.
	ReasonReservedConfig = "ReservedConfig"
	// ReasonSecretInConfig: properties that contain a secret.
	ReasonSecretInConfig = "SecretInConfig"
	// ReasonInvalidConfig: properties that are not a string, a number or a boolean.
	ReasonInvalidConfig = "InvalidConfig"
	// ReasonReservedMetadata: labels and annotations of a template that are Detent's or Strimzi's.
	ReasonReservedMetadata = "ReservedMetadata"
	// ReasonGracePeriod: templates that give a process no time to stop.
	ReasonGracePeriod = "GracePeriodTooShort"
	// ReasonNewerDefault: the spec has no version, and the default is newer than the version that the cluster keeps.
	ReasonNewerDefault = "NewerDefault"
	// ReasonNameTooLong: pods whose names Kubernetes rejects.
	ReasonNameTooLong = "NameTooLong"
)

// unused is the text of the Warning about fields that nothing acts on.
func unused(fields []string) string { return "nothing is done with " + strings.Join(fields, ", ") }

// specWarnings returns the parts of the specs that are not acted on, and the settings that cost data or availability, one condition per
// reason, sorted.
func specWarnings(declared *render.Input) []metav1.Condition {
	w := warned{}
	if fields := declared.Spec.UnusedFields(); len(fields) > 0 {
		w.add(ReasonUnusedField, unused(fields))
	}
	for i := range declared.Pools {
		pool := &declared.Pools[i]
		if fields := pool.Spec.UnusedFields(); len(fields) > 0 {
			w.add(ReasonUnusedField, unused(fields)+" of KafkaNodePool "+pool.Name)
		}
	}
	if names := render.ReservedMetadata(declared); len(names) > 0 {
		w.add(ReasonReservedMetadata, "left out of the metadata of pods, because Detent sets such labels and annotations itself: "+strings.Join(names, ", "))
	}
	if fields := render.WithoutGrace(declared); len(fields) > 0 {
		w.add(ReasonGracePeriod, strings.Join(fields, ", ")+" is 0 and is taken as 1, because Kubernetes would start the next process of a node while the last one runs. Set the seconds that a node may take to stop, or remove it for the default of 60")
	}
	w.listeners(&declared.Spec.Kafka)
	w.config(&declared.Spec.Kafka)
	w.components(&declared.Spec)
	w.advice(declared)
	return w.conditions()
}

// objectWarnings returns what is wrong with annotations and names, one condition per reason, sorted.
func objectWarnings(kafka *kafkav1beta2.Kafka, o *observation.Objects) []metav1.Condition {
	w := warned{}
	if _, problem := facts.SoakTime(kafka); problem != nil {
		w.add(string(problem.Reason), problem.Message+"; the metadata version is not raised until it can be read")
	}
	w.annotations(kafka, o)
	w.names(kafka, o.Pools)
	return w.conditions()
}

// warned collects messages by reason.
type warned map[string][]string

func (w warned) add(reason, message string) { w[reason] = append(w[reason], message) }

// annotations adds those of users that have no effect.
func (w warned) annotations(kafka *kafkav1beta2.Kafka, o *observation.Objects) {
	invalid, unknown := annotations.Invalid(labels.KindKafka, kafka), annotations.Unknown(labels.KindKafka, kafka)
	for _, pool := range o.Pools {
		unknown = append(unknown, annotations.Unknown(labels.KindNodePool, pool)...)
	}
	for _, set := range o.PodSets {
		invalid = append(invalid, annotations.Invalid(labels.KindSet, set)...)
	}
	for _, pod := range o.Pods {
		invalid = append(invalid, annotations.Invalid(labels.KindPod, pod)...)
	}
	for _, text := range invalid {
		w.add(labels.InvalidAnnotation, text)
	}
	for _, text := range unknown {
		w.add(labels.UnknownAnnotation, text)
	}
}

// longestID is the maximum length of what follows the names of cluster and pool in the name of a pod: an id, and two dashes.
const longestID = len("--2147483647")

func (w warned) names(kafka *kafkav1beta2.Kafka, pools []*kafkav1beta2.KafkaNodePool) {
	for _, pool := range pools {
		highest := int32(0)
		ids, _ := observation.OfPoolStatus(kafka, pool)
		for _, id := range ids {
			highest = max(highest, id)
		}
		if len(kafka.Name)+len(pool.Name)+longestID <= observation.LongestPodName {
			continue
		}
		if name := observation.PodName(kafka.Name, pool.Name, highest); len(name) > observation.LongestPodName {
			w.add(ReasonNameTooLong, fmt.Sprintf("pod %s of KafkaNodePool %s would have a name of %d characters, and Kubernetes takes %d: make a pool with a shorter name",
				name, pool.Name, len(name), observation.LongestPodName))
		}
	}
}

func (w warned) listeners(spec *kafkav1beta2.KafkaClusterSpec) {
	for i := range spec.Listeners {
		l := &spec.Listeners[i]
		switch {
		case render.Served(l):
		case l.Type != kafkav1beta2.ListenerInternal:
			w.add(ReasonUnsupportedListener, fmt.Sprintf("listener %s is of type %s and is not served: only internal ones are", l.Name, l.Type))
		default:
			w.add(ReasonNotServedYet, fmt.Sprintf("listener %s requires TLS and is not served yet: nothing listens on port %d", l.Name, l.Port))
		}
	}
}

func (w warned) config(spec *kafkav1beta2.KafkaClusterSpec) {
	properties, err := spec.Properties()
	if err != nil {
		w.add(ReasonInvalidConfig, err.Error())
	}
	var left, secret []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		switch {
		case render.Reserved(name):
			left = append(left, name)
		case render.Secret(name, properties[name]):
			secret = append(secret, name)
		}
	}
	if len(secret) > 0 {
		w.add(ReasonSecretInConfig, "left out of the configuration, which lies in a ConfigMap and is no place for secrets: "+strings.Join(secret, ", ")+
			". Write a reference that a config provider of Kafka resolves in the broker, such as ${env:NAME}. Its variable or file must be in the image, which spec.kafka.image names")
	}
	if len(left) > 0 {
		w.add(ReasonReservedConfig, "left out of the configuration, since the cluster manages them itself: "+strings.Join(left, ", "))
	}
}

func (w warned) components(spec *kafkav1beta2.KafkaSpec) {
	var without []string
	if e := spec.EntityOperator; e != nil {
		if e.TopicOperator != nil && e.TopicOperator.Image == "" {
			without = append(without, "spec.entityOperator.topicOperator")
		}
		if e.UserOperator != nil && e.UserOperator.Image == "" {
			without = append(without, "spec.entityOperator.userOperator")
		}
	}
	if len(without) > 0 {
		w.add(ReasonNotDeployed, "there is no default image of "+strings.Join(without, " and ")+". Set image to deploy one of your own")
	}
	if problem := render.ExporterProblem(spec.KafkaExporter); problem != nil {
		w.add(string(problem.Reason), problem.Message+": the exporter is not deployed, or stays as it was")
	}
}

// longestMessage limits a message. The schema permits 32 KiB, which is far too long for a user.
const longestMessage = 1024

func (w warned) conditions() []metav1.Condition {
	out := make([]metav1.Condition, 0, len(w))
	for _, reason := range slices.Sorted(maps.Keys(w)) {
		message := strings.Join(w[reason], "; ")
		if len(message) > longestMessage {
			message = strings.ToValidUTF8(message[:longestMessage], "") + "…"
		}
		out = append(out, metav1.Condition{Type: lifecycle.Warning, Status: metav1.ConditionTrue, Reason: reason, Message: message})
	}
	return out
}

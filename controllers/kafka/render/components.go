package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

const (
	// DefaultExporterImage is used if kafkaExporter has no image.
	DefaultExporterImage = "danielqsj/kafka-exporter:v1.9.0"
	// PortExporter is the port of /metrics.
	PortExporter = 9308
	// exporterUser is the numeric id of the user in the exporter's image: with runAsNonRoot, a kubelet cannot verify a user
	// name.
	exporterUser = 65534
)

// minReadySeconds is how long a pod of a component is ready until it counts as available: one whose process ends soon after each start is ready
// between two crashes.
const minReadySeconds = 10

// ReasonInvalidComponent is the reason of a component that cannot run with its spec.
const ReasonInvalidComponent = "InvalidComponent"

// ExporterProblem returns why the exporter cannot run with its spec; nil if it can, or if there is none. The exporter exits at
// once if a regular expression in its flags is invalid.
func ExporterProblem(e *kafkav1beta2.KafkaExporterSpec) *transitions.Problem {
	if e == nil {
		return nil
	}
	for _, f := range exporterFilters(e) {
		if _, err := regexp.Compile(f.expression); err != nil {
			return transitions.Problemf(ReasonInvalidComponent, "spec.kafkaExporter.%s is not a regular expression: %v", f.field, err)
		}
	}
	return nil
}

// filter is a flag of the exporter whose value is a regular expression.
type filter struct{ field, flag, expression, fallback string }

func exporterFilters(e *kafkav1beta2.KafkaExporterSpec) []filter {
	return []filter{
		{"groupRegex", "group.filter", e.GroupRegex, ".*"}, {"topicRegex", "topic.filter", e.TopicRegex, ".*"},
		{"groupExcludeRegex", "group.exclude", e.GroupExcludeRegex, ""}, {"topicExcludeRegex", "topic.exclude", e.TopicExcludeRegex, ""},
	}
}

func (c *Cluster) exporter(e *kafkav1beta2.KafkaExporterSpec) corev1.Container {
	container := c.component("kafka-exporter", cmp.Or(e.Image, DefaultExporterImage), e.Resources)
	container.SecurityContext.RunAsUser = new(int64(exporterUser))
	container.Args = []string{"--kafka.server=" + c.bootstrap()}
	for _, f := range exporterFilters(e) {
		if expression := cmp.Or(f.expression, f.fallback); expression != "" {
			container.Args = append(container.Args, "--"+f.flag+"="+expression)
		}
	}
	container.Ports = []corev1.ContainerPort{{Name: "tcp-prometheus", ContainerPort: PortExporter, Protocol: corev1.ProtocolTCP}}
	// The exporter listens once it has connected to a broker. A request of its metrics would send requests to Kafka.
	container.ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(PortExporter)}},
		PeriodSeconds: 10, TimeoutSeconds: 5, SuccessThreshold: 1, FailureThreshold: 3,
	}
	return container
}

// Components renders the Deployments of the cluster: the exporter, and the topic and user operators that have an image. It omits a
// component that cannot run with its spec; ExporterProblem returns the reason.
func (c *Cluster) Components() []*appsv1.Deployment {
	return always(c, part{kind: "components"}, c.components)
}

func (c *Cluster) components() []*appsv1.Deployment {
	var out []*appsv1.Deployment
	if e := c.in.Spec.EntityOperator; e != nil {
		var containers []corev1.Container
		containers = c.operator(containers, "topic-operator", e.TopicOperator)
		containers = c.operator(containers, "user-operator", e.UserOperator)
		out = c.deployment(out, EntityOperatorName(c.in.Name), "entity-operator", containers) // with a token: they read topics and users
	}
	if e := c.in.Spec.KafkaExporter; e != nil && ExporterProblem(e) == nil {
		out = c.deployment(out, ExporterName(c.in.Name), "kafka-exporter", []corev1.Container{c.exporter(e)}, withoutToken)
	}
	return out
}

func (c *Cluster) bootstrap() string { return BootstrapName(c.in.Name) + ":9091" }

func (c *Cluster) operator(list []corev1.Container, name string, spec *kafkav1beta2.EntityOperatorComponent) []corev1.Container {
	if spec == nil || spec.Image == "" {
		return list
	}
	container := c.component(name, spec.Image, spec.Resources)
	container.Env = []corev1.EnvVar{
		{Name: "STRIMZI_NAMESPACE", Value: c.in.Namespace},
		{Name: "STRIMZI_RESOURCE_LABELS", Value: labels.Cluster + "=" + c.in.Name},
		{Name: "STRIMZI_LABELS", Value: labels.Cluster + "=" + c.in.Name},
		{Name: "STRIMZI_KAFKA_BOOTSTRAP_SERVERS", Value: c.bootstrap()},
		{Name: "STRIMZI_TLS_ENABLED", Value: "false"},
	}
	return append(list, container)
}

func (c *Cluster) component(name, image string, resources *corev1.ResourceRequirements) corev1.Container {
	container := corev1.Container{
		Name: name, Image: image, ImagePullPolicy: corev1.PullIfNotPresent, SecurityContext: hardened(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
	}
	if resources != nil {
		container.Resources = corev1.ResourceRequirements{Requests: resources.Requests, Limits: resources.Limits}
	}
	return container
}

// withoutToken keeps the token of the namespace's ServiceAccount out of a pod that sends no requests to Kubernetes.
func withoutToken(pod *corev1.PodSpec) { pod.AutomountServiceAccountToken = new(false) }

func (c *Cluster) deployment(list []*appsv1.Deployment, name, component string, containers []corev1.Container, change ...func(*corev1.PodSpec)) []*appsv1.Deployment {
	if len(containers) == 0 {
		return list
	}
	l := c.labels(name)
	l[labels.AppName], l[labels.Component] = component, component
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.in.Namespace, Labels: l},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), MinReadySeconds: minReadySeconds,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{labels.Cluster: c.in.Name, labels.Kind: labels.KindKafka, labels.Name: name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: l},
				Spec: corev1.PodSpec{
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					ImagePullSecrets: c.in.Spec.Kafka.ImagePullSecrets,
					Containers:       containers,
					Volumes:          []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				},
			},
		},
	}
	for _, do := range change {
		do(&d.Spec.Template.Spec)
	}
	d.Annotations = map[string]string{labels.Template: templateHash(&d.Spec.Template)}
	return append(list, d)
}

// templateHash returns a short hash of a rendered pod template. The stored template is not used, because webhooks may change it.
func templateHash(t *corev1.PodTemplateSpec) string {
	text, err := json.Marshal(t)
	if err != nil {
		return "" // a template always encodes
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

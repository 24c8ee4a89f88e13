package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Components renders the Deployments beside the nodes: those that the spec names with an image.
func (c *Cluster) Components() []*appsv1.Deployment { return always(c, "components", c.components) }

func (c *Cluster) components() []*appsv1.Deployment {
	var out []*appsv1.Deployment
	if e := c.in.Spec.EntityOperator; e != nil {
		var containers []corev1.Container
		containers = c.operator(containers, "topic-operator", e.TopicOperator)
		containers = c.operator(containers, "user-operator", e.UserOperator)
		out = c.deployment(out, EntityOperatorName(c.in.Name), "entity-operator", containers)
	}
	if e := c.in.Spec.KafkaExporter; e != nil && e.Image != "" {
		container := c.component("kafka-exporter", e.Image, e.Resources)
		container.Env = []corev1.EnvVar{{Name: "KAFKA_EXPORTER_KAFKA_SERVER", Value: c.bootstrap()}}
		out = c.deployment(out, ExporterName(c.in.Name), "kafka-exporter", []corev1.Container{container})
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

func (c *Cluster) deployment(list []*appsv1.Deployment, name, component string, containers []corev1.Container) []*appsv1.Deployment {
	if len(containers) == 0 {
		return list
	}
	l := c.labels(name)
	l[labels.AppName], l[labels.Component] = component, component
	return append(list, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.in.Namespace, Labels: l},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
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
	})
}

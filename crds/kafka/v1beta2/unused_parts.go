package v1beta2

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

func (s *KafkaClusterSpec) unused(fields *setFields) {
	fields.add("spec.kafka.replicas", s.Replicas != nil)
	fields.add("spec.kafka.storage", s.Storage != nil)
	fields.add("spec.kafka.authorization", s.Authorization != nil)
	fields.add("spec.kafka.rack", s.Rack != nil)
	fields.add("spec.kafka.brokerRackInitImage", s.BrokerRackInitImage != "")
	fields.add("spec.kafka.livenessProbe", s.LivenessProbe != nil)
	fields.add("spec.kafka.readinessProbe", s.ReadinessProbe != nil)
	fields.add("spec.kafka.jmxOptions", s.JmxOptions != nil)
	fields.add("spec.kafka.metricsConfig", s.MetricsConfig != nil)
	fields.add("spec.kafka.logging", s.Logging != nil)
	fields.add("spec.kafka.template", s.Template != nil)
	fields.add("spec.kafka.tieredStorage", s.TieredStorage != nil)
	fields.add("spec.kafka.quotas", s.Quotas != nil)
	for _, listener := range s.Listeners {
		listener.unused(fmt.Sprintf("spec.kafka.listeners[%s]", listener.Name), fields)
	}
	unusedClaims("spec.kafka.resources", s.Resources, fields)
	s.JvmOptions.unused("spec.kafka.jvmOptions", fields)
}

func (l *Listener) unused(at string, fields *setFields) {
	fields.add(at+".authentication", l.Authentication != nil)
	fields.add(at+".configuration", l.Configuration != nil)
	fields.add(at+".networkPolicyPeers", len(l.NetworkPolicyPeers) > 0)
}

func (o *JvmOptions) unused(at string, fields *setFields) {
	if o == nil {
		return
	}
	fields.add(at+".-XX", len(o.XX) > 0)
	fields.add(at+".gcLoggingEnabled", o.GcLoggingEnabled != nil)
	fields.add(at+".javaSystemProperties", len(o.JavaSystemProperties) > 0)
}

// unusedClaims adds the claims of dynamic resource allocation. They have no effect because the pod has no matching claim.
func unusedClaims(at string, resources *corev1.ResourceRequirements, fields *setFields) {
	fields.add(at+".claims", resources != nil && len(resources.Claims) > 0)
}

func (d *Disk) unused(at string, fields *setFields) {
	fields.add(at+".selector", len(d.Selector) > 0)
	fields.add(at+".overrides", len(d.Overrides) > 0)
	fields.add(at+".volumeAttributesClass", d.VolumeAttributesClass != "")
}

func (t *NodePoolTemplate) unused(fields *setFields) {
	if t == nil {
		return
	}
	fields.add("spec.template.podSet", t.PodSet != nil)
	fields.add("spec.template.pod", t.Pod != nil)
	fields.add("spec.template.kafkaContainer", t.KafkaContainer != nil)
	fields.add("spec.template.initContainer", t.InitContainer != nil)
	fields.add("spec.template.persistentVolumeClaim", t.PersistentVolumeClaim != nil)
	fields.add("spec.template.perPodService", t.PerPodService != nil)
	fields.add("spec.template.perPodRoute", t.PerPodRoute != nil)
	fields.add("spec.template.perPodIngress", t.PerPodIngress != nil)
}

func (s *EntityOperatorSpec) unused(fields *setFields) {
	if s == nil {
		return
	}
	fields.add("spec.entityOperator.template", s.Template != nil)
	fields.add("spec.entityOperator.tlsSidecar", s.TLSSidecar != nil)
	s.TopicOperator.unused("spec.entityOperator.topicOperator", fields)
	s.UserOperator.unused("spec.entityOperator.userOperator", fields)
}

func (c *EntityOperatorComponent) unused(at string, fields *setFields) {
	if c == nil {
		return
	}
	unusedClaims(at+".resources", c.Resources, fields)
	fields.add(at+".watchedNamespace", c.WatchedNamespace != "")
	fields.add(at+".reconciliationIntervalSeconds", c.ReconciliationIntervalSeconds != nil)
	fields.add(at+".reconciliationIntervalMs", c.ReconciliationIntervalMs != nil)
	fields.add(at+".zookeeperSessionTimeoutSeconds", c.ZookeeperSessionTimeoutSeconds != nil)
	fields.add(at+".topicMetadataMaxAttempts", c.TopicMetadataMaxAttempts != nil)
	fields.add(at+".secretPrefix", c.SecretPrefix != "")
	fields.add(at+".startupProbe", c.StartupProbe != nil)
	fields.add(at+".livenessProbe", c.LivenessProbe != nil)
	fields.add(at+".readinessProbe", c.ReadinessProbe != nil)
	fields.add(at+".logging", c.Logging != nil)
	fields.add(at+".jvmOptions", c.JvmOptions != nil)
}

func (s *KafkaExporterSpec) unused(fields *setFields) {
	if s == nil {
		return
	}
	const at = "spec.kafkaExporter"
	unusedClaims(at+".resources", s.Resources, fields)
	fields.add(at+".logging", s.Logging != "")
	fields.add(at+".enableSaramaLogging", s.EnableSaramaLogging != nil)
	fields.add(at+".showAllOffsets", s.ShowAllOffsets != nil)
	fields.add(at+".livenessProbe", s.LivenessProbe != nil)
	fields.add(at+".readinessProbe", s.ReadinessProbe != nil)
	fields.add(at+".template", s.Template != nil)
}

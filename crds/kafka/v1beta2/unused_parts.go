package v1beta2

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

func (s *KafkaClusterSpec) unused(fields *setFields) {
	fields.add("spec.kafka.replicas", s.Replicas != nil)
	fields.add("spec.kafka.storage", s.Storage != nil)
	fields.add("spec.kafka.authorization", s.Authorization != nil)
	fields.add("spec.kafka.brokerRackInitImage", s.BrokerRackInitImage != "")
	fields.add("spec.kafka.livenessProbe", s.LivenessProbe != nil)
	fields.add("spec.kafka.readinessProbe", s.ReadinessProbe != nil)
	fields.add("spec.kafka.jmxOptions", s.JmxOptions != nil)
	fields.add("spec.kafka.metricsConfig", s.MetricsConfig != nil)
	fields.add("spec.kafka.logging", s.Logging != nil)
	s.Template.unused(fields)
	fields.add("spec.kafka.tieredStorage", s.TieredStorage != nil)
	fields.add("spec.kafka.quotas", s.Quotas != nil)
	for _, listener := range s.Listeners {
		listener.unused(fmt.Sprintf("spec.kafka.listeners[%s]", listener.Name), fields)
	}
	unusedClaims("spec.kafka.resources", s.Resources, fields)
	s.JvmOptions.unused("spec.kafka.jvmOptions", fields)
}

func (l *Listener) unused(at string, fields *setFields) {
	fields.addIn(at, ".authentication", l.Authentication != nil)
	fields.addIn(at, ".configuration", l.Configuration != nil)
	fields.addIn(at, ".networkPolicyPeers", len(l.NetworkPolicyPeers) > 0)
}

func (o *JvmOptions) unused(at string, fields *setFields) {
	if o == nil {
		return
	}
	fields.addIn(at, ".-XX", len(o.XX) > 0)
	fields.addIn(at, ".gcLoggingEnabled", o.GcLoggingEnabled != nil)
	fields.addIn(at, ".javaSystemProperties", len(o.JavaSystemProperties) > 0)
}

// unusedClaims adds the claims of dynamic resource allocation. They have no effect because the pod has no matching claim.
func unusedClaims(at string, resources *corev1.ResourceRequirements, fields *setFields) {
	fields.addIn(at, ".claims", resources != nil && len(resources.Claims) > 0)
}

func (d *Disk) unused(at string, fields *setFields) {
	fields.addIn(at, ".selector", len(d.Selector) > 0)
	fields.addIn(at, ".overrides", len(d.Overrides) > 0)
	fields.addIn(at, ".volumeAttributesClass", d.VolumeAttributesClass != "")
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
	fields.addIn(at, ".watchedNamespace", c.WatchedNamespace != "")
	fields.addIn(at, ".reconciliationIntervalSeconds", c.ReconciliationIntervalSeconds != nil)
	fields.addIn(at, ".reconciliationIntervalMs", c.ReconciliationIntervalMs != nil)
	fields.addIn(at, ".zookeeperSessionTimeoutSeconds", c.ZookeeperSessionTimeoutSeconds != nil)
	fields.addIn(at, ".topicMetadataMaxAttempts", c.TopicMetadataMaxAttempts != nil)
	fields.addIn(at, ".secretPrefix", c.SecretPrefix != "")
	fields.addIn(at, ".startupProbe", c.StartupProbe != nil)
	fields.addIn(at, ".livenessProbe", c.LivenessProbe != nil)
	fields.addIn(at, ".readinessProbe", c.ReadinessProbe != nil)
	fields.addIn(at, ".logging", c.Logging != nil)
	fields.addIn(at, ".jvmOptions", c.JvmOptions != nil)
}

func (s *KafkaExporterSpec) unused(fields *setFields) {
	if s == nil {
		return
	}
	const at = "spec.kafkaExporter"
	unusedClaims(at+".resources", s.Resources, fields)
	fields.addIn(at, ".logging", s.Logging != "")
	fields.addIn(at, ".enableSaramaLogging", s.EnableSaramaLogging != nil)
	fields.addIn(at, ".showAllOffsets", s.ShowAllOffsets != nil)
	fields.addIn(at, ".livenessProbe", s.LivenessProbe != nil)
	fields.addIn(at, ".readinessProbe", s.ReadinessProbe != nil)
	fields.addIn(at, ".template", s.Template != nil)
}

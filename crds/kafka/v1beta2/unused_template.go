package v1beta2

func (t *ClusterTemplate) unused(fields *setFields) {
	if t == nil {
		return
	}
	t.Pod.unused("spec.kafka.template.pod", fields)
	fields.add("spec.kafka.template.podSet", t.PodSet != nil)
	fields.add("spec.kafka.template.kafkaContainer", t.KafkaContainer != nil)
	fields.add("spec.kafka.template.initContainer", t.InitContainer != nil)
	fields.add("spec.kafka.template.persistentVolumeClaim", t.PersistentVolumeClaim != nil)
	fields.add("spec.kafka.template.perPodService", t.PerPodService != nil)
	fields.add("spec.kafka.template.perPodRoute", t.PerPodRoute != nil)
	fields.add("spec.kafka.template.perPodIngress", t.PerPodIngress != nil)
	fields.add("spec.kafka.template.statefulset", t.Statefulset != nil)
	fields.add("spec.kafka.template.bootstrapService", t.BootstrapService != nil)
	fields.add("spec.kafka.template.brokersService", t.BrokersService != nil)
	fields.add("spec.kafka.template.externalBootstrapService", t.ExternalBootstrapService != nil)
	fields.add("spec.kafka.template.externalBootstrapRoute", t.ExternalBootstrapRoute != nil)
	fields.add("spec.kafka.template.externalBootstrapIngress", t.ExternalBootstrapIngress != nil)
	fields.add("spec.kafka.template.podDisruptionBudget", t.PodDisruptionBudget != nil)
	fields.add("spec.kafka.template.clusterCaCert", t.ClusterCACert != nil)
	fields.add("spec.kafka.template.serviceAccount", t.ServiceAccount != nil)
	fields.add("spec.kafka.template.jmxSecret", t.JmxSecret != nil)
	fields.add("spec.kafka.template.clusterRoleBinding", t.ClusterRoleBinding != nil)
}

func (t *NodePoolTemplate) unused(fields *setFields) {
	if t == nil {
		return
	}
	t.Pod.unused("spec.template.pod", fields)
	fields.add("spec.template.podSet", t.PodSet != nil)
	fields.add("spec.template.kafkaContainer", t.KafkaContainer != nil)
	fields.add("spec.template.initContainer", t.InitContainer != nil)
	fields.add("spec.template.persistentVolumeClaim", t.PersistentVolumeClaim != nil)
	fields.add("spec.template.perPodService", t.PerPodService != nil)
	fields.add("spec.template.perPodRoute", t.PerPodRoute != nil)
	fields.add("spec.template.perPodIngress", t.PerPodIngress != nil)
}

func (t *PodTemplate) unused(at string, fields *setFields) {
	if t == nil {
		return
	}
	fields.addIn(at, ".securityContext", t.SecurityContext != nil)
	fields.addIn(at, ".imagePullSecrets", len(t.ImagePullSecrets) > 0)
	fields.addIn(at, ".hostAliases", len(t.HostAliases) > 0)
	fields.addIn(at, ".enableServiceLinks", t.EnableServiceLinks != nil)
	fields.addIn(at, ".tmpDirSizeLimit", t.TmpDirSizeLimit != "")
	fields.addIn(at, ".volumes", len(t.Volumes) > 0)
	fields.addIn(at, ".dnsPolicy", t.DNSPolicy != "")
	fields.addIn(at, ".dnsConfig", t.DNSConfig != nil)
	fields.addIn(at, ".hostUsers", t.HostUsers != nil)
}

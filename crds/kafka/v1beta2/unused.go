package v1beta2

import (
	"fmt"
	"slices"
)

// setFields are the paths of fields that a resource sets.
type setFields []string

func (f *setFields) add(path string, set bool) {
	if set {
		*f = append(*f, path)
	}
}

// addIn adds a field of the part at a path. Of a field that is not set it builds no path: most are not.
func (f *setFields) addIn(at, field string, set bool) {
	if set {
		*f = append(*f, at+field)
	}
}

func (f setFields) sorted() []string {
	slices.Sort(f)
	return f
}

// UnusedFields returns the paths of the fields that the spec sets and that have no effect, sorted. A listener is identified by
// its name and a volume by its id, in brackets.
func (s *KafkaSpec) UnusedFields() []string {
	var fields setFields
	fields.add("spec.clientsCa", s.ClientsCa != nil)
	fields.add("spec.cruiseControl", s.CruiseControl != nil)
	fields.add("spec.jmxTrans", s.JmxTrans != nil)
	fields.add("spec.zookeeper", s.Zookeeper != nil)
	fields.add("spec.maintenanceTimeWindows", len(s.MaintenanceTimeWindows) > 0)
	s.ClusterCa.unused(&fields)
	s.Kafka.unused(&fields)
	s.EntityOperator.unused(&fields)
	s.KafkaExporter.unused(&fields)
	return fields.sorted()
}

// UnusedFields returns the paths of the fields that the spec sets and that have no effect, sorted.
func (s *KafkaMirrorMaker2Spec) UnusedFields() []string {
	var fields setFields
	fields.add("spec.metricsConfig", s.MetricsConfig != nil)
	return fields.sorted()
}

func (a *CertificateAuthority) unused(fields *setFields) {
	if a == nil {
		return
	}
	const at = "spec.clusterCa."
	fields.addIn(at, "generateCertificateAuthority", a.GenerateCertificateAuthority != nil)
	fields.addIn(at, "validityDays", a.ValidityDays != nil)
	fields.addIn(at, "renewalDays", a.RenewalDays != nil)
	fields.addIn(at, "certificateExpirationPolicy", a.CertificateExpirationPolicy != "")
	fields.addIn(at, "generateSecretOwnerReference", a.GenerateSecretOwnerReference != nil)
}

// UnusedFields returns the paths of the fields that the spec sets and that have no effect, sorted. A volume is identified by
// its id, in brackets.
func (s *KafkaNodePoolSpec) UnusedFields() []string {
	var fields setFields
	s.Storage.Disk.unused("spec.storage", &fields)
	for _, volume := range s.Storage.Volumes {
		volume.unused(fmt.Sprintf("spec.storage.volumes[%d]", volume.ID), &fields)
	}
	unusedClaims("spec.resources", s.Resources, &fields)
	s.JvmOptions.unused("spec.jvmOptions", &fields)
	s.Template.unused(&fields)
	return fields.sorted()
}

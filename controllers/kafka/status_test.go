package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/detent-dev/detent/controllers/kafka/status"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// A component that is declared and can run keeps Ready false until it is available in its desired state.
func TestComponentsReady(t *testing.T) {
	const exporter = "my-cluster-kafka-exporter"
	r := single(t)
	k := r.cluster()
	k.Spec.EntityOperator = &kafkav1beta2.EntityOperatorSpec{TopicOperator: &kafkav1beta2.EntityOperatorComponent{}}
	k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{}
	r.must(r.client.Update(t.Context(), k))
	message := func() string {
		for _, c := range status.Project(r.cluster(), r.snapshot(false), lifecycle.ProjectRequest{Now: noon}) {
			if c.Reason == "ComponentsNotReady" {
				return c.Message
			}
		}
		return ""
	}
	check := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, message()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("before the nodes run", "Deployment "+exporter+" does not exist yet: components are deployed once every node is ready")
	r.settle()
	check("deployed and not observed", "Deployment "+exporter+" is being updated")
	d := &appsv1.Deployment{}
	r.must(r.get(d, exporter))
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation}
	r.must(r.client.Status().Update(t.Context(), d))
	check("observed and not started", "Deployment "+exporter+" has 0 of 1 updated pods available")
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	r.must(r.client.Status().Update(t.Context(), d))
	check("available: an entity operator without an image keeps nothing back", "")
	k = r.cluster()
	k.Spec.KafkaExporter.GroupRegex = "shop-.*"
	r.must(r.client.Update(t.Context(), k))
	check("declared anew, before anything was applied", "Deployment "+exporter+" is being updated")
	k.Spec.KafkaExporter.GroupRegex = "("
	r.must(r.client.Update(t.Context(), k))
	check("declared so that it cannot run", "spec.kafkaExporter.groupRegex is not a regular expression: error parsing regexp: missing closing ): `(`")
	r.settle()
	if err := r.get(d, exporter); err != nil {
		t.Errorf("the exporter that ran does not stay: %v", err)
	}
	k = r.cluster()
	k.Spec.KafkaExporter = nil
	r.must(r.client.Update(t.Context(), k))
	check("not declared any more", "")
}

// A resource for Strimzi gets warnings about its parts that are not acted on.
func TestProjectWarnsOfUpstreamExample(t *testing.T) {
	r := newRig(t, manifests(t, upstream+"v1/kafka-persistent.yaml")...)
	r.settle()
	var reasons []string
	for _, c := range status.Project(r.cluster(), r.snapshot(false), lifecycle.ProjectRequest{Now: noon}) {
		if c.Type == lifecycle.Warning {
			reasons = append(reasons, c.Reason)
		}
	}
	if diff := cmp.Diff([]string{status.ReasonNotDeployed, status.ReasonNotServedYet}, reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

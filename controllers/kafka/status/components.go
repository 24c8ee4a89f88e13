package status

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// componentsReady sets Ready to false while a component that the spec declares and that can run is not deployed and available in
// its desired state. A component without an image only gives a Warning.
func componentsReady(k *kafkav1beta2.Kafka, v *observation.Snapshot) metav1.Condition {
	var missing []string
	if problem := render.ExporterProblem(k.Spec.KafkaExporter); problem != nil {
		missing = append(missing, problem.Message)
	}
	if v.Rendered != nil {
		for _, want := range v.Rendered.Components() {
			if problem := rollout(want, observation.Named(v.Objects.Deployments, want.Name)); problem != nil {
				missing = append(missing, "Deployment "+want.Name+" "+problem.Message)
			}
		}
	}
	if len(missing) == 0 {
		return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionTrue, Reason: "ComponentsReady"}
	}
	return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: "ComponentsNotReady", Message: strings.Join(missing, "; ")}
}

// rollout describes what is left until a Deployment has its desired state; nil if it has.
func rollout(want, have *appsv1.Deployment) *transitions.Problem {
	switch {
	case have == nil:
		return transitions.Problemf("DeploymentMissing", "does not exist yet: components are deployed once every node is ready")
	case have.DeletionTimestamp != nil:
		return transitions.Problemf("DeploymentDeleting", "is being deleted")
	case have.Annotations[labels.Template] != want.Annotations[labels.Template] || have.Status.ObservedGeneration < have.Generation:
		return transitions.Problemf("DeploymentUpdating", "is being updated")
	}
	pods, s := *want.Spec.Replicas, &have.Status
	if s.UpdatedReplicas >= pods && s.AvailableReplicas >= s.UpdatedReplicas && s.Replicas <= s.UpdatedReplicas {
		return nil
	}
	parts := []string{fmt.Sprintf("has %d of %d updated pods available", min(s.UpdatedReplicas, s.AvailableReplicas), pods)}
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse || c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			parts = append(parts, c.Message)
		}
	}
	return transitions.Problemf("PodsNotAvailable", "%s", strings.Join(parts, ": "))
}

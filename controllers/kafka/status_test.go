package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
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

// A change of the controllers that is refused keeps Ready, and the version of the operator, back until the spec is changed back.
func TestARefusedChangeOfControllersIsNotReady(t *testing.T) {
	for name, tc := range map[string]struct {
		pool            string
		change          func(*kafkav1beta2.KafkaNodePool)
		reason, message string
	}{
		"a pool of controllers grows": {
			pool: "controller", change: func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 3 }, reason: nodeids.ReasonFrozen,
			message: "KafkaNodePool controller stays at 1 nodes and does not go to 3: the controllers of a cluster that was started are its voters, and a static quorum " +
				"cannot change them: set spec.replicas back to 1",
		},
		"brokers become controllers": {
			pool: "broker", change: func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Roles = append(p.Spec.Roles, kafkav1beta2.RoleController) }, reason: status.ReasonRolesNotChanged,
			message: "KafkaNodePool broker declares other roles than my-cluster-broker-0 run with: controllers of a static quorum cannot change, and a broker with " +
				"partitions is not taken away: set spec.roles back, or make another pool",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 1, roleBroker))
			w.collector.Options.OperatorVersion = "next-operator"
			w.reconciler = w.rig.reconciler(t, w.client, w.client)
			var before kafkav1beta2.KafkaNodePoolSpec
			w.edit(tc.pool, func(p *kafkav1beta2.KafkaNodePool) { before = *p.Spec.DeepCopy(); tc.change(p) })
			w.run(20)
			want := metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: tc.reason, Message: tc.message}
			if diff := cmp.Diff(want, w.ready(), cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime", "ObservedGeneration")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := w.cluster().Status.OperatorLastSuccessfulVersion; got != operatorVersion {
				t.Errorf("the version of the operator is %s, want %s", got, operatorVersion)
			}
			w.edit(tc.pool, func(p *kafkav1beta2.KafkaNodePool) { p.Spec = before })
			w.run(20)
			if got := w.ready(); got.Status != metav1.ConditionTrue {
				t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
			}
			if got := w.cluster().Status.OperatorLastSuccessfulVersion; got != "next-operator" {
				t.Errorf("the version of the operator is %s, want the next one", got)
			}
		})
	}
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

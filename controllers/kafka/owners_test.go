package kafka

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A claim has no owner unless the user has requested its deletion. Every object without data is owned by the cluster.
func TestApplyOwners(t *testing.T) {
	r := separate(t)
	r.settle()
	claim, rec, config := &corev1.PersistentVolumeClaim{}, &corev1.ConfigMap{}, &corev1.ConfigMap{}
	r.must(r.get(claim, "data-0-my-cluster-broker-0"))
	r.must(r.get(rec, "my-cluster-broker-0-record"))
	r.must(r.get(config, "my-cluster-broker-0"))
	if len(claim.OwnerReferences) != 0 || len(rec.OwnerReferences) != 0 {
		t.Errorf("claim is owned by %v, record by %v", claim.OwnerReferences, rec.OwnerReferences)
	}
	if len(config.OwnerReferences) != 1 || config.OwnerReferences[0].APIVersion != "kafka.strimzi.io/v1beta2" {
		t.Errorf("configuration is owned by %v", config.OwnerReferences)
	}
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "broker"))
	yes := true
	pool.Spec.Storage.Volumes[0].DeleteClaim = &yes
	r.must(r.client.Update(t.Context(), pool))
	r.settle()
	r.must(r.get(claim, "data-0-my-cluster-broker-0"))
	if len(claim.OwnerReferences) != 1 {
		t.Errorf("with deleteClaim, the claim is owned by %v", claim.OwnerReferences)
	}
}

// An object of the same name with another owner is not adopted: the user must resolve the conflict.
func TestApplyTakesNoObjectOfAnotherOwner(t *testing.T) {
	r := separate(t)
	foreign := &corev1.Service{}
	foreign.Name, foreign.Namespace = "my-cluster-kafka-bootstrap", "default"
	r.must(r.client.Create(t.Context(), foreign))
	r.must(r.pass())
	err := r.pass()
	if err == nil || !strings.Contains(err.Error(), "strimzi.io/cluster") && !strings.Contains(err.Error(), "lacks the label") {
		t.Fatalf("error %v, want one that says what to do", err)
	}
	// The nodes do not wait for it.
	if r.record("my-cluster-broker-0").Format == "" {
		t.Error("no record was made")
	}
}

package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// A cluster in its desired state is unchanged by arbitrary statuses of the cluster and its pools: no node is removed or restarted
// and no request is sent to Kafka because of a status, no machine is defective, and a lifecycle that waits has a reason.
func FuzzStatus(f *testing.F) {
	world := restingWorld(f)
	for _, status := range []string{
		`{}`,
		`{"lifecycles": [{"name": "version", "state": "Raising", "enteredAt": null, "attempt": {"id": "x", "to": "9.9.9", "startedAt": null}, "data": {"node": "-1"}, "edges": -9}]}`,
		`{"lifecycles": [{"name": "version", "state": "RollingOut"}, {"name": "roll", "state": "Restarting", "data": {"node": "0"}}, {"name": "x", "state": ""}]}`,
		`{"observedGeneration": 99, "clusterId": "another", "nodeIds": [-1, 2147483647], "kafkaVersion": "x", "kafkaMetadataVersion": "y", "conditions": [{"type": ""}]}`,
	} {
		f.Add([]byte(status), []byte(`{"nodeIds": [-1, 0, 77], "clusterId": "z", "roles": ["x"]}`))
	}
	for _, name := range []string{"Restarting", "Draining", "Selecting", "AwaitingReady", "Settled", "Finalizing"} {
		f.Add([]byte(`{"lifecycles": [{"name": "version", "state": "`+name+`"}, {"name": "roll", "state": "`+name+`", "deadline": "0001-01-01T00:00:00Z"}]}`), []byte(`{}`))
	}
	f.Fuzz(func(t *testing.T, status, poolStatus []byte) {
		var stored kafkav1beta2.KafkaStatus
		var pool kafkav1beta2.KafkaNodePoolStatus
		if json.Unmarshal(status, &stored) != nil || json.Unmarshal(poolStatus, &pool) != nil {
			return // no status
		}
		r := world.with(t, &stored, &pool)
		reconciler := r.reconciler(t, r.client, r.client)
		for range 12 {
			err := pass(t, reconciler, r.key)
			if err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
			r.clock.Step(45 * time.Second)
		}
		r.judge()
	})
}

// resting is a cluster at rest, as objects.
type resting struct {
	objects []client.Object
	kafka   kafkaSide
	now     time.Time
}

func restingWorld(f *testing.F) *resting {
	f.Helper()
	r := separate(f)
	k := r.cluster()
	r.version, k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = "4.0.0", "4.0.0", "4.0-IV3"
	r.must(r.client.Update(context.Background(), k))
	r.rest(f)
	w := &resting{kafka: *r.kafka, now: r.clock.Now()}
	for _, list := range []client.ObjectList{
		&kafkav1beta2.KafkaList{}, &kafkav1beta2.KafkaNodePoolList{}, &corev1beta2.StrimziPodSetList{}, &corev1.PodList{}, &corev1.ConfigMapList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &policyv1.PodDisruptionBudgetList{}, &appsv1.DeploymentList{},
	} {
		r.must(r.client.List(context.Background(), list))
		r.must(meta.EachListItem(list, func(o k8sruntime.Object) error {
			w.objects = append(w.objects, o.(client.Object))
			return nil
		}))
	}
	return w
}

// with is the world with other statuses.
func (w *resting) with(t *testing.T, stored *kafkav1beta2.KafkaStatus, pool *kafkav1beta2.KafkaNodePoolStatus) *rig {
	t.Helper()
	var objects []client.Object
	for _, o := range w.objects {
		o := o.DeepCopyObject().(client.Object)
		o.SetResourceVersion("")
		switch o := o.(type) {
		case *kafkav1beta2.Kafka:
			o.Status = *stored
		case *kafkav1beta2.KafkaNodePool:
			if o.Name == "broker" {
				o.Status = *pool
			}
		}
		objects = append(objects, o)
	}
	r := newRig(t, objects...)
	kafka := w.kafka
	r.kafka, r.version = &kafka, "4.0.0"
	r.clock.SetTime(w.now)
	return r
}

// judge what was done to a cluster to which nothing was to be done.
func (r *rig) judge() {
	r.t.Helper()
	for _, write := range r.writes {
		verb, what, _ := strings.Cut(write, " ")
		kind, _, _ := strings.Cut(what, " ")
		allowed := verb == "update-status" || kind == "ConfigMap" && verb != "delete" || verb == "create" && kind == "PersistentVolumeClaim" || verb == "update" && (kind == "StrimziPodSet" || kind == "PodDisruptionBudget")
		if !allowed {
			r.t.Errorf("a status alone makes it %s", write)
		}
	}
	for _, asked := range r.kafka.asked {
		if strings.HasPrefix(asked, "update") {
			r.t.Errorf("a status alone makes it ask Kafka to %s", asked)
		}
	}
	if pods := r.pods(); len(pods) != 6 {
		r.t.Errorf("%d pods are left", len(pods))
	}
	for _, n := range r.snapshot(true).Nodes {
		if n.ID < 0 || n.Record.Leaving && n.Pod.Exists {
			r.t.Errorf("a status alone makes it a node %d that leaves: %v", n.ID, n.Record.Leaving)
		}
	}
	ready := meta.FindStatusCondition(r.cluster().Status.Conditions, lifecycle.Ready)
	if ready == nil || ready.Status != "True" && ready.Message == "" {
		r.t.Errorf("says nothing of how it is: %+v", ready)
	}
	for _, c := range r.cluster().Status.Conditions {
		if c.Reason == "Defect" || strings.Contains(c.Message, "panicked") {
			r.t.Errorf("a defect: %+v", c)
		}
	}
}

// UpdateFeature notes what is asked.

package kafka

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// declaredPool is a pool of the cluster my-cluster, with one persistent volume.
func declaredPool(name string, replicas int32, roles ...kafkav1beta2.NodeRole) *kafkav1beta2.KafkaNodePool {
	p := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-of-" + name), Generation: 1, Labels: map[string]string{labels.Cluster: "my-cluster"},
	}}
	p.Spec.Replicas, p.Spec.Roles = replicas, roles
	p.Spec.Storage = jbod(1, kafkav1beta2.VolumePersistentClaim)
	return p
}

// jbod is storage of several volumes of a type.
func jbod(n int32, of kafkav1beta2.VolumeType) kafkav1beta2.Storage {
	s := kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD}
	for id := range n {
		s.Volumes = append(s.Volumes, kafkav1beta2.Volume{ID: id, Type: of, Disk: kafkav1beta2.Disk{Size: "1Gi"}})
	}
	return s
}

// declared is a cluster with the pools that was created long ago and never ran.
func declared(t *testing.T, change func(*kafkav1beta2.Kafka), pools ...*kafkav1beta2.KafkaNodePool) *rig {
	t.Helper()
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "my-cluster", UID: "uid-of-my-cluster", Generation: 1}}
	k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{"default.replication.factor": jsonOf("3"), "min.insync.replicas": jsonOf("2")}
	if change != nil {
		change(k)
	}
	objects := []client.Object{k}
	for _, p := range pools {
		objects = append(objects, p)
	}
	r := newRig(t, objects...)
	r.clock.Step(observation.PoolsGrace)
	return r
}

// warnings are the reasons of the warnings that the status would show, sorted.
func (r *rig) warnings() []string {
	r.t.Helper()
	var out []string
	for _, c := range status.Project(r.cluster(), r.snapshot(false), lifecycle.ProjectRequest{Now: noon}) {
		if c.Type == lifecycle.Warning {
			out = append(out, c.Reason)
		}
	}
	slices.Sort(out)
	return out
}

// Tools create the pools of a cluster one after another. All controllers are voters, although those of the first pool could start alone.
func TestControllersOfPoolsThatAreAppliedOneAfterAnother(t *testing.T) {
	w := newWorld(declared(t, func(k *kafkav1beta2.Kafka) {
		k.Spec.Kafka.Version, k.CreationTimestamp = "4.3.1", metav1.NewTime(noon)
	}, declaredPool("broker", 3, roleBroker)))
	w.clock.SetTime(noon)
	create := func(pool string) {
		if pool != "" {
			w.must(w.client.Create(t.Context(), declaredPool(pool, 1, roleController)))
		}
		w.serve()
		for range 3 {
			if err := pass(t, w.reconciler, w.key); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
		w.must(w.podSets())
		w.kubelet()
		w.clock.Step(100 * time.Millisecond)
	}
	for _, pool := range []string{"", "controller-a", "controller-b", "controller-c"} {
		create(pool)
	}
	w.rest(80)
	if diff := cmp.Diff(w.nodes(labels.ControllerRole, "true"), w.voters()); diff != "" || len(w.voters()) != 3 {
		t.Errorf("voters %v, want three (-controllers that run +voters):\n%s", w.voters(), diff)
	}
	if got := w.warnings(); len(got) > 0 {
		t.Errorf("warnings %v", got)
	}
}

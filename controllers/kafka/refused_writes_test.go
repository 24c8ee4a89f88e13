package kafka

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// passes reconciles until nothing more can change. Refusals are the subject of the tests, and other failures end them.
func (r *rig) passes(n int) {
	r.t.Helper()
	for range n {
		if err := r.pass(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !errors.Is(err, lifecycle.ErrWait) && !apierrors.IsConflict(err) {
			r.t.Fatal(err)
		}
		_ = r.podSets() // waits for what is refused
		r.kubelet()
	}
}

func (r *rig) changePool(name string, change func(*kafkav1beta2.KafkaNodePool)) {
	r.t.Helper()
	p := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(p, name))
	change(p)
	p.Generation++
	r.must(r.client.Update(r.t.Context(), p))
}

func forbidden(resource string, o client.Object) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, o.GetName(), errors.New("a policy forbids it"))
}

func TestApplyWritesTheBudgetWhenAServiceIsRefused(t *testing.T) {
	r := separate(t)
	r.settle()
	r.registered()
	k := r.cluster()
	k.Spec.Kafka.Listeners[0].Port = 9095
	r.must(r.client.Update(t.Context(), k))
	r.deny = func(_ string, o client.Object) error {
		if _, is := o.(*corev1.Service); is {
			return forbidden("services", o)
		}
		return nil
	}
	r.changePool("broker", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 6 })
	r.passes(8)
	b := &policyv1.PodDisruptionBudget{}
	r.must(r.get(b, labels.KafkaName(k.Name)))
	if got, want := b.Spec.MinAvailable.IntValue(), len(r.pods())-1; got != want {
		t.Errorf("minAvailable %d, want %d", got, want)
	}
}

// A quota refuses the record of a new node. The claims of the others are expanded all the same.
func TestApplyExpandsClaimsWhenARecordIsRefused(t *testing.T) {
	const size = "500Gi"
	r := separate(t)
	r.settle()
	r.registered()
	r.changePool("broker", func(p *kafkav1beta2.KafkaNodePool) {
		p.Spec.Replicas = 4
		for i := range p.Spec.Storage.Volumes {
			p.Spec.Storage.Volumes[i].Size = size
		}
	})
	var claims corev1.PersistentVolumeClaimList
	r.must(r.client.List(t.Context(), &claims))
	before := len(claims.Items)
	for i := range claims.Items {
		claims.Items[i].Status.Phase = corev1.ClaimBound
		r.must(r.client.Status().Update(t.Context(), &claims.Items[i]))
	}
	r.deny = func(verb string, o client.Object) error {
		if _, is := o.(*corev1.ConfigMap); is && verb == "create" {
			return forbidden("configmaps", o)
		}
		return nil
	}
	r.passes(8)
	r.must(r.client.List(t.Context(), &claims))
	for i := range claims.Items {
		c := &claims.Items[i]
		if q := c.Spec.Resources.Requests[corev1.ResourceStorage]; c.Labels[labels.Pool] == "broker" && q.String() != size {
			t.Errorf("%s has %s, want %s", c.Name, q.String(), size)
		}
	}
	if len(claims.Items) != before {
		t.Errorf("%d claims, want %d: a node without a record has none", len(claims.Items), before)
	}
}

// The entry of the node whose pod is gone cannot be rendered. Those of the nodes that run are restored.
func TestRepairRestoresEntriesBesideAnInvalidTemplate(t *testing.T) {
	r := separate(t)
	r.settle()
	r.registered()
	r.passes(2)
	k := r.cluster()
	invalid := kafkav1beta2.Opaque{RawExtension: k8sruntime.RawExtension{Raw: []byte(`{"nodeAffinty":{}}`)}}
	k.Spec.Kafka.Template = &kafkav1beta2.ClusterTemplate{Pod: &kafkav1beta2.PodTemplate{Affinity: &invalid}}
	r.must(r.client.Update(t.Context(), k))
	r.remove(&corev1beta2.StrimziPodSet{}, "my-cluster-broker")
	r.remove(&corev1.Pod{}, podBroker)
	failed := false
	for range 4 {
		failed = r.repair() != nil || failed
	}
	if !failed {
		t.Error("the invalid template is not reported")
	}
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, "my-cluster-broker"))
	if len(s.Spec.Pods) != 2 {
		t.Errorf("%d entries, want those of the 2 brokers that run", len(s.Spec.Pods))
	}
}

func TestRepairRestoresAnEditedSelector(t *testing.T) {
	r := separate(t)
	r.settle()
	r.registered()
	s := &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, "my-cluster-broker"))
	want := len(s.Spec.Selector.MatchLabels)
	s.Spec.Selector.MatchLabels["team"] = "a"
	r.must(r.client.Update(t.Context(), s))
	for range 3 {
		if err := r.repair(); err != nil && !errors.Is(err, lifecycle.ErrStale) {
			t.Fatal(err)
		}
	}
	r.must(r.get(s, "my-cluster-broker"))
	if got := s.Spec.Selector.MatchLabels; len(got) != want {
		t.Errorf("selector %v, want %d labels", got, want)
	}
}

// A name that is taken refuses the record of one of three controllers. The others would start with it among their voters, and be restarted
// without it later.
func TestNoNodeStartsBeforeAllControllersAreRecorded(t *testing.T) {
	r := separate(t)
	taken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: record.Name("my-cluster-controller-5")}}
	r.must(r.client.Create(t.Context(), taken))
	r.passes(8)
	if got := len(r.pods()); got != 0 {
		t.Errorf("%d pods, want none before controller 5 is recorded", got)
	}
	var claims corev1.PersistentVolumeClaimList
	r.must(r.client.List(t.Context(), &claims))
	if got := len(claims.Items); got != 5 {
		t.Errorf("%d claims, want 5, of all nodes that are recorded", got)
	}
	r.must(r.client.Delete(t.Context(), taken))
	r.passes(8)
	if got := len(r.pods()); got != 6 {
		t.Errorf("%d pods, want 6 once all controllers are recorded", got)
	}
}

// The storage was deleted with the cluster, and a policy refuses to change one of the records that are left. The version in it is of the earlier
// cluster, and its storage is gone: nothing of the new cluster is created before all records start over.
func TestNoNodeStartsBeforeAllRecordsStartOver(t *testing.T) {
	const refused = "my-cluster-controller-5"
	pools := func() []*kafkav1beta2.KafkaNodePool {
		return []*kafkav1beta2.KafkaNodePool{declaredPool("controller", 3, roleController), declaredPool("broker", 3, roleBroker)}
	}
	w := started(t, nil, pools()...)
	k := w.cluster()
	w.deleteAll()
	again := &kafkav1beta2.Kafka{ObjectMeta: k.ObjectMeta, Spec: k.Spec}
	again.UID, again.ResourceVersion, again.Finalizers = "second-uid", "", nil
	w.must(w.client.Create(t.Context(), again))
	for _, p := range pools() {
		p.UID = "second-" + p.UID
		w.must(w.client.Create(t.Context(), p))
	}
	w.deny = func(verb string, o client.Object) error {
		if verb == "update" && o.GetName() == record.Name(refused) {
			return forbidden("configmaps", o)
		}
		return nil
	}
	w.run(40)
	var claims corev1.PersistentVolumeClaimList
	w.must(w.client.List(t.Context(), &claims))
	if len(claims.Items)+len(w.pods()) > 0 {
		t.Errorf("%d claims and %d pods, want none before all records start over", len(claims.Items), len(w.pods()))
	}
	w.deny = nil
	w.rest(80)
	if got := w.record(refused); len(w.pods()) != 6 || got.Resource != again.UID {
		t.Errorf("%d pods, want 6, and the record %+v of the new cluster", len(w.pods()), got)
	}
}

func TestBudgetOfNewNodesWithoutPods(t *testing.T) {
	for name, refuse := range map[string]func(*rig){
		"no node may be started": func(r *rig) { r.version = "" },
		"their records are refused": func(r *rig) {
			r.deny = func(verb string, o client.Object) error {
				if _, is := o.(*corev1.ConfigMap); is && verb == "create" {
					return forbidden("configmaps", o)
				}
				return nil
			}
		},
		"their pods are refused": func(r *rig) {
			r.deny = func(verb string, o client.Object) error {
				if _, is := o.(*corev1.Pod); is && verb == "create" {
					return forbidden("pods", o)
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			r.registered()
			refuse(r)
			r.changePool("broker", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 6 })
			r.passes(8)
			b := &policyv1.PodDisruptionBudget{}
			r.must(r.get(b, labels.KafkaName("my-cluster")))
			if got := b.Spec.MinAvailable.IntValue(); got != 5 || len(r.pods()) != 6 {
				t.Errorf("minAvailable %d with %d pods, want 5 with 6", got, len(r.pods()))
			}
		})
	}
}

// The record or the configuration of one broker is lost, and a policy refuses the new one. A scale-up goes on, and no claim is created of a
// broker without a record.
func TestApplyGoesOnBesideARefusedObjectOfANode(t *testing.T) {
	const pod = "my-cluster-broker-1"
	for object, claim := range map[string]bool{record.Name(pod): false, pod: true} {
		t.Run(object, func(t *testing.T) {
			w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 2, roleBroker))
			w.remove(&corev1.ConfigMap{}, object)
			w.remove(&corev1.PersistentVolumeClaim{}, "data-0-"+pod)
			w.deny = func(verb string, o client.Object) error {
				if _, is := o.(*corev1.ConfigMap); is && verb == "create" && o.GetName() == object {
					return forbidden("configmaps", o)
				}
				return nil
			}
			w.edit("broker", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 3 })
			w.run(40)
			if got := len(w.pods()); got != 4 {
				t.Errorf("%d pods, want 4", got)
			}
			if got := w.get(&corev1.PersistentVolumeClaim{}, "data-0-"+pod) == nil; got != claim {
				t.Errorf("the lost claim exists: %t, want %t", got, claim)
			}
			if got := w.ready().Reason; got != lifecycle.ChildrenFailed {
				t.Errorf("Ready has the reason %s, want %s", got, lifecycle.ChildrenFailed)
			}
		})
	}
}

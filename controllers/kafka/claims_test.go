package kafka

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// resize declares a size for the claims of the brokers.
func resize(size string) func(*kafkav1beta2.KafkaNodePool) {
	return func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Storage.Volumes[0].Size = size }
}

func (w *world) ready() metav1.Condition {
	w.t.Helper()
	c := meta.FindStatusCondition(w.cluster().Status.Conditions, lifecycle.Ready)
	if c == nil {
		w.t.Fatal("there is no condition Ready")
	}
	return *c
}

// claims are the sizes that the claims ask for, by name.
func (w *world) claims() map[string]string {
	w.t.Helper()
	var list corev1.PersistentVolumeClaimList
	w.must(w.client.List(w.t.Context(), &list))
	out := map[string]string{}
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Spec.Resources.Requests.Storage().String()
	}
	return out
}

// A claim that the API server does not expand is shown, and delays neither a scale-up nor other changes.
func TestAClaimThatCannotBeExpandedStopsNothingElse(t *testing.T) {
	kind := corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim").GroupKind()
	for name, refused := range map[string]func(name string) error{
		"its class does not expand volumes": func(name string) error {
			return apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), name, errors.New("only dynamically provisioned pvc can be resized"))
		},
		"it is not valid": func(name string) error {
			return apierrors.NewInvalid(kind, name, field.ErrorList{field.Forbidden(field.NewPath("spec"), "spec is immutable")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 2, roleBroker))
			tries := 0
			w.deny = func(verb string, o client.Object) error {
				if claim, ok := o.(*corev1.PersistentVolumeClaim); ok && verb == "update" && claim.Spec.Resources.Requests.Storage().String() != "1Gi" {
					tries++
					return refused(o.GetName())
				}
				return nil
			}
			w.edit("broker", func(p *kafkav1beta2.KafkaNodePool) {
				resize("2Gi")(p)
				p.Spec.Replicas, p.Spec.Storage.Volumes[0].DeleteClaim = 3, new(true)
			})
			w.run(10)
			want := map[string]string{"data-0-my-cluster-broker-0": "1Gi", "data-0-my-cluster-broker-1": "1Gi", "data-0-my-cluster-broker-3": "2Gi", "data-0-my-cluster-controller-2": "1Gi"}
			if diff := cmp.Diff(want, w.claims()); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if got := w.nodes(labels.BrokerRole, "true"); !slices.Equal(got, []int32{0, 1, 3}) {
				t.Errorf("brokers %v, want 0, 1 and 3", got)
			}
			claim := &corev1.PersistentVolumeClaim{}
			w.must(w.get(claim, "data-0-my-cluster-broker-1"))
			if claim.Annotations[labels.DeleteClaim] != "true" {
				t.Error("the refusal keeps the annotations of the claim back")
			}
			got := w.ready()
			if got.Status != metav1.ConditionFalse || got.Reason != lifecycle.ChildrenFailed {
				t.Errorf("Ready is %s for %s", got.Status, got.Reason)
			}
			contains(t, got.Message, "expanding PersistentVolumeClaim data-0-my-cluster-broker-0 from 1Gi to 2Gi", "set the size back")
			before := tries
			w.step()
			if tries != before+1 {
				t.Errorf("%d claims of the class were tried in one reconcile, want 1", tries-before)
			}
			w.edit("broker", resize("1Gi"))
			w.run(3)
			if got := w.ready(); got.Status != metav1.ConditionTrue {
				t.Errorf("with the size set back, Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
			}
		})
	}
}

// A claim that is not bound cannot be expanded, whatever its class. The later claims of the class grow.
func TestAClaimThatIsNotBoundStopsNoOther(t *testing.T) {
	for phase, want := range map[corev1.PersistentVolumeClaimPhase]string{
		corev1.ClaimPending: "",
		corev1.ClaimLost:    "it is Lost: its PersistentVolume pv-0 does not exist any more. Restore that volume, or replace the storage",
	} {
		t.Run(string(phase), func(t *testing.T) {
			w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 2, roleBroker))
			const unbound = "data-0-my-cluster-broker-0"
			claim := &corev1.PersistentVolumeClaim{}
			w.must(w.get(claim, unbound))
			claim.Spec.VolumeName = "pv-0"
			w.must(w.client.Update(t.Context(), claim))
			claim.Status.Phase = phase
			w.must(w.client.Status().Update(t.Context(), claim))
			w.deny = func(verb string, o client.Object) error {
				if claim, ok := o.(*corev1.PersistentVolumeClaim); ok && verb == "update" && claim.Status.Phase == phase && claim.Spec.Resources.Requests.Storage().String() != "1Gi" {
					return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim").GroupKind(), unbound, field.ErrorList{
						field.Forbidden(field.NewPath("spec"), "spec is immutable after creation except resources.requests for bound claims"),
					})
				}
				return nil
			}
			w.edit("broker", resize("2Gi"))
			w.run(5)
			sizes := map[string]string{unbound: "1Gi", "data-0-my-cluster-broker-1": "2Gi", "data-0-my-cluster-controller-2": "1Gi"}
			if diff := cmp.Diff(sizes, w.claims()); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if got := w.ready(); !strings.Contains(got.Message, want) || strings.Contains(got.Message, "set the size back, or") {
				t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
			}
			w.must(w.get(claim, unbound))
			claim.Status.Phase = corev1.ClaimBound
			w.must(w.client.Status().Update(t.Context(), claim))
			w.run(3)
			if got := w.claims()[unbound]; got != "2Gi" {
				t.Errorf("once it is bound, it asks for %s, want 2Gi", got)
			}
		})
	}
}

// A pod is created after its claims. A claim that cannot be created keeps back its own node alone.
func TestAClaimThatCannotBeCreatedKeepsItsNodeBack(t *testing.T) {
	w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 1, roleBroker))
	const missing = "data-0-my-cluster-broker-2"
	w.deny = func(verb string, o client.Object) error {
		if verb == "create" && o.GetName() == missing {
			return apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), missing, errors.New("exceeded quota"))
		}
		return nil
	}
	w.edit("broker", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 3 })
	for range 10 {
		w.step()
	}
	if got := w.nodes(labels.BrokerRole, "true"); !slices.Equal(got, []int32{0, 3}) {
		t.Errorf("brokers %v, want 0 and 3", got)
	}
	if got := w.ready(); got.Reason != lifecycle.ChildrenFailed || !strings.Contains(got.Message, "exceeded quota") {
		t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
	}
	w.deny = nil
	for range 40 {
		w.step()
	}
	if got := w.ready(); got.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
	}
}

// The version of the operator is that of the last one that wrote everything. Each child that is not written keeps it, and Ready, back.
func TestAChildThatIsNotWrittenKeepsTheVersionBack(t *testing.T) {
	for name, child := range map[string]client.Object{
		"my-cluster-kafka-bootstrap": &corev1.Service{},
		"my-cluster-kafka":           &policyv1.PodDisruptionBudget{},
		"data-0-my-cluster-broker-0": &corev1.PersistentVolumeClaim{},
		"my-cluster-broker-0":        &corev1.ConfigMap{},
		"my-cluster-broker":          &corev1beta2.StrimziPodSet{},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 1, roleBroker))
			w.must(w.get(child, name))
			delete(child.GetLabels(), labels.AppPartOf)
			w.must(w.client.Update(t.Context(), child))
			w.collector.Options.OperatorVersion = "next-operator"
			w.reconciler = w.rig.reconciler(t, w.client, w.client)
			w.deny = func(_ string, o client.Object) error {
				if o.GetName() == name {
					return apierrors.NewForbidden(corev1.Resource("children"), name, errors.New("a policy"))
				}
				return nil
			}
			for range 6 {
				w.step()
			}
			if got := w.ready(); got.Status != metav1.ConditionFalse || got.Reason != lifecycle.ChildrenFailed || !strings.Contains(got.Message, name) {
				t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
			}
			if got := w.cluster().Status.OperatorLastSuccessfulVersion; got != operatorVersion {
				t.Errorf("the version of the operator is %s, want %s", got, operatorVersion)
			}
			w.deny = nil
			for range 20 {
				w.step()
			}
			if got := w.ready(); got.Status != metav1.ConditionTrue {
				t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
			}
			if got := w.cluster().Status.OperatorLastSuccessfulVersion; got != "next-operator" {
				t.Errorf("the version of the operator is %s, want the next one", got)
			}
		})
	}
}

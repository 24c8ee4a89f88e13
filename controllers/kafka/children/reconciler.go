// Package children creates and updates the objects of Kafka clusters: records, claims, configurations, StrimziPodSets, Services,
// the disruption budget and Deployments. It also replaces the pod of a node (Restart). Every write is made through the writer of the
// reconcile, except the statuses of KafkaNodePools.
package children

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Reconciler writes the objects of Kafka clusters. One instance serves all clusters of a process.
type Reconciler struct {
	// Client writes the statuses of pools. Required.
	Client client.Client
	// Live reads from the API server what a cache may not show yet. Required.
	Live client.Reader

	answered answered
}

// scope is one call of the Reconciler for one cluster.
type scope struct {
	*Reconciler
	kafka    *kafkav1beta2.Kafka
	snapshot *observation.Snapshot
	write    lifecycle.Writer
	// current are the nodes of which nodeIsCurrent was true in this call.
	current []int32
	// adoption is how the records of an earlier resource are treated.
	adoption recording.Adoption
	// leaving is the object of an earlier resource whose deletion is awaited.
	leaving client.Object
	// refused are the storage classes of which the API server has refused to expand a claim.
	refused []string
	// apart are the failures of a repair on which no other node depends: annotations and labels of pods that could not be restored, and
	// refused records, configurations and entries.
	apart []error
}

// owned sets the cluster as the controlling owner of the object. It replaces the owner reference of an earlier resource of the
// same name. It returns an error for an object that another owner controls.
func (t *scope) owned(o client.Object) error {
	o.SetOwnerReferences(slices.DeleteFunc(slices.Clone(o.GetOwnerReferences()), func(r metav1.OwnerReference) bool {
		return r.Controller != nil && *r.Controller && r.Kind == kafkav1beta2.KindKafka && r.Name == t.kafka.Name && r.UID != t.kafka.UID
	}))
	return t.write.Own(o)
}

// isOwned reports whether the cluster controls the object.
func (t *scope) isOwned(o client.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == t.kafka.UID && r.Controller != nil && *r.Controller
	})
}

// create creates an object. If an object of that name exists, it either belongs to the cluster and is missing in the cache, which
// is ErrStale, or it belongs to another owner, which is an error that the user must resolve.
func (t *scope) create(ctx context.Context, o client.Object) error {
	err := t.write.Create(ctx, o)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	have, isObject := o.DeepCopyObject().(client.Object)
	if !isObject {
		return err
	}
	switch readErr := t.Live.Get(ctx, client.ObjectKeyFromObject(o), have); {
	case lifecycle.ObjectMissing(readErr):
		return nil
	case readErr != nil:
		return fmt.Errorf("finding out whose %T %s is: %w", o, client.ObjectKeyFromObject(o), readErr)
	}
	for name, value := range o.GetLabels() {
		if have.GetLabels()[name] != value {
			return fmt.Errorf("%w, and lacks the label %s=%s: if it belongs to Kafka %s, give it the label, else give one of them another name",
				err, name, value, t.kafka.Name)
		}
	}
	return lifecycle.ErrStale
}

// createOwned creates a copy of a rendered object with the cluster as its owner.
func (t *scope) createOwned(ctx context.Context, want client.Object) error {
	o, ok := want.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("creating %T %s: its copy is no object", want, want.GetName())
	}
	if err := t.owned(o); err != nil {
		return err
	}
	return t.create(ctx, o)
}

// outdated reports whether an error means that the cache is stale, which ends the whole reconcile at once.
func outdated(err error) bool {
	return err != nil && (errors.Is(err, lifecycle.ErrStale) || apierrors.IsConflict(err))
}

// metaBehind reports whether desired labels or annotations are missing or differ. Other labels and annotations are ignored.
func metaBehind(have, want client.Object) bool {
	return behind(have.GetLabels(), want.GetLabels()) || behind(have.GetAnnotations(), want.GetAnnotations())
}

func behind(have, want map[string]string) bool {
	for name, value := range want {
		if got, ok := have[name]; !ok || got != value {
			return true
		}
	}
	return false
}

// catchUp sets the desired labels and annotations.
func catchUp(have, want client.Object) {
	have.SetLabels(over(have.GetLabels(), want.GetLabels()))
	have.SetAnnotations(over(have.GetAnnotations(), want.GetAnnotations()))
}

func over(have, want map[string]string) map[string]string {
	if len(want) == 0 {
		return have
	}
	out := make(map[string]string, len(have)+len(want))
	maps.Copy(out, have)
	maps.Copy(out, want)
	return out
}

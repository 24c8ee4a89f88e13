package podset

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// lagging is a cache that shows the pods as they were at first.
type lagging struct {
	client.Client
	pods []corev1.Pod
}

func (l lagging) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, isPod := o.(*corev1.Pod); isPod {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, key.Name)
	}
	return l.Client.Get(ctx, key, o, opts...)
}

func (l lagging) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	pods, isPods := list.(*corev1.PodList)
	if !isPods {
		return fmt.Errorf("a list of %T", list)
	}
	pods.Items = l.pods
	return nil
}

// Nothing is remembered of a set that is gone, however it went: without a finalizer no pass sees its deletion.
func TestReconcileForgetsADeletedSet(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *rig){
		"removed": func(t *testing.T, r *rig) {
			remove(t, r)
		},
		"removed and created again": func(t *testing.T, r *rig) {
			remove(t, r)
			again := setOf(t, "r1")
			again.UID = "another"
			if err := r.Client.Create(t.Context(), again); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			failed := podOf("c-p-0", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
			r := newRig(t, setOf(t, "r1", "c-p-0", "c-p-1"), failed)
			cached := lagging{Client: r.Client, pods: []corev1.Pod{*failed}}
			r.Client, r.Children = cached, lifecycle.NewChildren(cached, r.Live, r.clock)
			r.run(t)
			if len(r.relapses.pods) != 1 {
				t.Fatalf("relapses of %d sets, want 1", len(r.relapses.pods))
			}
			if err := r.pending(t, "set"); !errors.Is(err, lifecycle.ErrStale) {
				t.Fatalf("error %v, want %v: no write of the set is remembered", err, lifecycle.ErrStale)
			}
			lose(t, r)
			r.run(t)
			if diff := cmp.Diff(map[types.UID]map[string]relapse{}, r.relapses.pods); diff != "" {
				t.Errorf("relapses (-want +got):\n%s", diff)
			}
			if err := r.pending(t, "set"); !apierrors.IsNotFound(err) {
				t.Errorf("the writes of the set are still remembered: %v", err)
			}
			if got := len(r.uids.byName); got > 1 || name == "removed" && got > 0 {
				t.Errorf("%d names are remembered", got)
			}
		})
	}
}

// pending is ErrStale while a write of the owner is remembered that an empty cache does not show.
func (r *rig) pending(t *testing.T, owner types.UID) error {
	t.Helper()
	return r.Children.Reader(owner, false).Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-p-1"}, &corev1.Pod{})
}

func remove(t *testing.T, r *rig) {
	t.Helper()
	if err := r.Client.Delete(t.Context(), &corev1beta2.StrimziPodSet{ObjectMeta: setOf(t, "r1").ObjectMeta}); err != nil {
		t.Fatal(err)
	}
}

package podset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/states"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var selector = map[string]string{labels.Cluster: "c", labels.Pool: "p"}

func yes() *bool { v := true; return &v }

// podOf is a running pod of the set; changes are made to it.
func podOf(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID("uid-" + name), Labels: map[string]string{labels.Cluster: "c", labels.Pool: "p"},
			Annotations:     map[string]string{labels.Revision: "r1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "core.strimzi.io/v1beta2", Kind: "StrimziPodSet", Name: "c-p", UID: "set", Controller: yes()}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func entryOf(t testing.TB, name, revision string) corev1beta2.PodEntry {
	t.Helper()
	e, err := corev1beta2.NewPodEntry(podOf(name, func(p *corev1.Pod) {
		p.UID, p.OwnerReferences, p.Annotations = "", nil, map[string]string{labels.Revision: revision}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// setOf the entries, all at the revision.
func setOf(t testing.TB, revision string, names ...string) *corev1beta2.StrimziPodSet {
	t.Helper()
	set := &corev1beta2.StrimziPodSet{ObjectMeta: metav1.ObjectMeta{Name: "c-p", Namespace: "ns", UID: "set", Generation: 3}}
	set.Spec.Selector.MatchLabels = selector
	for _, name := range names {
		set.Spec.Pods = append(set.Spec.Pods, entryOf(t, name, revision))
	}
	return set
}

func recordOf(pod string, stop bool) *corev1.ConfigMap {
	r := record.Record{Stop: stop, Leaving: true, Format: record.FormatDone}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: record.Name(pod), Namespace: "ns"}, Data: r.Encode()}
}

type rig struct {
	*Reconciler
	server *store.Store
	clock  *clocktesting.FakeClock
	writes []string
}

func newRig(t testing.TB, objects ...client.Object) *rig {
	t.Helper()
	s := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, policyv1.AddToScheme, corev1beta2.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	r := &rig{server: store.New(s, noon), clock: clocktesting.NewFakeClock(noon)}
	note := func(verb string, o client.Object, err error) error {
		if err == nil {
			r.writes = append(r.writes, verb+" "+o.GetName())
		}
		return err
	}
	for _, o := range objects {
		if err := r.server.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	c := interceptor.NewClient(r.server.Client(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return note("create", o, c.Create(ctx, o, opts...))
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return note("update", o, c.Update(ctx, o, opts...))
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return note("delete", o, c.Delete(ctx, o, opts...))
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, subObject client.Object, opts ...client.SubResourceCreateOption) error {
			return note(sub, o, c.SubResource(sub).Create(ctx, o, subObject, opts...))
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return note("status", o, c.SubResource(sub).Update(ctx, o, opts...))
		},
	})
	r.Reconciler = &Reconciler{
		Client: c, Live: c, Children: lifecycle.NewChildren(c, c, r.clock), Clock: r.clock,
		Disrupt: func(_ context.Context, _ *corev1.Pod, take func() error) error { return take() },
	}
	return r
}

func (r *rig) run(t *testing.T) reconcile.Result {
	t.Helper()
	r.server.SetTime(r.clock.Now())
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "c-p"}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestReconcile(t *testing.T) {
	marked := func(set *corev1beta2.StrimziPodSet, pod string, since time.Time) *corev1beta2.StrimziPodSet {
		restarting.Mark{Pod: pod, UID: "old", Since: since}.Set(set)
		return set
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    []string
		again   time.Duration
	}{
		"a missing pod is created": {objects: []client.Object{setOf(t, "r1", "c-p-0", "c-p-1"), podOf("c-p-0")}, want: []string{"create c-p-1", "status c-p"}},
		"nothing is restarted, whatever its entry says": {
			objects: []client.Object{setOf(t, "r2", "c-p-0"), podOf("c-p-0")}, want: []string{"status c-p"},
		},
		"a pod without an owner is adopted": {
			objects: []client.Object{setOf(t, "r1", "c-p-0"), podOf("c-p-0", func(p *corev1.Pod) { p.OwnerReferences = nil })},
			want:    []string{"update c-p-0", "status c-p"},
		},
		"a pod of somebody else is left alone": {
			objects: []client.Object{setOf(t, "r1"), podOf("c-p-0", func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" })},
			want:    []string{"status c-p"},
		},
		"a pod that has failed is replaced": {
			objects: []client.Object{setOf(t, "r1", "c-p-0"), podOf("c-p-0", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })},
			want:    []string{"delete c-p-0", "status c-p"},
		},
		"a pod on its way out is waited for": {
			objects: []client.Object{setOf(t, "r1", "c-p-0"), podOf("c-p-0", func(p *corev1.Pod) {
				now := metav1.NewTime(noon)
				p.DeletionTimestamp, p.Finalizers = &now, []string{"test/hold"}
			})},
			want: []string{"status c-p"},
		},
		"a pod without an entry and a record was lost from the set, not from the cluster": {
			objects: []client.Object{setOf(t, "r1"), podOf("c-p-0")}, want: []string{"status c-p"},
		},
		"a pod without an entry that is only leaving stays": {
			objects: []client.Object{setOf(t, "r1"), podOf("c-p-0"), recordOf("c-p-0", false)}, want: []string{"status c-p"},
		},
		"a pod without an entry whose node was stopped goes": {
			objects: []client.Object{setOf(t, "r1"), podOf("c-p-0"), recordOf("c-p-0", true)}, want: []string{"eviction c-p-0", "status c-p"},
		},
		"a pod with an entry stays, whatever its record says": {
			objects: []client.Object{setOf(t, "r1", "c-p-0"), podOf("c-p-0"), recordOf("c-p-0", true)}, want: []string{"status c-p"},
		},
		"a pod in the hand of a restart is not created": {
			objects: []client.Object{marked(setOf(t, "r1", "c-p-0", "c-p-1"), "c-p-0", noon.Add(-10*time.Second))},
			want:    []string{"create c-p-1"}, again: 20 * time.Second,
		},
		"a mark that has run out holds nothing back": {
			objects: []client.Object{marked(setOf(t, "r1", "c-p-0"), "c-p-0", noon.Add(-restarting.Limit))}, want: []string{"create c-p-0", "status c-p"},
		},
		"a mark that cannot be read holds nothing back": {
			objects: []client.Object{func() client.Object {
				set := setOf(t, "r1", "c-p-0")
				set.Annotations = map[string]string{labels.Restarting: "c-p-0"}
				return set
			}()}, want: []string{"create c-p-0", "status c-p"},
		},
		"an entry that cannot be read makes nothing": {
			objects: []client.Object{func() client.Object {
				set := setOf(t, "r1")
				set.Spec.Pods = append(set.Spec.Pods, corev1beta2.PodEntry{RawExtension: k8sruntime.RawExtension{Raw: []byte(`{"metadata":{}}`)}})
				return set
			}()}, want: []string{"status c-p"},
		},
		"two entries of one name make one pod": {
			objects: []client.Object{setOf(t, "r1", "c-p-0", "c-p-0")}, want: []string{"create c-p-0", "status c-p"},
		},
		"a set that is gone": {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.objects...)
			result := r.run(t)
			if diff := cmp.Diff(tc.want, r.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if result.RequeueAfter != tc.again {
				t.Errorf("again after %s, want %s", result.RequeueAfter, tc.again)
			}
		})
	}
}

func TestReconcileCreatesThePodOfTheEntry(t *testing.T) {
	r := newRig(t, setOf(t, "r7", "c-p-0"))
	r.run(t)
	pod := &corev1.Pod{}
	if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-p-0"}, pod); err != nil {
		t.Fatal(err)
	}
	if owner := metav1.GetControllerOf(pod); owner == nil || owner.UID != "set" || owner.Kind != "StrimziPodSet" || owner.APIVersion != "core.strimzi.io/v1beta2" {
		t.Errorf("owner %+v", owner)
	}
	if pod.Annotations[labels.Revision] != "r7" || pod.Labels[labels.Pool] != "p" {
		t.Errorf("pod %+v", pod.ObjectMeta)
	}
}

func TestReconcileWritesStatusOnlyOnChange(t *testing.T) {
	unready := podOf("c-p-1", func(p *corev1.Pod) { p.Status.Conditions = nil; p.Annotations[labels.Revision] = "r0" })
	r := newRig(t, setOf(t, "r1", "c-p-0", "c-p-1"), podOf("c-p-0"), unready)
	r.run(t)
	set := &corev1beta2.StrimziPodSet{}
	if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-p"}, set); err != nil {
		t.Fatal(err)
	}
	want := corev1beta2.StrimziPodSetStatus{ObservedGeneration: 3, Pods: 2, ReadyPods: 1, CurrentPods: 1}
	if diff := cmp.Diff(want, set.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	r.writes = nil
	r.run(t)
	if len(r.writes) > 0 {
		t.Errorf("writes at rest: %v", r.writes)
	}
}

// A pod of a node that was stopped is taken away under the disruption lock of its cluster alone.
func TestReconcileEvictsAStoppedNodeUnderTheLock(t *testing.T) {
	for name, tc := range map[string]struct {
		disrupt func(r *rig, take func() error) error
		want    []string
		again   time.Duration
	}{
		"granted": {
			disrupt: func(_ *rig, take func() error) error { return take() }, want: []string{"eviction c-p-0", "status c-p"},
		},
		"another disruption is under way": {
			disrupt: func(*rig, func() error) error { return fmt.Errorf("node 1 restarts: %w", lifecycle.ErrWait) },
			want:    []string{"status c-p"}, again: states.DefaultPoll,
		},
		"taken back before the lock was granted": {
			disrupt: func(r *rig, take func() error) error {
				if err := r.Client.Delete(context.Background(), recordOf("c-p-0", true)); err != nil {
					return err
				}
				return take()
			},
			want: []string{"delete c-p-0-record", "status c-p"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setOf(t, "r1"), podOf("c-p-0"), recordOf("c-p-0", true))
			r.Disrupt = func(_ context.Context, pod *corev1.Pod, take func() error) error {
				if pod.UID != "uid-c-p-0" {
					t.Errorf("the lock is asked for pod %s", pod.UID)
				}
				return tc.disrupt(r, take)
			}
			result := r.run(t)
			if diff := cmp.Diff(tc.want, r.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if result.RequeueAfter != tc.again {
				t.Errorf("again after %s, want %s", result.RequeueAfter, tc.again)
			}
		})
	}
}

// stale is a cache that still shows an older set and no pods.
type stale struct {
	client.Client
	set *corev1beta2.StrimziPodSet
}

func (s stale) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if set, ok := o.(*corev1beta2.StrimziPodSet); ok {
		s.set.DeepCopyInto(set)
		return nil
	}
	return s.Client.Get(ctx, key, o, opts...)
}

func (s stale) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if pods, ok := list.(*corev1.PodList); ok {
		pods.Items = nil
		return nil
	}
	return s.Client.List(ctx, list, opts...)
}

// Pods are created from the current set: not from entries that were replaced, removed or marked since the cache was updated.
func TestReconcileCreatesNothingFromAStaleCache(t *testing.T) {
	for name, tc := range map[string]struct {
		live *corev1beta2.StrimziPodSet
		want string
	}{
		"switched": {live: setOf(t, "r2", "c-p-0"), want: "r2"},
		"removed":  {live: setOf(t, "r2")},
		"marked": {live: func() *corev1beta2.StrimziPodSet {
			set := setOf(t, "r1", "c-p-0")
			restarting.Mark{Pod: "c-p-0", Since: noon}.Set(set)
			return set
		}()},
		"made anew": {live: func() *corev1beta2.StrimziPodSet {
			set := setOf(t, "r1", "c-p-0")
			set.UID = "another"
			return set
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.live)
			cached := stale{Client: r.Client, set: setOf(t, "r1", "c-p-0")}
			cached.set.ResourceVersion = "1"
			r.Client = cached
			r.Children = lifecycle.NewChildren(cached, r.Live, r.clock)
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "c-p"}})
			if err != nil {
				t.Fatal(err)
			}
			pod := &corev1.Pod{}
			err = r.Live.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-p-0"}, pod)
			if got := pod.Annotations[labels.Revision]; got != tc.want {
				t.Errorf("pod at revision %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}

// A pod that is missing in the cache is neither created twice nor taken from another owner.
func TestReconcileOfAPodThatAlreadyExists(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		says string
	}{
		"ours, and not in the cache yet": {pod: podOf("c-p-0")},
		"without our labels":             {pod: podOf("c-p-0", func(p *corev1.Pod) { p.Labels = nil }), says: "lacks the label"},
		"of somebody else":               {pod: podOf("c-p-0", func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }), says: "belongs to somebody else"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setOf(t, "r1", "c-p-0"), tc.pod)
			set := setOf(t, "r1", "c-p-0")
			set.ResourceVersion = "999"
			cached := stale{Client: r.Client, set: set}
			r.Client = cached
			r.Children = lifecycle.NewChildren(cached, r.Live, r.clock)
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "c-p"}})
			switch {
			case tc.says == "" && (err != nil || result.RequeueAfter != pause):
				t.Errorf("result %+v, error %v, want another look soon", result, err)
			case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
				t.Errorf("error %v, want %q", err, tc.says)
			}
		})
	}
}

func TestReconcileNamesFailures(t *testing.T) {
	for name, broken := range map[string]error{
		"the API server fails":          errors.New("etcd is on fire"),
		"pod sets are no longer served": apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{Resource: "strimzipodsets"}, "c-p", "the server could not find the requested resource", 0, true),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setOf(t, "r1", "c-p-0"))
			r.Live = interceptor.NewClient(store.New(r.Client.Scheme(), noon).Client(), interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return broken
				},
			})
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "c-p"}})
			if !errors.Is(err, broken) || !strings.Contains(err.Error(), "ns/c-p") {
				t.Errorf("error %v", err)
			}
			if len(r.writes) > 0 {
				t.Errorf("writes %v", r.writes)
			}
		})
	}
}

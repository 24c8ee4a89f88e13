package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// nursery is a rig whose children the test writes.
type nursery struct {
	*rig
	children *lifecycle.Children
	write    lifecycle.Writer
}

func newNursery(t *testing.T) *nursery {
	t.Helper()
	r := newRig(t)
	n := &nursery{rig: r, children: lifecycle.NewChildren(r.cache, r.server, r.clock)}
	n.write = n.children.Writer(r.gate(), nil)
	return n
}

func (n *nursery) child(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: namespace, Labels: map[string]string{"of": gate}}, Data: map[string]string{"text": text}}
}

// made returns the child as the API server stores it.
func (n *nursery) made() *corev1.ConfigMap {
	n.Helper()
	m := &corev1.ConfigMap{}
	if err := n.server.Get(context.Background(), types.NamespacedName{Namespace: namespace, Name: "child"}, m); err != nil {
		n.Fatal(err)
	}
	return m
}

// reads are the results of a Get and a List of the child: its text, "gone", or "behind".
func (n *nursery) reads() [2]string {
	n.Helper()
	read := n.children.Reader(n.gate().UID, false)
	say := func(text string, err error) string {
		switch {
		case errors.Is(err, lifecycle.ErrStale):
			return "behind"
		case apierrors.IsNotFound(err):
			return "gone"
		case err != nil:
			n.Fatal(err)
		}
		return text
	}
	one := &corev1.ConfigMap{}
	err := read.Get(n.Context(), types.NamespacedName{Namespace: namespace, Name: "child"}, one)
	got := say(one.Data["text"], err)
	var list corev1.ConfigMapList
	err = read.List(n.Context(), &list, client.InNamespace(namespace), client.MatchingLabels{"of": gate})
	text := "gone"
	for i := range list.Items {
		text = list.Items[i].Data["text"]
	}
	return [2]string{got, say(text, err)}
}

func (n *nursery) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

func TestChildrenReaderReturnsNothingOlderThanOurLastWrite(t *testing.T) {
	for name, c := range map[string]struct {
		before, write func(*nursery)
		want          string // once freshnessTimeout has passed
	}{
		"created": {func(*nursery) {}, func(n *nursery) { n.must(n.write.Create(n.Context(), n.child("new"))) }, "new"},
		"updated": {func(n *nursery) { n.must(n.server.Create(n.Context(), n.child("old"))) }, func(n *nursery) {
			m := n.made()
			m.Data["text"] = "new"
			n.must(n.write.Update(n.Context(), m))
		}, "new"},
		"deleted": {func(n *nursery) { n.must(n.server.Create(n.Context(), n.child("old"))) }, func(n *nursery) {
			n.must(n.write.Delete(n.Context(), n.made()))
		}, "gone"},
		"created, then removed by somebody": {func(*nursery) {}, func(n *nursery) {
			n.must(n.write.Create(n.Context(), n.child("new")))
			n.must(n.server.Delete(n.Context(), n.made()))
		}, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNursery(t)
			c.before(n)
			n.freeze("child")
			if n.cache.frozen["child"] == nil {
				delete(n.cache.frozen, "child")
				n.cache.hidden = "child"
			}
			c.write(n)
			if diff := cmp.Diff([2]string{"behind", "behind"}, n.reads()); diff != "" {
				t.Errorf("at once (-want +got):\n%s", diff)
			}
			n.advance(time.Second)
			for range 3 {
				if diff := cmp.Diff([2]string{c.want, c.want}, n.reads()); diff != "" {
					t.Errorf("after a second, as long as the cache lags (-want +got):\n%s", diff)
				}
				n.advance(time.Minute)
			}
			n.thaw()
			n.cache.hidden = ""
			if diff := cmp.Diff([2]string{c.want, c.want}, n.reads()); diff != "" {
				t.Errorf("once the cache has caught up (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChildrenReaderUsesTheCacheOnceItIsCurrent(t *testing.T) {
	n := newNursery(t)
	n.must(n.write.Create(n.Context(), n.child("new")))
	if diff := cmp.Diff([2]string{"new", "new"}, n.reads()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	n.freeze("child")
	m := n.made()
	m.Data["text"] = "somebody's"
	n.must(n.server.Update(n.Context(), m))
	if diff := cmp.Diff([2]string{"new", "new"}, n.reads()); diff != "" {
		t.Errorf("somebody else's write is waited for (-want +got):\n%s", diff)
	}
}

func TestChildrenReaderAcceptsTheDeletionOfAnObservedChild(t *testing.T) {
	n := newNursery(t)
	n.must(n.write.Create(n.Context(), n.child("new")))
	n.reads()
	n.must(n.server.Delete(n.Context(), n.made()))
	if diff := cmp.Diff([2]string{"gone", "gone"}, n.reads()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// liveReads is a live reader that counts, and that decodes as a client does: into the existing content of the object.
func (n *nursery) liveReads(count *int) client.Reader {
	into := func(from, to any) error {
		text, err := json.Marshal(from)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, to)
	}
	return interceptor.NewClient(n.server, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			*count++
			fresh := &corev1.ConfigMap{}
			if err := c.Get(ctx, key, fresh); err != nil {
				return err
			}
			return into(fresh, o)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			*count++
			fresh := &corev1.ConfigMapList{}
			if err := c.List(ctx, fresh, opts...); err != nil {
				return err
			}
			return into(fresh, list)
		},
	})
}

func TestChildrenReaderLiveReadReplacesAllFields(t *testing.T) {
	n := newNursery(t)
	old := n.child("old")
	old.Data["dropped"] = "yes"
	n.must(n.server.Create(n.Context(), old))
	n.freeze("child")
	lives := 0
	children := lifecycle.NewChildren(n.cache, n.liveReads(&lives), n.clock)
	next := n.made()
	next.Data = map[string]string{"text": "new"}
	n.must(children.Writer(n.gate(), nil).Update(n.Context(), next))
	n.advance(time.Second)
	read := children.Reader(n.gate().UID, false)
	one, list := &corev1.ConfigMap{}, &corev1.ConfigMapList{}
	n.must(read.Get(n.Context(), types.NamespacedName{Namespace: namespace, Name: "child"}, one))
	n.must(read.List(n.Context(), list, client.InNamespace(namespace), client.MatchingLabels{"of": gate}))
	want := map[string]string{"text": "new"}
	if diff := cmp.Diff(want, one.Data); diff != "" {
		t.Errorf("get (-want +got):\n%s", diff)
	}
	if len(list.Items) != 1 {
		t.Fatalf("%d children", len(list.Items))
	}
	if diff := cmp.Diff(want, list.Items[0].Data); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestChildrenReaderStopsLiveReadsOfADeletedChild(t *testing.T) {
	n := newNursery(t)
	n.cache.hidden = "child"
	lives := 0
	n.children = lifecycle.NewChildren(n.cache, n.liveReads(&lives), n.clock)
	n.must(n.children.Writer(n.gate(), nil).Create(n.Context(), n.child("new")))
	n.must(n.server.Delete(n.Context(), n.made()))
	n.advance(time.Second)
	n.reads()
	lives = 0
	for range 3 {
		if diff := cmp.Diff([2]string{"gone", "gone"}, n.reads()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if lives > 0 {
		t.Errorf("%d live reads although the cache shows the same", lives)
	}
}

func TestChildrenForget(t *testing.T) {
	n := newNursery(t)
	n.cache.hidden = "child"
	n.must(n.write.Create(n.Context(), n.child("new")))
	n.children.Forget(n.gate().UID)
	if diff := cmp.Diff([2]string{"gone", "gone"}, n.reads()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChildrenReaderLive(t *testing.T) {
	n := newNursery(t)
	n.must(n.server.Create(n.Context(), n.child("new")))
	n.cache.hidden = "child"
	one := &corev1.ConfigMap{}
	n.must(n.children.Reader(n.gate().UID, true).Get(n.Context(), types.NamespacedName{Namespace: namespace, Name: "child"}, one))
	if one.Data["text"] != "new" {
		t.Errorf("reads %q", one.Data["text"])
	}
}

func TestWriterOverwritesNothingNewer(t *testing.T) {
	n := newNursery(t)
	n.must(n.server.Create(n.Context(), n.child("old")))
	stale := n.made()
	newer := n.made()
	newer.Data["text"] = "somebody's"
	n.must(n.server.Update(n.Context(), newer))
	if err := n.write.Update(n.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("updating: %v", err)
	}
	if err := n.write.Delete(n.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("deleting: %v", err)
	}
	stale.ResourceVersion = ""
	if err := n.write.Update(n.Context(), stale); err == nil {
		t.Error("an update without a resourceVersion was sent")
	}
	if got := n.made().Data["text"]; got != "somebody's" {
		t.Errorf("the child says %q", got)
	}
}

func TestWriterRequiresTheProof(t *testing.T) {
	n := newNursery(t)
	n.must(n.server.Create(n.Context(), n.child("old")))
	unproven := n.children.Writer(n.gate(), func(context.Context) error { return lifecycle.ErrStale })
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace}}
	for name, write := range map[string]func() error{
		"create": func() error { return unproven.Create(n.Context(), n.child("new")) },
		"update": func() error { return unproven.Update(n.Context(), n.made()) },
		"delete": func() error { return unproven.Delete(n.Context(), n.made()) },
		"evict":  func() error { return unproven.Evict(n.Context(), pod) },
	} {
		if err := write(); !errors.Is(err, lifecycle.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(n.writes) > 0 {
		t.Errorf("writes %q", n.writes)
	}
}

func TestWriterOwn(t *testing.T) {
	n := newNursery(t)
	child := n.child("new")
	n.must(n.write.Own(child))
	if got := child.OwnerReferences; len(got) != 1 || got[0].UID != n.gate().UID || got[0].Controller == nil || !*got[0].Controller {
		t.Errorf("owners %+v", got)
	}
}

// TestWriterOwnUnwatchedKind shows that a kind that does not declare its children in Owns cannot own them, and what the status
// says about it.
func TestWriterOwnUnwatchedKind(t *testing.T) {
	for name, c := range map[string]struct {
		owns []client.Object
		want string
	}{
		"declared":     {[]client.Object{&corev1.Pod{}, &corev1.ConfigMap{}}, ""},
		"not declared": {[]client.Object{&corev1.Pod{}}, "kind Turnstile does not watch ConfigMap, so that a change of it would not be noticed: add an empty *v1.ConfigMap to Kind.Owns"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig) { r.kind.Owns = c.owns })
			for range 5 {
				r.advance(r.pass().RequeueAfter)
			}
			if got := r.condition(lifecycle.Warning).Message; (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("warning %q, want %q", got, c.want)
			}
		})
	}
}

// TestWriterEvictEnds checks that an eviction ends before the client would repeat it, and not with ErrWait, which says that nothing was evicted.
func TestWriterEvictEnds(t *testing.T) {
	r := newRig(t)
	var left time.Duration
	repeating := interceptor.NewClient(r.server, interceptor.Funcs{
		SubResourceCreate: func(ctx context.Context, _ client.Client, _ string, _, _ client.Object, _ ...client.SubResourceCreateOption) error {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			return context.DeadlineExceeded
		},
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace, UID: "this-one", ResourceVersion: "7"}}
	err := lifecycle.NewChildren(repeating, repeating, r.clock).Writer(r.gate(), nil).Evict(t.Context(), pod)
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lifecycle.ErrWait) || left <= 0 || left >= 10*time.Second {
		t.Errorf("%v, and it may take %s, want a time-out without ErrWait, and less than 10s", err, left)
	}
}

func TestWriterEvict(t *testing.T) {
	for name, c := range map[string]struct {
		answer error
		want   func(error) bool
	}{
		"done":                {nil, func(err error) bool { return err == nil }},
		"already gone":        {apierrors.NewNotFound(corev1.Resource("pods"), "pod"), func(err error) bool { return err == nil }},
		"refused by a budget": {apierrors.NewTooManyRequests("cannot evict", 1), func(err error) bool { return errors.Is(err, lifecycle.ErrWait) }},
		"another pod by now":  {apierrors.NewConflict(corev1.Resource("pods"), "pod", errors.New("uid")), apierrors.IsConflict},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var sent *policyv1.Eviction
			c2 := interceptor.NewClient(r.server, interceptor.Funcs{
				SubResourceCreate: func(_ context.Context, _ client.Client, sub string, _ client.Object, body client.Object, _ ...client.SubResourceCreateOption) error {
					if sub != "eviction" {
						t.Errorf("subresource %s", sub)
					}
					sent, _ = body.(*policyv1.Eviction)
					return c.answer
				},
			})
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace, UID: "this-one", ResourceVersion: "7"}}
			err := lifecycle.NewChildren(c2, c2, r.clock).Writer(r.gate(), nil).Evict(t.Context(), pod)
			if !c.want(err) {
				t.Errorf("error %v", err)
			}
			if p := sent.DeleteOptions.Preconditions; p == nil || p.UID == nil || *p.UID != "this-one" {
				t.Errorf("preconditions %+v", p)
			}
		})
	}
}

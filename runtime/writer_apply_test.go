package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// ofGate is the owner reference of the rig's turnstile.
func ofGate() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "turnstile.test.detent.dev/v1", Kind: "Turnstile", Name: gate, UID: "gate-uid", Controller: new(true), BlockOwnerDeletion: new(true)}
}

func TestWriterApply(t *testing.T) {
	other := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "other", UID: "other-uid", Controller: new(true)}
	user := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "user", UID: "user-uid"}
	replaced := ofGate()
	replaced.UID = "earlier-uid"
	written := []string{"update child"}
	for name, c := range map[string]struct {
		// stored changes the stored child, which is owned and as wanted. Nil means that there is none.
		stored func(*corev1.ConfigMap)
		// wanted changes the child to apply.
		wanted func(*corev1.ConfigMap)
		want   func(*corev1.ConfigMap)
		writes []string
		err    string
	}{
		"creates a child that is missing": {writes: []string{"create child"}},
		"does nothing if equal":           {stored: func(*corev1.ConfigMap) {}},
		"keeps what others added to labels and annotations": {
			stored: func(m *corev1.ConfigMap) { m.Labels["team"], m.Annotations = "a", map[string]string{"note": "b"} },
			want:   func(m *corev1.ConfigMap) { m.Labels["team"], m.Annotations = "a", map[string]string{"note": "b"} },
		},
		"restores data, and keeps what others added to labels": {
			stored: func(m *corev1.ConfigMap) { m.Labels["team"], m.Data["text"] = "a", "another writer's" },
			want:   func(m *corev1.ConfigMap) { m.Labels["team"] = "a" }, writes: written,
		},
		"sets labels and annotations": {
			stored: func(*corev1.ConfigMap) {},
			wanted: func(m *corev1.ConfigMap) { m.Labels["tier"], m.Annotations = "x", map[string]string{"digest": "y"} },
			want:   func(m *corev1.ConfigMap) { m.Labels["tier"], m.Annotations = "x", map[string]string{"digest": "y"} }, writes: written,
		},
		"removes keys of data": {
			stored: func(m *corev1.ConfigMap) { m.Data["old"], m.BinaryData = "x", map[string][]byte{"old": {1}} }, writes: written,
		},
		"removes all data": {
			stored: func(*corev1.ConfigMap) {}, wanted: func(m *corev1.ConfigMap) { m.Data = nil },
			want: func(m *corev1.ConfigMap) { m.Data = nil }, writes: written,
		},
		"keeps a field that the child leaves out": {
			stored: func(m *corev1.ConfigMap) { m.Immutable = new(false) },
			want:   func(m *corev1.ConfigMap) { m.Immutable = new(false) },
		},
		"ignores the revision and the UID that the child carries": {
			wanted: func(m *corev1.ConfigMap) { m.ResourceVersion, m.UID = "7", "earlier" }, writes: []string{"create child"},
		},
		"adopts a labelled child without an owner": {
			stored: func(m *corev1.ConfigMap) { m.OwnerReferences = []metav1.OwnerReference{user} },
			want:   func(m *corev1.ConfigMap) { m.OwnerReferences = []metav1.OwnerReference{user, ofGate()} }, writes: written,
		},
		"adopts the child of an earlier object of the same name": {
			stored: func(m *corev1.ConfigMap) { m.OwnerReferences = []metav1.OwnerReference{replaced} }, writes: written,
		},
		"refuses an object without an owner and labels": {
			stored: func(m *corev1.ConfigMap) { m.OwnerReferences, m.Labels = nil, nil },
			want:   func(m *corev1.ConfigMap) { m.OwnerReferences, m.Labels = nil, nil },
			err:    "which no owner controls and which lacks the labels map[of:gate] of the child",
		},
		"refuses a child that cannot be recognised": {
			stored: func(m *corev1.ConfigMap) { m.OwnerReferences = nil }, wanted: func(m *corev1.ConfigMap) { m.Labels = nil },
			want: func(m *corev1.ConfigMap) { m.OwnerReferences = nil }, err: "lacks the labels map[] of the child",
		},
		"refuses another owner's object": {
			stored: func(m *corev1.ConfigMap) { m.OwnerReferences = []metav1.OwnerReference{other} },
			want:   func(m *corev1.ConfigMap) { m.OwnerReferences = []metav1.OwnerReference{other} },
			err:    "already owned by another Deployment controller other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNursery(t)
			change := func(m *corev1.ConfigMap, changes ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
				for _, change := range changes {
					if change != nil {
						change(m)
					}
				}
				return m
			}
			owned := func(m *corev1.ConfigMap) { m.OwnerReferences = []metav1.OwnerReference{ofGate()} }
			if c.stored != nil {
				n.must(n.server.Create(n.Context(), change(n.child("new"), owned, c.stored)))
			}
			for range 2 { // at rest nothing more is written
				child := change(n.child("new"), c.wanted)
				unchanged := child.DeepCopy()
				err := n.write.Apply(n.Context(), child)
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				if diff := cmp.Diff(unchanged, child); diff != "" {
					t.Errorf("the given child is changed (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(c.writes, n.writes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			ignored := cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "UID", "Generation", "CreationTimestamp")
			if diff := cmp.Diff(change(n.child("new"), owned, c.want), n.made(), ignored, cmpopts.IgnoreTypes(metav1.TypeMeta{})); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWriterApplyDefaults shows that what the API server adds to a child causes no write, and that each kind of change does.
func TestWriterApplyDefaults(t *testing.T) {
	pods := func(change func(*corev1.PodTemplateSpec)) *corev1.PodTemplate {
		p := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: namespace, Labels: map[string]string{"of": gate}}}
		p.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "a:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}, {Name: "b", Image: "b:1"}}
		p.Template.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		p.Template.Spec.TerminationGracePeriodSeconds = new(int64(10))
		if change != nil {
			change(&p.Template)
		}
		return p
	}
	defaults := func(p *corev1.PodTemplateSpec) {
		p.Spec.RestartPolicy, p.Spec.SecurityContext = corev1.RestartPolicyAlways, &corev1.PodSecurityContext{}
		for i := range p.Spec.Containers {
			c := &p.Spec.Containers[i]
			c.TerminationMessagePath, c.ImagePullPolicy = "/dev/termination-log", corev1.PullAlways
			for j := range c.Ports {
				c.Ports[j].Protocol = corev1.ProtocolTCP
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*corev1.PodTemplateSpec)
		writes []string
	}{
		"nothing changed":                {nil, nil},
		"an image changed":               {func(p *corev1.PodTemplateSpec) { p.Spec.Containers[1].Image = "b:2" }, []string{"update child"}},
		"a number is zero":               {func(p *corev1.PodTemplateSpec) { p.Spec.TerminationGracePeriodSeconds = new(int64(0)) }, []string{"update child"}},
		"the last of a list was removed": {func(p *corev1.PodTemplateSpec) { p.Spec.Containers = p.Spec.Containers[:1] }, []string{"update child"}},
		"one was appended to a list": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "c", Image: "c:1"})
		}, []string{"update child"}},
		"a probe was added": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
		}, []string{"update child"}},
		"an empty source replaces another": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}
		}, []string{"update child"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNursery(t)
			n.must(n.write.Apply(n.Context(), pods(nil)))
			stored := &corev1.PodTemplate{}
			n.must(n.server.Get(n.Context(), client.ObjectKey{Namespace: namespace, Name: "child"}, stored))
			defaults(&stored.Template)
			n.must(n.server.Update(n.Context(), stored))
			n.writes = nil
			for range 2 {
				n.must(n.write.Apply(n.Context(), pods(c.change)))
			}
			if diff := cmp.Diff(c.writes, n.writes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriterApplySecretStringData(t *testing.T) {
	n := newNursery(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: namespace, Labels: map[string]string{"of": gate}},
		StringData: map[string]string{"key": "a"},
	}
	stored := secret.DeepCopy()
	stored.StringData, stored.Data = nil, map[string][]byte{"key": []byte("a"), "old": nil}
	n.must(n.server.Create(n.Context(), stored))
	for range 2 {
		n.must(n.write.Apply(n.Context(), secret))
	}
	n.must(n.server.Get(n.Context(), client.ObjectKeyFromObject(secret), stored))
	if diff := cmp.Diff(map[string][]byte{"key": []byte("a")}, stored.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"update child"}, n.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestWriterApplyRaces shows what Apply returns while its view of the child is old. The caller requeues on each of these.
func TestWriterApplyRaces(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*nursery)
		want   func(error) bool
		text   string
	}{
		"the cache is behind our last write": {func(n *nursery) {
			n.freeze("child")
			m := n.made()
			m.Data["text"] = "newest"
			n.must(n.write.Update(n.Context(), m))
		}, func(err error) bool { return errors.Is(err, lifecycle.ErrStale) }, "newest"},
		"the cache is behind another writer": {func(n *nursery) {
			n.freeze("child")
			m := n.made()
			m.Data["text"] = "another writer's"
			n.must(n.server.Update(n.Context(), m))
		}, apierrors.IsConflict, "another writer's"},
		"the cache excludes the child": {func(n *nursery) { n.cache.hidden = "child" }, func(err error) bool { return err == nil }, "new"},
		"the child is being deleted": {func(n *nursery) {
			m := n.made()
			m.Finalizers = []string{"test.detent.dev/blocks"}
			n.must(n.server.Update(n.Context(), m))
			n.must(n.server.Delete(n.Context(), m))
		}, func(err error) bool { return errors.Is(err, lifecycle.ErrWait) }, "old"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNursery(t)
			n.must(n.write.Apply(n.Context(), n.child("old")))
			n.reads()
			c.before(n)
			if err := n.write.Apply(n.Context(), n.child("new")); !c.want(err) {
				t.Errorf("error %v", err)
			}
			if got := n.made().Data["text"]; got != c.text {
				t.Errorf("the child says %q, want %q", got, c.text)
			}
		})
	}
}

// TestWriterApplyCreateRace shows that a child which another writer creates between the read and the create is updated, and that
// one which is deleted again is applied by the next reconcile.
func TestWriterApplyCreateRace(t *testing.T) {
	for name, deleted := range map[string]bool{"created": false, "created and deleted": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			racing := interceptor.NewClient(r.server, interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					rival := (&nursery{rig: r}).child("another writer's")
					if err := c.Create(ctx, rival); err != nil {
						return err
					}
					err := c.Create(ctx, o, opts...)
					if deleted {
						return errors.Join(c.Delete(ctx, rival), err)
					}
					return err
				},
			})
			n := &nursery{rig: r, children: lifecycle.NewChildren(racing, r.server, r.clock)}
			n.write = n.children.Writer(r.gate(), nil)
			err := n.write.Apply(n.Context(), n.child("new"))
			if deleted {
				if !errors.Is(err, lifecycle.ErrStale) {
					t.Errorf("error %v, want %v", err, lifecycle.ErrStale)
				}
				return
			}
			if got := n.made().Data["text"]; err != nil || got != "new" {
				t.Errorf("the child says %q, error %v", got, err)
			}
		})
	}
}

// TestReconcilerApplyWaits shows that a child that is being deleted is shown and does not back off the children: they are applied
// at the next poll.
func TestReconcilerApplyWaits(t *testing.T) {
	n := newNursery(t)
	key := types.NamespacedName{Namespace: namespace, Name: "child"}
	apply := n.kind.Apply
	n.kind.Apply = func(ctx context.Context, g *api.Turnstile, v turnstile.Snapshot, write lifecycle.Writer) error {
		return errors.Join(apply(ctx, g, v, write), write.Apply(ctx, n.child("new")))
	}
	n.restart()
	n.rest()
	m := &corev1.ConfigMap{}
	n.must(n.server.Get(n.Context(), key, m))
	m.Finalizers = []string{"test.detent.dev/blocks"}
	n.must(n.server.Update(n.Context(), m))
	n.must(n.server.Delete(n.Context(), m))
	if after := n.pass().RequeueAfter; after > 5*time.Second {
		t.Errorf("requeued after %s", after)
	}
	if got := n.condition(lifecycle.Warning).Message; !strings.Contains(got, "it is being deleted") {
		t.Errorf("warning %q", got)
	}
	n.must(n.server.Get(n.Context(), key, m))
	m.Finalizers = nil
	n.must(n.server.Update(n.Context(), m))
	n.advance(n.pass().RequeueAfter)
	n.pass()
	if got := n.made().Data["text"]; got != "new" || n.condition(lifecycle.Warning).Type != "" {
		t.Errorf("the child says %q, condition %+v", got, n.condition(lifecycle.Warning))
	}
}

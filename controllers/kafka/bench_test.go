package kafka

import (
	"context"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// shelf is a cache as an informer's: it hands out the very objects it holds.
type shelf struct {
	client.Reader
	lists map[reflect.Type]client.ObjectList
}

func (s *shelf) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	from := reflect.ValueOf(s.lists[reflect.TypeOf(list)]).Elem()
	reflect.ValueOf(list).Elem().Set(from)
	return nil
}

func (r *rig) shelve(b testing.TB) *shelf {
	b.Helper()
	s := &shelf{lists: map[reflect.Type]client.ObjectList{}}
	for _, list := range []client.ObjectList{
		&kafkav1beta2.KafkaNodePoolList{}, &corev1beta2.StrimziPodSetList{}, &corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.PersistentVolumeClaimList{},
		&corev1.ServiceList{}, &corev1.ServiceAccountList{}, &policyv1.PodDisruptionBudgetList{}, &appsv1.DeploymentList{},
	} {
		if err := r.client.List(b.Context(), list); err != nil {
			b.Fatal(err)
		}
		s.lists[reflect.TypeOf(list)] = list
	}
	return s
}

// silentWriter fails on every write: a cluster at rest makes none.
type silentWriter struct {
	lifecycle.Writer
	tb testing.TB
}

func (w silentWriter) Create(_ context.Context, o client.Object) error {
	w.tb.Fatalf("creating %T %s at rest", o, o.GetName())
	return nil
}

func (w silentWriter) Update(_ context.Context, o client.Object) error {
	w.tb.Fatalf("updating %T %s at rest", o, o.GetName())
	return nil
}

// BenchmarkRest is what a cluster of six nodes costs while nothing changes: its view, repair and apply.
func BenchmarkRest(b *testing.B) {
	r := separate(b)
	r.settle()
	k := r.cluster()
	look := lifecycle.Viewing{Now: r.clock.Now(), Read: r.shelve(b), MaxAge: func(transitions.Need) time.Duration { return time.Minute }}
	write := silentWriter{tb: b}
	for name, run := range map[string]func() error{
		"view": func() error { _, err := r.collector.Collect(b.Context(), k, look); return err },
		"view, repair and apply": func() error {
			v, err := r.collector.Collect(b.Context(), k, look)
			if err != nil {
				return err
			}
			if err := r.effects.Repair(b.Context(), k, &v, write); err != nil {
				return err
			}
			return r.effects.Apply(b.Context(), k, &v, write, func(*Node) string { return "4.1.1" })
		},
		"desired revisions": func() error {
			v, err := r.collector.Collect(b.Context(), k, look)
			if err != nil {
				return err
			}
			for i := range v.Nodes {
				if _, err := v.Desired(&v.Nodes[i], "4.1.1"); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRender is what a change of the declaration costs: everything is rendered anew.
func BenchmarkRender(b *testing.B) {
	r := separate(b)
	r.settle()
	v := r.view(false)
	in := v.input(r.cluster())
	b.ReportAllocs()
	for b.Loop() {
		var kept rendered
		c := kept.cluster("u", in)
		for i := range v.Nodes {
			if _, err := c.Entry(v.Nodes[i].ID, "4.1.1"); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// Package sequence is the same work twice: twelve ConfigMaps, written one after another, each in a step that is stored in the
// status before it begins. One operator declares a machine, the other is a reconciler that is written by hand.
package sequence

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/test/bench/sequence/api"
)

// Steps of the work. Each writes one ConfigMap.
const Steps = 12

// Done is the state, or the phase, after the last step.
const Done = "Done"

// step returns the name of the state, or the phase, of step n, from 1 on.
func step(n int) string { return fmt.Sprintf("Step%02d", n) }

// facts are observed: how many ConfigMaps have the text, from the first on. A ConfigMap after the first that lacks it is not read.
type facts struct {
	Text    string
	Written int
}

// write is the only effect: it writes the ConfigMap of a step.
type write struct{ Step int }

// Operator runs the machine.
func Operator() detent.Operator[*api.Sequence, facts, write] {
	return detent.Operator[*api.Sequence, facts, write]{
		Name: "Sequence", New: func() *api.Sequence { return &api.Sequence{} }, Machine: machine(), Owns: []client.Object{&corev1.ConfigMap{}},
		Observe: func(ctx context.Context, s *api.Sequence, read client.Reader) (facts, error) {
			f, found := facts{Text: s.Spec.Text}, &corev1.ConfigMap{}
			for ; f.Written < Steps; f.Written++ {
				*found = corev1.ConfigMap{} // is only read, and needs no copy
				if err := client.IgnoreNotFound(read.Get(ctx, childKey(s, f.Written+1), found, client.UnsafeDisableDeepCopy)); err != nil {
					return f, err
				}
				if found.Data["text"] != s.Spec.Text {
					break
				}
			}
			return f, nil
		},
		Execute: func(ctx context.Context, s *api.Sequence, w write, to detent.Writer) error {
			return to.Apply(ctx, child(s, w.Step, s.Spec.Text))
		},
	}
}

func childKey(owner client.Object, n int) types.NamespacedName {
	return types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName() + "-" + strconv.Itoa(n)}
}

func child(owner client.Object, n int, text string) *corev1.ConfigMap {
	key := childKey(owner, n)
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"text": text}}
}

func machine() detent.Machine[facts, write] {
	written := func(n int) detent.Guard[facts] {
		return detent.Is(fmt.Sprintf("written-%02d", n), "the ConfigMap with the text", func(f *facts) (bool, string) { return f.Written >= n, "none" })
	}
	all := detent.Is("all-written", "all ConfigMaps with the text", func(f *facts) (bool, string) { return next(f) > Steps, step(next(f)) })
	m := detent.Machine[facts, write]{
		Name: "sequence", Doc: "writes ConfigMaps one after another",
		Target: func(f *facts) detent.Target { return detent.Target{To: f.Text} },
		Infer:  detent.InferFrom(func(f *facts) string { return state(next(f)) }, step(1), Done),
	}
	for n := 1; n <= Steps; n++ {
		before := detent.Is("before-"+strconv.Itoa(n), "the previous ConfigMaps", func(f *facts) (bool, string) { return next(f) >= n, step(next(f)) })
		m.States = append(m.States, detent.State[facts, write]{
			State: detent.Work(step(n), "a ConfigMap is being written", time.Minute), Invariant: before, OnTargetChange: step(1),
			Action: detent.Do[facts](write{n}),
		})
		m.Transitions = append(m.Transitions, detent.Transition[facts]{Event: "written", From: step(n), To: state(n + 1), When: written(n), Awaited: true})
		if n > 1 {
			m.Infer.States = append(m.Infer.States, step(n))
		}
	}
	m.States = append(m.States, detent.State[facts, write]{State: detent.Rest(Done, "all ConfigMaps are written")})
	m.Transitions = append(m.Transitions, detent.Transition[facts]{
		Event: "changed", From: Done, To: step(1), NewAttempt: true, When: detent.Not(all, "another text"), Doc: "another text is wanted, or a ConfigMap was lost",
	})
	return m
}

// next returns the first step whose ConfigMap is not written.
func next(f *facts) int { return f.Written + 1 }

// state returns the state, or the phase, of step n, which may be one more than there are.
func state(n int) string {
	if n > Steps {
		return Done
	}
	return step(n)
}

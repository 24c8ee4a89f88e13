package explore_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
)

type (
	greeter   = lifecycle.Kind[*api.Greeting, hello.Facts, hello.Speak]
	subject   = explore.Subject[*api.Greeting, hello.Facts, hello.Speak]
	greetings = machines.Evaluator[*api.Greeting, hello.Facts, hello.Speak]
)

func greeting() subject {
	return subject{
		Name: "hello", Kind: func(*explore.Scenario) (greeter, error) { return hello.Operator.Kind() },
		AddToScheme: []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme},
		Object:      &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "world"}, Spec: api.GreetingSpec{Text: "hello"}},
		Edits:       []explore.Edit[*api.Greeting]{{Name: "asks for good day", Make: func(g *api.Greeting) { g.Spec.Text = "good day" }}},
	}
}

// TestSeededBugs breaks one layer of the runtime at a time from outside, and checks that the search reports it.
//
//test:norace
func TestSeededBugs(t *testing.T) {
	for name, c := range map[string]struct {
		found string
		seed  func(*subject)
		with  explore.Fault // which the story needs
	}{
		"nothing": {seed: func(*subject) {}},
		"a cache that is trusted after an own write": {
			found: "on a persisted state that is not the newest",
			seed: func(s *subject) {
				s.Through = func(cached client.Client, live client.Reader) (client.Client, client.Reader) {
					return forgetful{cached}, live
				}
			},
		},
		"the action of a left state after failover": {
			found: "on a persisted state that is not the newest",
			seed: func(s *subject) {
				s.Through = func(cached client.Client, _ client.Reader) (client.Client, client.Reader) { return cached, cached }
			},
		},
		"an action before the commit of its state": {
			found: "is stored, which has no action",
			seed: func(s *subject) {
				s.Kind = func(*explore.Scenario) (greeter, error) {
					kind, err := hello.Operator.Kind()
					kind.Lifecycles[0] = machines.LifecycleOf(access.Key{}, hasty{kind.Lifecycles[0].Evaluator(access.Key{})})
					return kind, err
				}
			},
		},
		"a commit that is taken for successful although it was refused": {
			found: "hello does {Text:hello} for state Speaking, which is not stored",
			with:  explore.Conflict,
			seed: func(s *subject) {
				s.Through = func(cached client.Client, live client.Reader) (client.Client, client.Reader) {
					return hopeful{cached}, live
				}
			},
		},
		"a status that is never written": {
			found: "does not come to rest",
			seed: func(s *subject) {
				s.Through = func(cached client.Client, live client.Reader) (client.Client, client.Reader) {
					return deaf{cached}, live
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := greeting()
			c.seed(&s)
			if c.found != "" { // events that would prevent the story, and are not part of it
				without := slices.DeleteFunc([]explore.Fault{explore.Overlaps, explore.Conflict, explore.Invalid, explore.Throttled, explore.TimedOut, explore.Unread, explore.PausedBy}, func(f explore.Fault) bool { return f == c.with })
				s.Without = append(s.Without, without...)
			}
			report, err := explore.Explore(t.Context(), s, explore.Options{States: 6000, Time: 2 * time.Minute, Until: c.found})
			if err != nil {
				t.Fatal(err)
			}
			if c.found == "" {
				if len(report.Violations) > 0 {
					t.Errorf("%s, %v", report, report.Violations)
				}
				return
			}
			for _, v := range report.Violations {
				if strings.Contains(v.What, c.found) {
					t.Logf("found after %d states:\n%s", report.Expanded, v)
					return
				}
			}
			t.Errorf("nothing says %q: %s, %v", c.found, report, report.Violations)
		})
	}
}

// forgetful hides the revision of a status write from the runtime, so that a stale cache seems current.
type forgetful struct{ client.Client }

func (f forgetful) Status() client.SubResourceWriter { return forgetfulStatus{f.Client.Status()} }

type forgetfulStatus struct{ client.SubResourceWriter }

func (f forgetfulStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	before := o.GetResourceVersion()
	err := f.SubResourceWriter.Update(ctx, o, opts...)
	o.SetResourceVersion(before)
	return err
}

// hopeful reports success where a status write met a conflict.
type hopeful struct{ client.Client }

func (h hopeful) Status() client.SubResourceWriter { return hopefulStatus{h.Client.Status()} }

type hopefulStatus struct{ client.SubResourceWriter }

func (h hopefulStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if err := h.SubResourceWriter.Update(ctx, o, opts...); !apierrors.IsConflict(err) {
		return err
	}
	return nil
}

// deaf drops every status write and reports success.
type deaf struct{ client.Client }

func (d deaf) Status() client.SubResourceWriter { return deafStatus{d.Client.Status()} }

type deafStatus struct{ client.SubResourceWriter }

func (deafStatus) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return nil
}

// hasty executes the effects of the state that it is about to enter.
type hasty struct{ greetings }

func (h hasty) Action(state string) (machines.ActionInfo, bool) {
	if state == "Settled" {
		state = "Speaking"
	}
	return h.greetings.Action(state)
}

func (h hasty) Evaluate(q machines.EvaluationInput[*api.Greeting, hello.Facts]) machines.Evaluation[hello.Speak] {
	evaluation := h.greetings.Evaluate(q)
	d := evaluation.Decide()
	if q.Entry == nil || d.Move == nil || d.Move.To != "Speaking" {
		return evaluation
	}
	entered, err := evaluation.Enter(*d.Move)
	if err != nil {
		return evaluation
	}
	q.Entry = &entered
	return h.greetings.Evaluate(q)
}

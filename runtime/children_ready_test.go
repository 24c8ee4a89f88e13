package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// Answers to the write of a child.
var (
	errQuota    = apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), "data-0", errors.New("exceeded quota"))
	errOutage   = fmt.Errorf("creating a claim: %w", apierrors.NewServiceUnavailable("etcd has no leader"))
	errNetwork  = &url.Error{Op: "Post", URL: "https://10.96.0.1", Err: errors.New("connection refused")}
	errExists   = fmt.Errorf("creating a claim: %w", apierrors.NewAlreadyExists(corev1.Resource("persistentvolumeclaims"), "data-0"))
	errMissing  = apierrors.NewNotFound(corev1.Resource("services"), "gate")
	errUnserved = apierrors.NewGenericServerResponse(http.StatusNotFound, "post", corev1.Resource("podsets"), "", "404 page not found", 0, true)
	errConflict = apierrors.NewConflict(corev1.Resource("services"), "gate", errors.New("changed"))
)

// answers makes Apply end with the errors, one for each call, and then succeed. It starts a process.
func (r *rig) answers(errs ...error) {
	r.Helper()
	r.kind.Apply = func(context.Context, *api.Turnstile, turnstile.Snapshot, lifecycle.Writer) error {
		if len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
	r.restart()
}

// readiness is Ready as a text: its status for the generation, or that it is of an earlier one.
func (r *rig) readiness() string {
	r.Helper()
	c := r.condition("Ready")
	if c.Status == metav1.ConditionTrue && r.gate().Status.ObservedGeneration == r.gate().Generation {
		return "ready"
	}
	return c.Reason
}

// An object is ready only if its children are as the spec declares them. A failure that the next attempt removes is not shown.
func TestReadyNeedsItsChildren(t *testing.T) {
	for name, c := range map[string]struct {
		answers []error
		edit    func(*api.TurnstileSpec)
		want    []string
	}{
		"a write that the API server rejects is shown at once":    {answers: []error{errQuota}, want: []string{"ChildrenFailed", "ready"}},
		"an error of the kind too":                                {answers: []error{errors.New("another owner's")}, want: []string{"ChildrenFailed", "ready"}},
		"a rejected write among others":                           {answers: []error{errors.Join(errOutage, errQuota)}, want: []string{"ChildrenFailed", "ready"}},
		"what cannot be done yet":                                 {answers: []error{lifecycle.ErrWait}, want: []string{"ChildrenFailed", "ready"}},
		"an outage of one attempt is not shown":                   {answers: []error{errOutage}, want: []string{"ready", "ready"}},
		"nor a connection that is refused once":                   {answers: []error{errors.Join(errNetwork, errOutage)}, want: []string{"ready", "ready"}},
		"an outage that lasts is":                                 {answers: []error{errOutage, errNetwork}, want: []string{"ready", "ChildrenFailed", "ready"}},
		"a conflict is not shown":                                 {answers: []error{errConflict, errConflict}, want: []string{"ready", "ready", "ready"}},
		"a child that the cache does not show yet is not":         {answers: []error{errExists}, want: []string{"ready", "ready"}},
		"nor one that the cache still shows":                      {answers: []error{errMissing}, want: []string{"ready", "ready"}},
		"an object of others is shown a second later":             {answers: []error{errExists, errExists}, want: []string{"ready", "ChildrenFailed", "ready"}},
		"a resource that the API server lacks is shown at once":   {answers: []error{errUnserved}, want: []string{"ChildrenFailed", "ready"}},
		"an edit is not ready before its children are":            {answers: []error{errOutage}, edit: func(s *api.TurnstileSpec) { s.Approved = "none" }, want: []string{"ChildrenPending", "ready"}},
		"nor after a conflict":                                    {answers: []error{errConflict}, edit: func(s *api.TurnstileSpec) { s.Approved = "none" }, want: []string{"ChildrenPending", "ready"}},
		"nor while a lifecycle that never waits comes to rest":    {answers: []error{errQuota}, edit: func(s *api.TurnstileSpec) { s.Lamp = "green" }, want: []string{"Switching", "Switching", "AwaitingGlow", "ChildrenFailed", "ChildrenFailed", "ready"}},
		"a lifecycle that never waits is ready with its last one": {edit: func(s *api.TurnstileSpec) { s.Lamp = "green" }, want: []string{"Switching", "Switching", "AwaitingGlow", "ready"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			r.answers(c.answers...)
			if c.edit != nil {
				r.spec(c.edit)
			}
			var got []string
			for range c.want {
				r.advance(r.pass().RequeueAfter)
				got = append(got, r.readiness())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("after each reconcile (-want +got):\n%s", diff)
			}
			if got := r.condition("Warning"); got.Type != "" {
				t.Errorf("still warns of %s: %s", got.Reason, got.Message)
			}
		})
	}
}

func TestReadyNamesTheChildThatFailed(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.answers(errQuota)
	r.pass()
	const want = `applying children: persistentvolumeclaims "data-0" is forbidden: exceeded quota`
	for _, kind := range []string{"Ready", "Warning"} {
		if got := r.condition(kind); got.Reason != lifecycle.ChildrenFailed || got.Message != want {
			t.Errorf("%s is %s: %s", kind, got.Reason, got.Message)
		}
	}
}

// What a kind records as done needs the children of the generation, in this process.
func TestProjectKnowsWhetherChildrenAreApplied(t *testing.T) {
	r := newRig(t)
	r.rest()
	var got []bool
	project := r.kind.Project
	r.kind.Project = func(g *api.Turnstile, v turnstile.Snapshot, request lifecycle.ProjectRequest) []metav1.Condition {
		got = append(got, request.Applied)
		return project(g, v, request)
	}
	r.answers(errOutage, nil, errConflict, errQuota)
	for range 5 {
		r.advance(r.pass().RequeueAfter)
	}
	if diff := cmp.Diff([]bool{false, true, true, false, true}, got); diff != "" {
		t.Errorf("after each reconcile (-want +got):\n%s", diff)
	}
}

func TestTheProcessThatStartsLeavesReadyAsItIs(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.restart()
	r.writes = nil
	r.rest()
	if len(r.writes) > 0 {
		t.Errorf("writes %q", r.writes)
	}
}

package accounts

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// TestKindKeepsAccounts runs the operator with pollers on a service that loses every third answer.
func TestKindKeepsAccounts(t *testing.T) {
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	account := &api.Account{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "savings", UID: "uid", Generation: 1}, Spec: api.AccountSpec{Plan: "gold"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(account).WithStatusSubresource(account).Build()
	service := &bank.Bank{Plans: map[string]string{}, Offers: []string{"basic", "gold"}, Cards: map[string]bool{}}
	server := httptest.NewServer(bank.Unreliable(service))
	defer server.Close()
	clk, woken := clocktesting.NewFakeClock(time.Unix(1e9, 0)), make(chan types.NamespacedName, 1000)
	system := &Polled{Protocol: NewProtocol(server.URL, server.Client()), Clock: clk, Wake: func(name types.NamespacedName) { woken <- name }}
	defer system.Close()
	kind, err := NewKind(system)
	if err != nil {
		t.Fatal(err)
	}
	r := lifecycle.New(kind, lifecycle.Options{Client: c, Live: c, Clock: clk})
	ctx, key := context.Background(), client.ObjectKeyFromObject(account)
	until := func(what string, reached func(err error) bool) {
		t.Helper()
		for range 5000 {
			if reached(c.Get(ctx, key, account)) {
				return
			}
			if _, err := r.Reconcile(ctx, reconcile.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			select { // an answer, or time passes
			case <-woken:
			case <-time.After(time.Millisecond):
				clk.Step(time.Second)
			}
		}
		t.Fatalf("%s: never reached: %+v", what, account.Status.Lifecycles)
	}
	ready := func(err error) bool {
		s := account.Status
		settled := !slices.ContainsFunc(s.Lifecycles, func(e lifecyclev1.Lifecycle) bool { return e.State != "Settled" })
		return err == nil && s.ObservedGeneration == account.Generation && len(s.Lifecycles) == 2+len(account.Spec.Cards) && settled
	}
	for generation, plan := range []string{"gold", "basic"} {
		cards := []string{"amex", "visa"}[generation:]
		account.Spec.Plan, account.Spec.Cards, account.Generation = plan, cards, int64(generation+1)
		if err := c.Update(ctx, account); err != nil {
			t.Fatal(err)
		}
		until(plan, func(err error) bool {
			return ready(err) && len(service.Accounts()) > 0 && len(service.Issued("uid")) > 0
		})
		if diff := cmp.Diff(cards, service.Issued("uid")); diff != "" {
			t.Errorf("cards (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"uid": plan}, service.Accounts()); diff != "" {
			t.Errorf("accounts (-want +got):\n%s", diff)
		}
	}
	if err := c.Delete(ctx, account); err != nil {
		t.Fatal(err)
	}
	until("deleted", apierrors.IsNotFound)
	if diff := cmp.Diff(map[string]string{}, service.Accounts()); diff != "" {
		t.Errorf("accounts after the deletion (-want +got):\n%s", diff)
	}
	if left := service.Issued("uid"); len(left) > 0 {
		t.Errorf("cards %q are left after the deletion", left)
	}
}

// transport answers every request.
type transport func(r *http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestProtocolAskFails(t *testing.T) {
	for name, c := range map[string]struct {
		answer transport
		want   string
	}{
		"the connection is reset, without its addresses": {func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "read", Source: &net.TCPAddr{Port: 40123}, Err: errors.New("connection reset")}
		}, "the service does not answer: read: connection reset"},
		"the service does not answer in time": {func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, `Get "http://bank/uid": context deadline exceeded`},
		"the answer is too long": {func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"plan":"` + strings.Repeat("x", 1<<20) + `"}`))}, nil
		}, "unexpected end of JSON input"},
		"the service refuses": {func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusForbidden, Body: io.NopCloser(strings.NewReader("not yours\n"))}, nil
		}, "the service answered 403: not yours"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			d := Direct{Protocol: NewProtocol("http://bank", &http.Client{Transport: c.answer})}
			reading := d.Read(ctx, Target{UID: "uid"}, make([]external.Query[transitions.Need], 1), true, time.Unix(0, 0))[0]
			if reading.Err == nil || reading.Err.Error() != c.want {
				t.Errorf("error %v, want %s", reading.Err, c.want)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want external.AnswerState
	}{
		"refused":                {&refusal{http.StatusConflict, "no such plan"}, external.Refused},
		"the service has failed": {&refusal{http.StatusBadGateway, ""}, external.Unknown},
		"never sent":             {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, external.Failed},
		"connection lost":        {&net.OpError{Op: "read", Err: errors.New("connection reset")}, external.Unknown},
		"time-out":               {context.DeadlineExceeded, external.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outcome(c.err).State; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

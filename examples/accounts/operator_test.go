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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// rig runs the operator with pollers on a service, and one account.
type rig struct {
	*testing.T
	client.Client
	operator   Operator
	reconciler reconcile.Reconciler
	clock      *clocktesting.FakeClock
	woken      chan types.NamespacedName
	account    *api.Account
}

func newRig(t *testing.T, account *api.Account, service http.Handler, restrict func(*Operator)) *rig {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	account.Namespace, account.Name, account.UID = "default", "savings", "uid"
	server := httptest.NewServer(service)
	r := &rig{
		T: t, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(account).WithStatusSubresource(account).Build(), account: account,
		operator: NewOperator(server.URL, server.Client()), clock: clocktesting.NewFakeClock(time.Unix(1e9, 0)), woken: make(chan types.NamespacedName, 1000),
	}
	restrict(&r.operator)
	system := &external.Polled[external.Object, external.Object, transitions.Need, bank.Account, Command]{
		Protocol: r.operator.Protocol(), Clock: r.clock, Settle: Settle, Wake: func(name types.NamespacedName) { r.woken <- name },
	}
	t.Cleanup(func() {
		server.Close()
		system.Close()
	})
	kind, err := r.operator.Kind(system)
	if err != nil {
		t.Fatal(err)
	}
	r.reconciler = lifecycle.New(kind, lifecycle.Options{Client: r, Live: r, Clock: r.clock})
	return r
}

// step reconciles, and awaits an answer, or lets time pass.
func (r *rig) step() {
	r.Helper()
	_, err := r.reconciler.Reconcile(r.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(r.account)})
	r.must(err)
	select {
	case <-r.woken:
	case <-time.After(time.Millisecond):
		r.clock.Step(time.Second)
	}
}

// until steps until the account has reached something; err says whether it exists.
func (r *rig) until(what string, reached func(err error) bool) {
	r.Helper()
	for range 5000 {
		if reached(r.Get(r.Context(), client.ObjectKeyFromObject(r.account), r.account)) {
			return
		}
		r.step()
	}
	r.Fatalf("%s: never reached: %+v", what, r.account.Status.Lifecycles)
}

// shown returns the account as the service shows it, without what it offers.
func (r *rig) shown() bank.Account {
	r.Helper()
	account, err := r.operator.Ask(r.Context(), external.Object{UID: "uid"}, NeedAccount)
	for range 2 { // answers may be lost
		if err != nil {
			account, err = r.operator.Ask(r.Context(), external.Object{UID: "uid"}, NeedAccount)
		}
	}
	r.must(err)
	account.Offers = nil
	return account
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// TestOperatorKeepsAccounts runs the operator on a service that loses every third answer.
func TestOperatorKeepsAccounts(t *testing.T) {
	r := newRig(t, &api.Account{}, bank.New(3), func(*Operator) {})
	isSettled := func(want bank.Account) func(error) bool {
		return func(err error) bool {
			unsettled := slices.ContainsFunc(r.account.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool { return e.State != "Settled" })
			return err == nil && r.account.Status.ObservedGeneration == r.account.Generation && !unsettled && cmp.Equal(want, r.shown())
		}
	}
	for generation, want := range []bank.Account{{Plan: "gold", Cards: []string{"amex", "visa"}}, {Plan: "basic", Cards: []string{"visa"}}} {
		r.account.Spec, r.account.Generation = api.AccountSpec{Plan: want.Plan, Cards: want.Cards}, int64(generation+1)
		r.must(r.Update(t.Context(), r.account))
		r.until(want.Plan, isSettled(want))
	}
	r.must(r.Delete(t.Context(), r.account))
	r.until("deleted", apierrors.IsNotFound)
	if diff := cmp.Diff(bank.Account{}, r.shown()); diff != "" {
		t.Errorf("account after the deletion (-want +got):\n%s", diff)
	}
}

// cardsOnly leaves out the lifecycle of the account, whose guards would request its answers.
func cardsOnly(o *Operator) { o.Machines = []detent.Machine[Facts, Command]{CardMachine()} }

// TestOperatorCancelsACardWhoseEntryIsLost deletes an object whose status was lost after its last card was removed from the spec. No entry
// requests the answer that shows the card, and the first answer takes a moment.
func TestOperatorCancelsACardWhoseEntryIsLost(t *testing.T) {
	service := bank.New(0)
	service.Accounts["uid"] = bank.Account{Plan: "gold", Cards: []string{"visa"}}
	r := newRig(t, &api.Account{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{lifecycle.Finalizer}}}, service, cardsOnly)
	r.must(r.Delete(t.Context(), r.account))
	r.until("deleted", apierrors.IsNotFound)
	if cards := r.shown().Cards; len(cards) > 0 {
		t.Errorf("cards after the deletion: %q", cards)
	}
}

// TestOperatorAwaitsACommandWhoseEntryIsLost loses the status while a card is being issued, removes it from the spec, and deletes the object:
// the last answer shows no card, and one is issued nevertheless.
func TestOperatorAwaitsACommandWhoseEntryIsLost(t *testing.T) {
	for name, underWay := range map[string]bool{"under way": true, "just carried out": false} {
		t.Run(name, func(t *testing.T) {
			service, sent, executed := bank.New(0), make(chan struct{}, 1000), make(chan struct{})
			service.Accounts["uid"] = bank.Account{Plan: "gold"}
			execute := sync.OnceFunc(func() { close(executed) })
			if !underWay {
				execute()
			}
			r := newRig(t, &api.Account{Spec: api.AccountSpec{Plan: "gold", Cards: []string{"visa"}}}, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if q.Method == http.MethodPut {
					sent <- struct{}{}
					<-executed
				}
				service.ServeHTTP(w, q)
			}), cardsOnly)
			t.Cleanup(execute) // before the service is closed
			r.until("that it is being issued", func(error) bool { return len(sent) > 0 })
			r.account.Status = api.Account{}.Status
			r.must(r.Status().Update(t.Context(), r.account))
			r.account.Spec.Cards = nil
			r.must(r.Update(t.Context(), r.account))
			r.must(r.Delete(t.Context(), r.account))
			for range 20 {
				r.step()
			}
			if underWay {
				r.must(r.Get(t.Context(), client.ObjectKeyFromObject(r.account), r.account))
				execute()
			}
			r.until("deleted", apierrors.IsNotFound)
			if cards := r.shown().Cards; len(cards) > 0 {
				t.Errorf("cards after the deletion: %q", cards)
			}
		})
	}
}

// shows steps until the message of Ready contains the text, while the account is in one of the states; none means any.
func (r *rig) shows(text string, states ...string) {
	r.Helper()
	r.until("a status with "+text, func(error) bool {
		ready := meta.FindStatusCondition(r.account.Status.Conditions, lifecycle.Ready)
		in := func(e lifecyclev1.Lifecycle) bool { return slices.Contains(states, e.State) }
		return ready != nil && strings.Contains(ready.Message, text) && (len(states) == 0 || slices.ContainsFunc(r.account.Status.Lifecycles, in))
	})
}

// TestOperatorShowsWhyACommandFails checks that the status says why a command has no success, also while it is repeated.
func TestOperatorShowsWhyACommandFails(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"refused": {&external.Refusal{Code: 403, Name: "Forbidden", Text: "not yours"}, "account gold: on-plan: plan ; failure: the last command was refused with 403 Forbidden: not yours"},
		"failed": {
			&external.NeverSent{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}},
			"account gold: on-plan: plan ; failure: the last command was not sent: the system does not answer: dial: connection refused",
		},
		"unknown": {errors.New("the service answers with 502 Bad Gateway"), "failure: it is not known whether the last command was carried out: the service answers with 502 Bad Gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &api.Account{Spec: api.AccountSpec{Plan: "gold"}}, bank.New(0), func(o *Operator) {
				o.Execute = func(context.Context, external.Object, Command) error { return c.err }
			})
			_, why, _ := strings.Cut(c.want, "failure: ")
			r.shows("failure: "+why, external.Retrying("Updating"))
			r.shows(c.want, "Updating")
			r.shows("failure: "+why, external.Retrying("Updating"))
		})
	}
}

// TestOperatorShowsThatTheServiceCannotBeRead checks that the status names the service, since when it cannot be read, why, and what waits for it.
func TestOperatorShowsThatTheServiceCannotBeRead(t *testing.T) {
	const why = ": the bank does not answer: dial: connect: connection refused"
	deletes := func(r *rig) { r.must(r.Delete(r.Context(), r.account)) }
	for name, c := range map[string]struct {
		account  api.Account
		restrict func(*Operator)
		settle   bool
		then     func(*rig)
		want     []string
	}{
		"a new account": {want: []string{"generation 1 has not been decided upon by every lifecycle yet; account: not(on-plan): cannot be read since 2001-09-09T01:46:4", why}},
		"at rest":       {settle: true, want: []string{"no lifecycle is under way; account gold: not(on-plan): cannot be read since 2001-09-09T", why}},
		"being deleted": {settle: true, then: deletes, want: []string{"account (deletion): not(open): cannot be read since 2001-09-09T", why}},
		"being deleted after the status was lost": {
			account:  api.Account{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{lifecycle.Finalizer}}},
			restrict: cardsOnly, then: deletes,
			want: []string{"card: what there is of it is not known: account cannot be read since 2001-09-09T01:46:4", why},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(nil)
			server.Close()
			unreachable, down := NewOperator(server.URL, &http.Client{}), &atomic.Bool{}
			c.account.Generation, c.account.Spec.Plan = 1, "gold"
			r := newRig(t, &c.account, bank.New(0), func(o *Operator) {
				ask := o.Ask
				o.Ask = func(ctx context.Context, of external.Object, need transitions.Need) (bank.Account, error) {
					if down.Load() {
						return unreachable.Ask(ctx, of, need)
					}
					return ask(ctx, of, need)
				}
				if c.restrict != nil {
					c.restrict(o)
				}
			})
			if c.settle {
				r.shows("no lifecycle is under way", "Settled")
			}
			down.Store(true)
			if c.then != nil {
				c.then(r)
			}
			for _, text := range c.want {
				r.shows(text)
			}
		})
	}
}

// answering returns an operator on a service that answers every request in this way.
func answering(code int, body string) Operator {
	return NewOperator("http://bank", &http.Client{Transport: inMemory{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	})}})
}

func TestOperatorExecuteFails(t *testing.T) {
	down := httptest.NewServer(nil)
	down.Close()
	redirecting := httptest.NewServer(http.RedirectHandler(down.URL, http.StatusSeeOther))
	defer redirecting.Close()
	for name, c := range map[string]struct {
		operator Operator
		want     external.Answer
	}{
		"refused":                          {answering(http.StatusForbidden, "not yours\n"), external.Answer{State: external.Refused, Code: 403, Name: "Forbidden", Text: "not yours"}},
		"failed":                           {answering(http.StatusBadGateway, "x"), external.Answer{State: external.Unknown, Text: "the service answers with 502 Bad Gateway"}},
		"elsewhere, after it was executed": {NewOperator(redirecting.URL, redirecting.Client()), external.Answer{State: external.Unknown, Text: "the service answers with 303 See Other"}},
		"down":                             {NewOperator(down.URL, &http.Client{}), external.Answer{State: external.Failed, Text: "the system does not answer: dial: connect: connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.operator.Execute(t.Context(), external.Object{UID: "uid"}, Command{Method: http.MethodPut})
			if diff := cmp.Diff(c.want, external.OutcomeOf(err)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOperatorAskLimitsTheAnswer(t *testing.T) {
	long := answering(http.StatusOK, `{"plan":"`+strings.Repeat("x", 1<<20)+`"}`)
	if _, err := long.Ask(t.Context(), external.Object{UID: "uid"}, NeedAccount); err == nil {
		t.Error("an answer of a megabyte was read")
	}
}

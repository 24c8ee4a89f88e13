package detent_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
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

	"github.com/detent-dev/detent"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/accounts"
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
	operator   accounts.Operator
	reconciler reconcile.Reconciler
	clock      *clocktesting.FakeClock
	woken      chan types.NamespacedName
	account    *api.Account
}

func newRig(t *testing.T, account *api.Account, service http.Handler, restrict func(*accounts.Operator)) *rig {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	account.Namespace, account.Name, account.UID = "default", "savings", "uid"
	server := httptest.NewServer(service)
	r := &rig{
		T: t, Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(account).WithStatusSubresource(account).Build(), account: account,
		operator: accounts.NewOperator(server.URL, server.Client()), clock: clocktesting.NewFakeClock(time.Unix(1e9, 0)), woken: make(chan types.NamespacedName, 1000),
	}
	restrict(&r.operator)
	system := &external.Polled[external.Object, external.Object, transitions.Need, bank.Account, accounts.Command]{
		Protocol: r.operator.Protocol(), Clock: r.clock, Settle: accounts.Settle, Wake: func(name types.NamespacedName) { r.woken <- name },
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
	account, err := r.operator.Ask(r.Context(), external.Object{UID: "uid"}, accounts.NeedAccount)
	for range 2 { // answers may be lost
		if err != nil {
			account, err = r.operator.Ask(r.Context(), external.Object{UID: "uid"}, accounts.NeedAccount)
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

// TestExternalKeepsAccounts runs the operator on a service that loses every third answer.
func TestExternalKeepsAccounts(t *testing.T) {
	r := newRig(t, &api.Account{}, bank.New(3), func(*accounts.Operator) {})
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
func cardsOnly(o *accounts.Operator) {
	o.Machines = []detent.Machine[accounts.Facts, accounts.Command]{accounts.CardMachine()}
}

// TestExternalCancelsACardWhoseEntryIsLost deletes an object whose status was lost after its last card was removed from the spec. No entry
// requests the answer that shows the card, and the first answer takes a moment.
func TestExternalCancelsACardWhoseEntryIsLost(t *testing.T) {
	service := bank.New(0)
	service.Accounts["uid"] = bank.Account{Plan: "gold", Cards: []string{"visa"}}
	r := newRig(t, &api.Account{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{lifecycle.Finalizer}}}, service, cardsOnly)
	r.must(r.Delete(t.Context(), r.account))
	r.until("deleted", apierrors.IsNotFound)
	if cards := r.shown().Cards; len(cards) > 0 {
		t.Errorf("cards after the deletion: %q", cards)
	}
}

// TestExternalAwaitsACommandWhoseEntryIsLost loses the status while a card is being issued, removes it from the spec, and deletes the object:
// the last answer shows no card, and one is issued nevertheless.
func TestExternalAwaitsACommandWhoseEntryIsLost(t *testing.T) {
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

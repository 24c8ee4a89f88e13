package accounts

import (
	"context"
	"io"
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

	"github.com/detent-dev/detent"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// TestOperatorKeepsAccounts runs the operator with pollers on a service that loses every third answer.
func TestOperatorKeepsAccounts(t *testing.T) {
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	account := &api.Account{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "savings", UID: "uid"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(account).WithStatusSubresource(account).Build()
	service := bank.New(3)
	server := httptest.NewServer(service)
	clk, woken := clocktesting.NewFakeClock(time.Unix(1e9, 0)), make(chan types.NamespacedName, 1000)
	operator := NewOperator(server.URL, server.Client())
	system := &external.Polled[external.Object, external.Object, transitions.Need, bank.Account, Command]{
		Protocol: operator.Protocol(), Clock: clk, Settle: Settle, Wake: func(name types.NamespacedName) { woken <- name },
	}
	defer system.Close()
	kind, err := operator.Kind(system)
	if err != nil {
		t.Fatal(err)
	}
	r := lifecycle.New(kind, lifecycle.Options{Client: c, Live: c, Clock: clk})
	ctx, key := context.Background(), client.ObjectKeyFromObject(account)
	until := func(what string, reached func(err error) bool) {
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
	isSettled := func(want bank.Account) func(error) bool {
		return func(err error) bool {
			unsettled := slices.ContainsFunc(account.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool { return e.State != "Settled" })
			got, lost := operator.Ask(ctx, external.Object{UID: "uid"}, NeedAccount)
			return err == nil && lost == nil && account.Status.ObservedGeneration == account.Generation && !unsettled && got.Plan == want.Plan && slices.Equal(got.Cards, want.Cards)
		}
	}
	for generation, want := range []bank.Account{{Plan: "gold", Cards: []string{"amex", "visa"}}, {Plan: "basic", Cards: []string{"visa"}}} {
		account.Spec, account.Generation = api.AccountSpec{Plan: want.Plan, Cards: want.Cards}, int64(generation+1)
		if err := c.Update(ctx, account); err != nil {
			t.Fatal(err)
		}
		until(want.Plan, isSettled(want))
	}
	if err := c.Delete(ctx, account); err != nil {
		t.Fatal(err)
	}
	until("deleted", apierrors.IsNotFound)
	server.Close() // no request is under way
	if diff := cmp.Diff(map[string]bank.Account{}, service.Accounts); diff != "" {
		t.Errorf("accounts after the deletion (-want +got):\n%s", diff)
	}
}

// TestOperatorCancelsACardWhoseEntryIsLost deletes an object whose status was lost after its last card was removed from the spec. No entry
// requests the answer that shows the card, and the first answer takes a moment.
func TestOperatorCancelsACardWhoseEntryIsLost(t *testing.T) {
	scheme := k8sruntime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	account := &api.Account{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "savings", UID: "uid", Finalizers: []string{lifecycle.Finalizer}}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(account).WithStatusSubresource(account).Build()
	service := bank.New(0)
	service.Accounts["uid"] = bank.Account{Plan: "gold", Cards: []string{"visa"}}
	server := httptest.NewServer(service)
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	operator := NewOperator(server.URL, server.Client())
	operator.Machines = []detent.Machine[Facts, Command]{CardMachine()}
	system := &external.Polled[external.Object, external.Object, transitions.Need, bank.Account, Command]{
		Protocol: operator.Protocol(), Clock: clk, Settle: Settle, Wake: func(types.NamespacedName) {},
	}
	defer system.Close()
	kind, err := operator.Kind(system)
	if err != nil {
		t.Fatal(err)
	}
	r, key := lifecycle.New(kind, lifecycle.Options{Client: c, Live: c, Clock: clk}), client.ObjectKeyFromObject(account)
	if err := c.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if err = c.Get(t.Context(), key, account); apierrors.IsNotFound(err) {
			break
		}
		time.Sleep(time.Millisecond)
		clk.Step(time.Second)
	}
	server.Close() // no request is under way
	if cards := service.Accounts["uid"].Cards; !apierrors.IsNotFound(err) || len(cards) > 0 {
		t.Errorf("cards after the deletion: %q, %v", cards, err)
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

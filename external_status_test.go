package detent_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/accounts"
	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// shows steps until the message of Ready contains the text, while the account is in one of the states; none means any.
func (r *rig) shows(text string, states ...string) {
	r.Helper()
	r.until("a status with "+text, func(error) bool {
		ready := meta.FindStatusCondition(r.account.Status.Conditions, lifecycle.Ready)
		in := func(e lifecyclev1.Lifecycle) bool { return slices.Contains(states, e.State) }
		return ready != nil && strings.Contains(ready.Message, text) && (len(states) == 0 || slices.ContainsFunc(r.account.Status.Lifecycles, in))
	})
}

// TestExternalShowsWhyACommandFails checks that the status says why a command has no success, also while it is repeated.
func TestExternalShowsWhyACommandFails(t *testing.T) {
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
			r := newRig(t, &api.Account{Spec: api.AccountSpec{Plan: "gold"}}, bank.New(0), func(o *accounts.Operator) {
				o.Execute = func(context.Context, external.Object, accounts.Command) error { return c.err }
			})
			_, why, _ := strings.Cut(c.want, "failure: ")
			r.shows("failure: "+why, external.Retrying("Updating"))
			r.shows(c.want, "Updating")
			r.shows("failure: "+why, external.Retrying("Updating"))
		})
	}
}

// TestExternalShowsThatTheServiceCannotBeRead checks that the status names the service, since when it cannot be read, why, and what waits for it.
func TestExternalShowsThatTheServiceCannotBeRead(t *testing.T) {
	const why = ": the bank does not answer: dial: connect: connection refused"
	deletes := func(r *rig) { r.must(r.Delete(r.Context(), r.account)) }
	for name, c := range map[string]struct {
		account  api.Account
		restrict func(*accounts.Operator)
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
			want: []string{"card: its instances are not known: account cannot be read since 2001-09-09T01:46:4", why},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(nil)
			server.Close()
			unreachable, down := accounts.NewOperator(server.URL, &http.Client{}), &atomic.Bool{}
			c.account.Generation, c.account.Spec.Plan = 1, "gold"
			r := newRig(t, &c.account, bank.New(0), func(o *accounts.Operator) {
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

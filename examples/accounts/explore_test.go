package accounts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

type (
	kind     = lifecycle.Kind[*api.Account, external.Snapshot[bank.Account], Command]
	world    = explore.External[*bank.Bank, external.Object, external.Object, transitions.Need, bank.Account, Command]
	protocol = external.Protocol[external.Object, external.Object, transitions.Need, bank.Account, Command]
)

// inMemory is a transport that lets a handler answer in memory.
type inMemory struct{ http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// TestExplore explores every order of events and failures, on the production code from the machines to the HTTP requests.
func TestExplore(t *testing.T) {
	wants := func(name, plan string, cards ...string) explore.Edit[*api.Account] {
		return explore.Edit[*api.Account]{Name: "wants " + name, Make: func(a *api.Account) { a.Spec = api.AccountSpec{Plan: plan, Cards: cards} }}
	}
	on := func(b *bank.Bank) Operator { return NewOperator("http://bank", &http.Client{Transport: inMemory{b}}) }
	start := &world{
		State: bank.New(0), Settle: Settle, Protocol: func(b *bank.Bank) protocol { return on(b).Protocol() },
		Events: []explore.ExternalEvent[*bank.Bank]{
			{Name: "others close the account", Fault: explore.ChangedByOthers, Possible: func(b *bank.Bank) bool { return len(b.Accounts) > 0 }, Do: func(b *bank.Bank) { clear(b.Accounts) }},
			{Name: "platinum is offered", Fault: explore.ChangedByOthers, Possible: func(b *bank.Bank) bool { return len(b.Offers) == 2 }, Do: func(b *bank.Bank) { b.Offers = append(slices.Clip(b.Offers), "platinum") }},
		},
	}
	explore.Run(t, explore.Subject[*api.Account, external.Snapshot[bank.Account], Command]{
		Name: "accounts", Kind: func(at *explore.Scenario) (kind, error) { return on(nil).Kind(start.System(at)) },
		AddToScheme: []func(*k8sruntime.Scheme) error{api.AddToScheme},
		Object:      &api.Account{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "savings"}, Spec: api.AccountSpec{Plan: "basic"}},
		Edits:       []explore.Edit[*api.Account]{wants("basic", "basic"), wants("gold", "gold"), wants("platinum", "platinum"), wants("a card", "basic", "visa")},
		World:       start, Faults: append(explore.ExternalFaults(), explore.ChangedByOthers), Ages: []time.Duration{external.Pause, Settle},
		Settled: func(a *api.Account, w explore.World) error {
			// Others may close the account at any time, and a late command may change it: both are repaired.
			if account, open := w.(*world).State.Accounts[string(a.UID)]; open && w.(*world).Quiet() && (account.Plan != a.Spec.Plan || len(account.Cards) > len(a.Spec.Cards)) {
				return fmt.Errorf("it is Ready, and the account is %+v", account)
			}
			return nil
		},
		Released: func(w explore.World) error {
			if len(w.(*world).State.Accounts) > 0 {
				return fmt.Errorf("%d accounts outlive the object", len(w.(*world).State.Accounts))
			}
			return nil
		},
	}, explore.Options{})
}

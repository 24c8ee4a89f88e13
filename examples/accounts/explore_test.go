package accounts

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// TestExplore explores every order of events and failures, on the production code from the machines to the HTTP requests.
func TestExplore(t *testing.T) {
	wants := func(plan string) explore.Edit[*api.Account] {
		return explore.Edit[*api.Account]{Name: "wants " + plan, Make: func(a *api.Account) { a.Spec.Plan = plan }}
	}
	cards := func(name string, cards ...string) explore.Edit[*api.Account] {
		return explore.Edit[*api.Account]{Name: name, Make: func(a *api.Account) { a.Spec.Cards = cards }}
	}
	explore.Run(t, explore.Subject[*api.Account, Snapshot, Command]{
		Name: "accounts", Kind: func(at *explore.Scenario) (Kind, error) { return NewKind(system{at}) },
		AddToScheme: []func(*k8sruntime.Scheme) error{api.AddToScheme},
		Object:      &api.Account{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "savings"}, Spec: api.AccountSpec{Plan: "basic"}},
		Edits:       []explore.Edit[*api.Account]{wants("basic"), wants("gold"), wants("platinum"), cards("wants a card", "visa"), cards("wants no card")},
		World:       &world{plans: map[string]string{}, cards: map[string]bool{}, offers: []string{"basic", "gold"}, last: map[string]sending{}},
		Faults:      []explore.Fault{down, slow, refuses, lostAnswer, comesLate, forgotten, others},
		Ages:        []time.Duration{pause, settle},
		Settled: func(a *api.Account, w explore.World) error {
			// Others may close the account at any time, and a late command may change its plan: both are repaired.
			plan := w.(*world).plans[string(a.UID)]
			if plan != "" && plan != a.Spec.Plan && len(w.(*world).late) == 0 {
				return fmt.Errorf("it is Ready, and the plan is %s", plan)
			}
			if len(a.Spec.Cards) == 0 && len(w.(*world).cards) > 0 && len(w.(*world).late) == 0 {
				return errors.New("it is Ready, and a card is left that is not wanted")
			}
			return nil
		},
		Released: func(w explore.World) error {
			if len(w.(*world).plans)+len(w.(*world).cards) > 0 {
				return errors.New("the account outlives its object")
			}
			return nil
		},
	}, explore.Options{})
}

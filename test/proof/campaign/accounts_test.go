package campaign_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/test/branch"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// The classes of outages of a bank.
const (
	bankSlow campaign.Class = "a bank is slow"
	bankDown campaign.Class = "a bank is down"
)

// savings is the name of every account.
const savings = "savings"

// accountsSubject is an account whose plan changes, with a card that is replaced.
func accountsSubject() (*campaign.Subject, error) {
	graphs, err := branch.Graphs()
	if err != nil {
		return nil, err
	}
	b := branch.New("basic", "gold")
	s := &campaign.Subject{
		Name: "accounts", AddToScheme: []func(*k8sruntime.Scheme) error{api.AddToScheme}, Graphs: graphs, Scale: 0.05,
		Definitions: func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
			text, err := os.ReadFile("../../../examples/accounts/crd/bank.example.org_accounts.yaml")
			if err != nil {
				return nil, err
			}
			definition := &apiextensionsv1.CustomResourceDefinition{}
			return []*apiextensionsv1.CustomResourceDefinition{definition}, yaml.UnmarshalStrict(text, definition)
		},
		Object: func(namespace string) lifecycle.Object {
			return &api.Account{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: savings}, Spec: api.AccountSpec{Plan: "basic", Cards: []string{"amex", "visa"}}}
		},
		// One change, since the commands of another one would have other names.
		Changes: []func(client.Object){func(o client.Object) {
			if a, ok := o.(*api.Account); ok {
				a.Spec = api.AccountSpec{Plan: "gold", Cards: []string{"diners", "visa"}}
			}
		}},
		Kinds: []client.Object{&api.Account{}},
		World: func(_ *campaign.Environment, namespace string) (campaign.World, error) {
			return &customer{b, types.NamespacedName{Namespace: namespace, Name: savings}}, nil
		},
	}
	for _, outage := range []struct {
		class campaign.Class
		fault branch.Fault
	}{{bankSlow, branch.Holds}, {bankDown, branch.Fails}} {
		s.Outages = append(s.Outages, campaign.Outage{Class: outage.class, Lasts: 2 * time.Second, Begin: func(_ *campaign.Environment, namespace string, _ uint32) (func() error, error) {
			name := types.NamespacedName{Namespace: namespace, Name: savings}
			b.Set(name, outage.fault)
			return func() error { b.Set(name, branch.None); return nil }, nil
		}})
	}
	return s, nil
}

// customer is the world of one account, at the bank that all of them share.
type customer struct {
	*branch.Branch
	name types.NamespacedName
}

// Register implements campaign.World.
func (w *customer) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error, passes campaign.Passes) error {
	return w.Branch.Register(mgr, options, around, func(kind *branch.Kind) {
		observe := kind.Observe
		kind.Observe = func(ctx context.Context, a *api.Account, request lifecycle.ObserveRequest) (external.Snapshot[bank.Account], error) {
			if !request.Live {
				passes.Begun()
			}
			return observe(ctx, a, request)
		}
		kind.Apply = func(context.Context, *api.Account, external.Snapshot[bank.Account], lifecycle.Writer) error {
			passes.Ended()
			return nil
		}
	})
}

// Begin implements campaign.World.
func (*customer) Begin() {}

// Lingers returns the entry of a card that is not wanted any more. It is removed after the card was canceled.
func (*customer) Lingers(recorder *campaign.WatchRecorder) string {
	for _, o := range recorder.Latest() {
		a, ok := o.(*api.Account)
		if !ok {
			continue
		}
		for _, l := range a.Status.Lifecycles {
			if _, card := machines.SplitEntryName(l.Name); card != "" && !slices.Contains(a.Spec.Cards, card) {
				return l.Name + " is not removed"
			}
		}
	}
	return ""
}

// Effects returns the commands that changed the account.
func (w *customer) Effects() []string { return w.Changes(w.name) }

// Harm returns accounts that are open twice.
func (w *customer) Harm() []string {
	open, err := w.Accounts(context.Background(), w.name)
	if err != nil || len(open) > 1 {
		return []string{fmt.Sprintf("%d accounts of %s are open (%v)", len(open), w.name, err)}
	}
	return nil
}

// Judge implements campaign.World. What the bank shows is no part of the history.
func (*customer) Judge([]campaign.Event) []string { return nil }

// Close implements campaign.World.
func (*customer) Close() {}

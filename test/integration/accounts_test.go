package integration

import (
	"context"
	"fmt"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/examples/accounts/api"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/branch"
	"github.com/detent-dev/detent/test/lab"
)

// savings is the subject of the example with instances and an external system.
type savings struct{}

func (savings) Name() string { return "account" }

func (savings) PauseAnnotations() []string { return nil }

func (savings) Graphs() map[string]machines.Graph {
	graphs, err := branch.Graphs()
	Expect(err).NotTo(HaveOccurred())
	return graphs
}

func (savings) Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile("../../examples/accounts/crd/bank.example.org_accounts.yaml")
	if err != nil {
		return nil, err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	return []*apiextensionsv1.CustomResourceDefinition{definition}, yaml.UnmarshalStrict(text, definition)
}

func (savings) AddToScheme(scheme *k8sruntime.Scheme) error { return api.AddToScheme(scheme) }
func (savings) List() client.ObjectList                     { return &api.AccountList{} }
func (savings) Children() []client.Object                   { return nil }
func (savings) World() World                                { return &counter{branch.New("basic", "gold", "silver")} }

// Reservations are the laws that do not apply here.
func (savings) Reservations() map[string]string {
	return map[string]string{lawLoss: ownsNoPods, lawChildren: "it owns no children", lawCrash: byCampaign}
}

func (savings) Visits() []Visit {
	return []Visit{
		{Lifecycle: "account", State: "Settled"},
		{Lifecycle: "account", State: "NotOffered"},
		{Lifecycle: "account", State: "Updating"},
		{Lifecycle: "account", State: "RetryingUpdating", Blind: true},
		{Lifecycle: "card", State: "Settled"},
		{Lifecycle: "card", State: "Issuing"},
		{Lifecycle: "card", State: "RetryingIssuing", Blind: true},
	}
}

// counter is the world of all accounts of a scene.
type counter struct{ *branch.Branch }

func (w *counter) Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error {
	return w.Branch.Register(mgr, options, around, func(*branch.Kind) {})
}

func (w *counter) Make(namespace, name string) lifecycle.Object {
	return &api.Account{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: api.AccountSpec{Plan: "basic", Cards: []string{"visa"}}}
}

func accountOf(object lifecycle.Object) *api.Account {
	a, ok := object.(*api.Account)
	Expect(ok).To(BeTrue())
	return a
}

func (w *counter) Hinder(v Visit, key client.ObjectKey) {
	switch v.State {
	case "Updating", "Issuing":
		w.Set(key, branch.Holds)
	case "RetryingUpdating", "RetryingIssuing":
		w.Set(key, branch.Fails)
	}
}

func (w *counter) Change(v Visit, object lifecycle.Object) {
	switch spec := &accountOf(object).Spec; {
	case v.State == "NotOffered":
		spec.Plan = "platinum"
	case v.State == "Settled":
	case v.Lifecycle == "card":
		spec.Cards = append(spec.Cards, "amex")
	default:
		spec.Plan = "gold"
	}
}

func (w *counter) Release(object lifecycle.Object) {
	w.Set(client.ObjectKeyFromObject(object), branch.None)
	if spec := &accountOf(object).Spec; spec.Plan == "platinum" {
		spec.Plan = "gold"
	}
}

// Another changes the plan. The target of a card never changes.
func (w *counter) Another(name string, object lifecycle.Object) string {
	accountOf(object).Spec.Plan = "silver"
	if name == "card" {
		return ""
	}
	return "silver"
}

// Effects are the changes of the account.
func (w *counter) Effects(key client.ObjectKey, _ []lab.Request) []string { return w.Changes(key) }

func (w *counter) End(ctx context.Context, _ client.Reader, key client.ObjectKey) (string, error) {
	open, err := w.Accounts(ctx, key)
	return fmt.Sprint(open), err
}

func (w *counter) HinderDeletion(key client.ObjectKey)  { w.Set(key, branch.Holds) }
func (w *counter) ReleaseDeletion(key client.ObjectKey) { w.Set(key, branch.None) }

// Left returns the accounts that are open.
func (w *counter) Left(key client.ObjectKey) (left []string) {
	open, err := w.Accounts(context.Background(), key)
	if err != nil {
		return []string{err.Error()}
	}
	for _, account := range open {
		left = append(left, fmt.Sprintf("%+v", account))
	}
	return left
}

var _ = Describe("an instance that is not declared any more", func() {
	It("is released although the manager was killed, and its entry is removed", func(ctx SpecContext) {
		visit := Visit{Lifecycle: "card", State: "Canceling"}
		sc := newScene(ctx, savings{}, []Visit{visit})
		sc.start(nil)
		sc.make()
		w, ok := sc.world.(*counter)
		Expect(ok).To(BeTrue())
		w.Set(sc.key(visit), branch.Holds)
		sc.edit(visit, func(o lifecycle.Object) { accountOf(o).Spec.Cards = []string{"amex"} })
		states := func() map[string]string {
			out := map[string]string{}
			for _, l := range sc.object(sc.name(visit)).LifecycleStatus().Lifecycles {
				out[l.Name] = l.State
			}
			return out
		}
		Eventually(states).Should(Equal(map[string]string{"account": "Settled", "card/amex": "Issuing", "card/visa": "Canceling"}))
		sc.kill()
		sc.start(nil)
		w.Set(sc.key(visit), branch.None)
		Eventually(states).Should(Equal(map[string]string{"account": "Settled", "card/amex": "Settled"}))
		open, err := w.Accounts(ctx, sc.key(visit))
		Expect(err).NotTo(HaveOccurred())
		Expect(open).To(Equal([]bank.Account{{Plan: "basic", Cards: []string{"amex"}, Offers: []string{"basic", "gold", "silver"}}}))
	}, NodeTimeout(timeLimit))
})

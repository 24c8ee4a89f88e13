// Package branch runs the operator of examples/accounts in tests on a real API server, on a bank whose answers to single objects can be
// withheld.
package branch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/examples/accounts"
	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// Fault of the bank, for the requests of one object.
type Fault string

// Faults. A question is answered until a command has failed, so that the operator sends the command.
const (
	// None answers everything.
	None Fault = ""
	// Holds leaves every command unanswered. It is executed when the fault ends, if its sender still waits.
	Holds Fault = "commands are held"
	// Fails lets every command fail before it is executed, and after a few answers every question.
	Fails Fault = "commands fail, and questions after them"
)

// answersAfterFailure are the questions that are answered after a command has failed: the operator decides what to do about the command
// with an account that it knows.
const answersAfterFailure = 3

// Branch is a bank with a list of what the operator changed there. It outlives operators that are killed.
type Branch struct {
	bank *bank.Bank

	mu      sync.Mutex
	faults  map[types.NamespacedName]Fault
	answers map[types.NamespacedName]int // that are left since a command failed during the fault
	changes map[types.NamespacedName][]string
	ids     map[types.NamespacedName]map[types.UID]bool
	ended   chan struct{} // closed when a fault ends
}

// New returns a branch that offers the plans.
func New(plans ...string) *Branch {
	b := &Branch{
		bank: bank.New(0), faults: map[types.NamespacedName]Fault{}, answers: map[types.NamespacedName]int{},
		changes: map[types.NamespacedName][]string{}, ids: map[types.NamespacedName]map[types.UID]bool{}, ended: make(chan struct{}),
	}
	b.bank.Offers = plans
	return b
}

// Set gives the object a fault, or ends it.
func (b *Branch) Set(name types.NamespacedName, f Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults[name] = f
	if f == None {
		delete(b.answers, name)
		close(b.ended)
		b.ended = make(chan struct{})
	}
}

// Changes returns the commands that changed the account of the object since the last call, sorted: those of different lifecycles have
// no order.
func (b *Branch) Changes(name types.NamespacedName) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.changes[name]
	delete(b.changes, name)
	slices.Sort(out)
	return out
}

// Accounts returns the open accounts of all objects that had the name.
func (b *Branch) Accounts(ctx context.Context, name types.NamespacedName) ([]bank.Account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []bank.Account
	for id := range b.ids[name] {
		account, err := b.operator().Ask(ctx, external.Object{Name: name, UID: id}, accounts.NeedAccount)
		if err != nil {
			return nil, fmt.Errorf("asking for the account of %s: %w", name, err)
		}
		if account.Plan != "" {
			out = append(out, account)
		}
	}
	return out, nil
}

// operator is the operator as users run it, on this bank without a network.
func (b *Branch) operator() accounts.Operator {
	return accounts.NewOperator("http://bank", &http.Client{Transport: inMemory{b.bank}})
}

// ask sends a question, unless the fault forbids it.
func (b *Branch) ask(ctx context.Context, o external.Object, need transitions.Need) (bank.Account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left, failed := b.answers[o.Name]; failed {
		if left == 0 {
			return bank.Account{}, errors.New("the bank is closed")
		}
		b.answers[o.Name]--
	}
	return b.operator().Ask(ctx, o, need)
}

// execute sends a command and records what it changed.
func (b *Branch) execute(ctx context.Context, o external.Object, c accounts.Command) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.faults[o.Name] == Fails {
		if _, failed := b.answers[o.Name]; !failed {
			b.answers[o.Name] = answersAfterFailure
		}
		return errors.New("the bank failed")
	}
	if b.ids[o.Name] == nil {
		b.ids[o.Name] = map[types.UID]bool{}
	}
	b.ids[o.Name][o.UID] = true
	before, failed := b.operator().Ask(ctx, o, accounts.NeedAccount)
	err := b.operator().Execute(ctx, o, c)
	after, failedAfter := b.operator().Ask(ctx, o, accounts.NeedAccount)
	if before.Plan != after.Plan || !slices.Equal(before.Cards, after.Cards) {
		b.changes[o.Name] = append(b.changes[o.Name], strings.TrimSpace(c.Method+" /ID"+c.Path+" "+c.Body))
	}
	return errors.Join(err, failed, failedAfter)
}

// inMemory is a transport that lets a handler answer in memory.
type inMemory struct{ http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, r)
	return answer.Result(), nil
}

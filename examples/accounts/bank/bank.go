// Package bank is a small HTTP service that keeps accounts in memory, for the demo and the tests of the example.
package bank

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Account is an account as the service shows it. One that is not open has no plan.
type Account struct {
	Plan   string
	Cards  []string // sorted
	Offers []string // the plans that it may have
}

// Bank serves the accounts: GET /ID shows one, PUT /ID opens it or changes its plan, DELETE /ID closes it with its cards, and PUT and
// DELETE /ID/CARD issue and cancel a card.
type Bank struct {
	Accounts       map[string]Account // by ID
	Offers         []string
	loses, answers int
	mu             sync.Mutex
}

// New returns a bank that offers the plans basic and gold. It carries out every request and loses each nth answer; 0 loses none.
func New(loses int) *Bank {
	return &Bank{Accounts: map[string]Account{}, Offers: []string{"basic", "gold"}, loses: loses}
}

// Clone returns a copy. No request may be under way.
func (b *Bank) Clone() *Bank { return &Bank{Accounts: maps.Clone(b.Accounts), Offers: b.Offers} }

// ServeHTTP serves one request.
func (b *Bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id, card, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	plan, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 100)) // one that is cut off is not offered
	account := b.Accounts[id]
	others := slices.DeleteFunc(slices.Clone(account.Cards), func(c string) bool { return c == card })
	switch {
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(Account{account.Plan, account.Cards, b.Offers}) //nolint:errchkjson // the client is gone
	case r.Method == http.MethodDelete && card == "":
		delete(b.Accounts, id)
	case r.Method == http.MethodPut && card == "" && slices.Contains(b.Offers, string(plan)):
		b.Accounts[id] = Account{Plan: string(plan), Cards: account.Cards}
	case r.Method == http.MethodDelete && account.Plan != "":
		b.Accounts[id] = Account{Plan: account.Plan, Cards: others}
	case r.Method == http.MethodPut && card != "" && account.Plan != "":
		b.Accounts[id] = Account{Plan: account.Plan, Cards: slices.Sorted(slices.Values(append(others, card)))}
	default:
		http.Error(w, "no such account or plan", http.StatusConflict)
	}
	b.answers++
	if b.loses > 0 && b.answers%b.loses == 0 {
		panic(http.ErrAbortHandler) // closes the connection
	}
}

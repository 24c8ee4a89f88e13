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
	"sync/atomic"
)

// Account is an account as the service shows it.
type Account struct {
	// Open is false for an account that does not exist.
	Open bool `json:"open"`
	// Plan of an open account, and the plans that it may have.
	Plan   string   `json:"plan"`
	Offers []string `json:"offers"`
	// Cards of an open account, sorted.
	Cards []string `json:"cards,omitempty"`
}

// Bank serves the accounts: PUT /ID opens one, PUT /ID/plan changes its plan, PUT and DELETE /ID/cards/NAME issue and cancel a card,
// DELETE /ID closes an account with its cards, and GET /ID shows it.
type Bank struct {
	// Plans of the open accounts, by ID. Required.
	Plans map[string]string
	// Offers are the plans that an account may have; a new one has the first. Required.
	Offers []string
	// Cards that were issued, as ID/NAME. Required.
	Cards map[string]bool

	mu sync.Mutex
}

// Accounts returns the plans of the open accounts, by ID.
func (b *Bank) Accounts() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.Plans)
}

// Issued returns the names of an account's cards, sorted.
func (b *Bank) Issued(id string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cards(id)
}

// ServeHTTP serves one request.
func (b *Bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		plan, open := b.Plans[id]
		_ = json.NewEncoder(w).Encode(Account{Open: open, Plan: plan, Offers: b.Offers, Cards: b.cards(id)}) // the client is gone
	})
	routes.HandleFunc("PUT /{id}", func(_ http.ResponseWriter, r *http.Request) {
		if id := r.PathValue("id"); b.Plans[id] == "" {
			b.Plans[id] = b.Offers[0]
		}
	})
	routes.HandleFunc("DELETE /{id}", func(_ http.ResponseWriter, r *http.Request) {
		delete(b.Plans, r.PathValue("id"))
		maps.DeleteFunc(b.Cards, func(card string, _ bool) bool { return strings.HasPrefix(card, r.PathValue("id")+"/") })
	})
	routes.HandleFunc("PUT /{id}/cards/{name}", func(w http.ResponseWriter, r *http.Request) {
		if id := r.PathValue("id"); b.Plans[id] == "" {
			http.Error(w, "no such account", http.StatusConflict)
		} else {
			b.Cards[id+"/"+r.PathValue("name")] = true
		}
	})
	routes.HandleFunc("DELETE /{id}/cards/{name}", func(_ http.ResponseWriter, r *http.Request) {
		delete(b.Cards, r.PathValue("id")+"/"+r.PathValue("name"))
	})
	routes.HandleFunc("PUT /{id}/plan", func(w http.ResponseWriter, r *http.Request) {
		plan, err := io.ReadAll(r.Body)
		if id := r.PathValue("id"); err != nil || b.Plans[id] == "" || !slices.Contains(b.Offers, string(plan)) {
			http.Error(w, "no such account or plan", http.StatusConflict)
		} else {
			b.Plans[id] = string(plan)
		}
	})
	routes.ServeHTTP(w, r)
}

// cards returns the names of an account's cards.
func (b *Bank) cards(id string) (names []string) {
	for _, card := range slices.Sorted(maps.Keys(b.Cards)) {
		if name, of := strings.CutPrefix(card, id+"/"); of {
			names = append(names, name)
		}
	}
	return names
}

// Unreliable carries out every request, and loses every third answer.
func Unreliable(service http.Handler) http.Handler {
	var requests atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		service.ServeHTTP(w, r)
		if requests.Add(1)%3 == 0 {
			panic(http.ErrAbortHandler) // closes the connection
		}
	})
}

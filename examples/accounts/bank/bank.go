// Package bank is a small HTTP service that keeps accounts in memory, for the demo and the tests of the example.
package bank

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
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
}

// Bank serves the accounts: PUT /ID opens one, PUT /ID/plan changes its plan, DELETE /ID closes it and GET /ID shows it.
type Bank struct {
	// Plans of the open accounts, by ID. Required.
	Plans map[string]string
	// Offers are the plans that an account may have; a new one has the first. Required.
	Offers []string

	mu sync.Mutex
}

// Accounts returns the plans of the open accounts, by ID.
func (b *Bank) Accounts() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.Plans)
}

// ServeHTTP serves one request.
func (b *Bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{id}", func(w http.ResponseWriter, r *http.Request) {
		plan, open := b.Plans[r.PathValue("id")]
		_ = json.NewEncoder(w).Encode(Account{Open: open, Plan: plan, Offers: b.Offers}) // the client is gone
	})
	routes.HandleFunc("PUT /{id}", func(_ http.ResponseWriter, r *http.Request) {
		if id := r.PathValue("id"); b.Plans[id] == "" {
			b.Plans[id] = b.Offers[0]
		}
	})
	routes.HandleFunc("DELETE /{id}", func(_ http.ResponseWriter, r *http.Request) { delete(b.Plans, r.PathValue("id")) })
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

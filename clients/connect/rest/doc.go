// Package rest implements the interface of clients/connect over the REST API of a Connect worker.
//
// Reaching Connect is running code, so a client reaches one address and no other: it follows no redirect, uses no proxy, and gets no
// URL. Every request ends within a time-out and every answer is bounded in size. A write is sent at most once.
package rest

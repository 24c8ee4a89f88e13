// Package realbrokers tests the decisions of lifecycles on what real brokers report. `make real-brokers`
// runs it.
package realbrokers

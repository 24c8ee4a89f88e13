// Package realbrokers tests what lifecycles decide on what real brokers report. `make real-brokers` runs it.
package realbrokers

// Package e2e holds scenarios on a real cluster with real brokers. They have the build tag e2e, and docs/testing.md says how
// they are run.
package e2e

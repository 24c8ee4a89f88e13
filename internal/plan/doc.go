// Package plan predicts what the operator will do with resources.
//
// It runs the operator's own controllers and machines, unchanged, on a simulated world and a virtual clock: the Kubernetes API is
// a plain value in memory, and the kinds simulate the systems behind their resources. Read converts resources and a World document to an
// Input. Make runs until every lifecycle is at rest, waits for a user, or nothing more can happen. The resulting Plan can be
// written as JSON or as text. Nothing is applied, no other system is contacted, and equal input gives equal bytes.
package plan

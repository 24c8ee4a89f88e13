// Package plan says what will happen to resources before it happens.
//
// It runs the operator's own code, its controllers and machines unchanged, on a simulated world and a virtual clock: the
// Kubernetes API is a plain value in memory, Kafka and the kubelets are the simulator's. Read takes resources and a World for
// the input, Make runs until every lifecycle rests, holds for a person, or nothing more can happen, and the Plan that comes of
// it is written as JSON or as text. Nothing is applied, nobody is called, and the same input gives the same bytes.
package plan

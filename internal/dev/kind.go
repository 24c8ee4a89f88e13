package dev

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/resource"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// Kind is what a local environment needs of a kind.
type Kind struct {
	resource.Kind
	// Systems names what is simulated for the kind, such as "databases". Required.
	Systems string
	// List returns an empty list of the kind. Its items are lifecycle.Objects. Required.
	List func() client.ObjectList
	// Simulate starts the systems behind the objects of the kind. Required.
	Simulate func(ctx context.Context, e Environment) (Simulation, error)
	// Examples are YAML documents to apply at the start. Optional.
	Examples [][]byte
	// Tries are the lines of the greeting that say what to try with the examples, at most 80 columns wide. Optional.
	Tries []string
}

// Environment is what a simulation runs in.
type Environment struct {
	Clock clock.WithTicker
	// Client of the local API server, as an administrator. It knows the types of all kinds.
	Client client.Client
	// Speed is the number of simulated seconds per second.
	Speed float64
	// Fail ends the environment with an error.
	Fail context.CancelCauseFunc
}

// Simulation are the simulated systems of a kind.
type Simulation struct {
	// Pods are the processes in the pods of the cluster. At most one kind simulates pods. Optional.
	Pods kubelet.World
	// ManagerArgs are arguments of detent manager, such as the address of the simulated systems.
	ManagerArgs []string
	// Stop ends the simulation. Required.
	Stop func()
}

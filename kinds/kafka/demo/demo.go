// Package demo is the Kafka kind of a local environment: simulated clusters on loopback, and examples.
package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/examples"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/simulator"
)

// Options of the simulated clusters.
type Options struct {
	// Table of the versions that exist. Required.
	Table *versions.Table
	// TableFile is the absolute path of the file from which the manager reads the table. Optional; default: the built-in table.
	TableFile string
}

// New returns the Kafka kind for a local environment.
func New(o Options) (dev.Kind, error) {
	documents, err := examples.Of("kafka")
	if err != nil {
		return dev.Kind{}, err
	}
	return dev.Kind{
		Kind: kafka.Resource(), Systems: "Kafka clusters", Examples: documents, Tries: Tries(o.Table),
		List:     func() client.ObjectList { return &kafkav1beta2.KafkaList{} },
		Simulate: func(ctx context.Context, e dev.Environment) (dev.Simulation, error) { return simulate(ctx, o, e) },
	}, nil
}

// simulate runs the simulated clusters, and the proxy through which the manager connects to them.
func simulate(ctx context.Context, o Options, e dev.Environment) (dev.Simulation, error) {
	world := simulator.NewWorld(simulator.Options{Table: o.Table, Topics: simulator.DefaultTopics()}, e.Clock, e.Speed)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		world.Close()
		return dev.Simulation{}, fmt.Errorf("listening for the manager's way to the simulated brokers: %w", err)
	}
	server := &http.Server{Handler: world.Proxy(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			e.Fail(fmt.Errorf("serving the way to the simulated brokers: %w", err))
		}
	}()
	go func() {
		if err := world.Run(ctx); err != nil {
			e.Fail(fmt.Errorf("running the simulated world: %w", err))
		}
	}()
	args := []string{"--kafka-proxy", listener.Addr().String()}
	if o.TableFile != "" {
		args = append(args, "--kafka-versions", o.TableFile)
	}
	return dev.Simulation{
		Pods: world, ManagerArgs: args,
		Stop: func() {
			_ = server.Close() // at shutdown there is no receiver for the error
			world.Close()
		},
	}, nil
}

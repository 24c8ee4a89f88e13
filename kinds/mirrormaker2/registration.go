// Package mirrormaker2 registers the KafkaMirrorMaker2 kind: what each command of the binary needs of it.
package mirrormaker2

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/clients/kafka/versions"
	controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds/mirrormaker2/demo"
	"github.com/detent-dev/detent/kinds/mirrormaker2/manager"
	"github.com/detent-dev/detent/kinds/mirrormaker2/planning"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/connectworkers"
)

// Registration returns the registration of the KafkaMirrorMaker2 kind.
func Registration() registration.Kind {
	return registration.Kind{Resource: controller.Resource(), Machines: machinesPart, Manager: managerPart, Plan: planPart, Dev: devPart}
}

func machinesPart(*pflag.FlagSet) func() ([]catalogue.Machine, error) { return Machines }

// Machines returns the machines of the KafkaMirrorMaker2 kind.
func Machines() ([]catalogue.Machine, error) {
	offsets, errOffsets := catalogue.Of(connectoroffsets.Definition(), catalogue.Domains(connectoroffsets.Domain()), nil)
	workers, errWorkers := catalogue.Of(connectworkers.Definition(), catalogue.Domains(connectworkers.Domain()), nil)
	one, errConnector := catalogue.Of(connector.Definition(), catalogue.Domains(connector.Domain()), nil)
	return []catalogue.Machine{offsets, workers, one}, errors.Join(errOffsets, errWorkers, errConnector)
}

func managerPart(flags *pflag.FlagSet) func() (operator.Kind, error) {
	proxy := flags.String("mirrormaker2-proxy", "", "HTTP proxy (host:port) for connections to Connect workers, for a manager outside the pod network")
	return func() (operator.Kind, error) {
		table, err := versions.Embedded()
		return manager.New(manager.Options{Table: table, Proxy: *proxy}), err
	}
}

func planPart(*pflag.FlagSet) func() (plan.Kind, error) { return planning.New }

func devPart(*pflag.FlagSet) func() (dev.Kind, error) {
	return func() (dev.Kind, error) { return demo.New(), nil }
}

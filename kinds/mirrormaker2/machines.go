package mirrormaker2

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/connectworkers"
)

func machinesPart(*pflag.FlagSet) func() ([]catalogue.Machine, error) { return Machines }

// Machines returns the machines of the KafkaMirrorMaker2 kind.
func Machines() ([]catalogue.Machine, error) {
	offsets, errOffsets := catalogue.Of(connectoroffsets.Definition(), catalogue.Domains(connectoroffsets.Domain()), nil)
	workers, errWorkers := catalogue.Of(connectworkers.Definition(), catalogue.Domains(connectworkers.Domain()), nil)
	one, errConnector := catalogue.Of(connector.Definition(), catalogue.Domains(connector.Domain()), nil)
	return []catalogue.Machine{
		offsets.As(observation.LifecycleOffsets), workers.As(observation.LifecycleWorkers), one.As(observation.LifecycleConnector),
	}, errors.Join(errOffsets, errWorkers, errConnector)
}

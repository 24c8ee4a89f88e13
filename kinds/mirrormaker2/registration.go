// Package mirrormaker2 registers the KafkaMirrorMaker2 kind: what each command of the binary needs of it.
package mirrormaker2

import (
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/clients/kafka/versions"
	controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds/mirrormaker2/demo"
	"github.com/detent-dev/detent/kinds/mirrormaker2/manager"
	"github.com/detent-dev/detent/kinds/mirrormaker2/planning"
)

// Registration returns the registration of the KafkaMirrorMaker2 kind.
func Registration() registration.Kind {
	return registration.Kind{Resource: controller.Resource(), Machines: machinesPart, Manager: managerPart, Plan: planPart, Dev: devPart}
}

func managerPart(flags *pflag.FlagSet) func() (operator.Kind, error) {
	table := versions.FileFlag(flags, "file with the table of Kafka versions, whose images workers run; default: the built-in one")
	proxy := registration.AddressFlag(flags, "mirrormaker2-proxy", "HTTP proxy (host:port) for connections to Connect workers, for a manager outside the pod network")
	return func() (operator.Kind, error) {
		known, err := table()
		if err != nil {
			return operator.Kind{}, err
		}
		address, err := proxy()
		if err != nil {
			return operator.Kind{}, err
		}
		return manager.New(manager.Options{Table: known, Proxy: address}), nil
	}
}

func planPart(*pflag.FlagSet) func() (plan.Kind, error) { return planning.New }

func devPart(*pflag.FlagSet) func() (dev.Kind, error) {
	return func() (dev.Kind, error) { return demo.New(), nil }
}

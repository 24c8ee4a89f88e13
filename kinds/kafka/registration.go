// Package kafka registers the Kafka kind: what each command of the binary needs of it.
package kafka

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/clients/kafka/versions"
	controller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds/kafka/demo"
	"github.com/detent-dev/detent/kinds/kafka/manager"
	"github.com/detent-dev/detent/kinds/kafka/planning"
)

// Registration returns the registration of the Kafka kind.
func Registration() registration.Kind {
	return registration.Kind{Resource: controller.Resource(), Machines: machinesPart, Manager: managerPart, Plan: planPart, Dev: devPart}
}

func machinesPart(flags *pflag.FlagSet) func() ([]catalogue.Machine, error) {
	table := versions.FileFlag(flags, "file with the table of Kafka versions; default: the built-in one")
	return func() ([]catalogue.Machine, error) {
		known, err := table()
		if err != nil {
			return nil, err
		}
		return Machines(known)
	}
}

// defaultMaxActive keeps a new pod template from reaching a whole fleet before an admin can look at the first clusters.
const defaultMaxActive = 10

func managerPart(flags *pflag.FlagSet) func() (operator.Kind, error) {
	finalize := finalizeFlag(flags, "who raises Kafka's metadata version after an upgrade: automatic or approval")
	table := versions.FileFlag(flags, "file with the table of Kafka versions; default: the built-in one")
	o := manager.Options{}
	flags.IntVar(&o.MaxActive, "max-active", defaultMaxActive, "maximum number of clusters that roll their nodes at once, such as after an upgrade of the operator; the others wait in a queue")
	proxy := registration.AddressFlag(flags, "kafka-proxy", "HTTP proxy (host:port) for connections to brokers, for a manager outside the pod network")
	return func() (operator.Kind, error) {
		if o.MaxActive < 1 {
			return operator.Kind{}, fmt.Errorf("--max-active %d: at least one cluster must be able to roll; for no limit give more than there are clusters", o.MaxActive)
		}
		var err error
		if o.Finalizing, err = finalize(); err != nil {
			return operator.Kind{}, err
		}
		if o.Proxy, err = proxy(); err != nil {
			return operator.Kind{}, err
		}
		if o.Table, err = table(); err != nil {
			return operator.Kind{}, err
		}
		return manager.New(o), nil
	}
}

func planPart(flags *pflag.FlagSet) func() (plan.Kind, error) {
	finalize := finalizeFlag(flags, "who raises Kafka's metadata version, as in the manager's flag: automatic or approval")
	return func() (plan.Kind, error) {
		finalizing, err := finalize()
		if err != nil {
			return plan.Kind{}, err
		}
		return planning.New(planning.Options{Finalizing: finalizing})
	}
}

func devPart(flags *pflag.FlagSet) func() (dev.Kind, error) {
	o := demo.Options{}
	flags.StringVar(&o.TableFile, "kafka-versions", "", "file with the versions of Kafka that exist; default: the built-in table")
	return func() (dev.Kind, error) {
		var err error
		if o.Table, err = versions.Read(o.TableFile); err != nil {
			return dev.Kind{}, err
		}
		if o.TableFile != "" { // the manager runs in another working directory
			if o.TableFile, err = filepath.Abs(o.TableFile); err != nil {
				return dev.Kind{}, err
			}
		}
		return demo.New(o)
	}
}

// finalizeFlag adds the flag that says who raises the metadata version and returns a function that reads it.
func finalizeFlag(flags *pflag.FlagSet, usage string) func() (observation.Finalizing, error) {
	text := flags.String("finalize", string(observation.FinalizeAutomatically), usage)
	return func() (observation.Finalizing, error) {
		switch f := observation.Finalizing(*text); f {
		case observation.FinalizeAutomatically, observation.FinalizeByApproval:
			return f, nil
		}
		return "", fmt.Errorf("--finalize %q: it is either %s or %s", *text, observation.FinalizeAutomatically, observation.FinalizeByApproval)
	}
}

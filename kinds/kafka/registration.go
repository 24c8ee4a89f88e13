// Package kafka registers the Kafka kind: what each command of the binary needs of it.
package kafka

import (
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/clients/kafka/versions"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/registration"
)

// Registration returns the registration of the Kafka kind.
func Registration() registration.Kind {
	return registration.Kind{
		Name: kafkav1beta2.KindKafka,
		Machines: func(flags *pflag.FlagSet) func() ([]catalogue.Machine, error) {
			table := tableFlag(flags, "file with the table of Kafka versions; default: the built-in one")
			return func() ([]catalogue.Machine, error) {
				known, err := table()
				if err != nil {
					return nil, err
				}
				return Machines(known)
			}
		},
	}
}

// tableFlag adds the flag of the version table and returns a function that reads the table.
func tableFlag(flags *pflag.FlagSet, usage string) func() (*versions.Table, error) {
	file := flags.String("kafka-versions", "", usage)
	return func() (*versions.Table, error) { return tableOf(*file) }
}

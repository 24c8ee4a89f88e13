package kafka

import (
	"errors"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
)

// Machines returns the machines of the Kafka kind. A journal does not contain the table of versions: a replay uses the given one.
func Machines(table *versions.Table) ([]catalogue.Machine, error) {
	version, errVersion := catalogue.Of(kafkaversion.Definition(), kafkaversion.Domains, func(f *kafkaversion.Facts) { f.Situation.Table = table })
	roll, errRoll := catalogue.Of(noderoll.Definition(), catalogue.Domains(noderoll.Domain()), nil)
	storage, errStorage := catalogue.Of(nodestorage.Definition(), catalogue.Domains(nodestorage.Domain()), nil)
	removal, errRemoval := catalogue.Of(kraftscaledown.Definition(), catalogue.Domains(kraftscaledown.Domain(), kraftscaledown.DrainDomain()), nil)
	configuration, errConfiguration := catalogue.Of(dynamicconfig.Definition(), catalogue.Domains(dynamicconfig.Domain()), nil)
	return []catalogue.Machine{
		version.As(observation.LifecycleVersion), roll.As(observation.LifecycleRoll), storage.As(observation.LifecycleStorage),
		removal.As(observation.LifecycleScaleDown), configuration.As(observation.LifecycleConfiguration),
	}, errors.Join(errVersion, errRoll, errStorage, errRemoval, errConfiguration)
}

package catalogue

import (
	"fmt"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/runtime/journal"
)

// Replayable returns the machines of this binary for the replay of a journal. The journal does not contain the table of Kafka's
// versions: the replay uses the given one.
func Replayable(table *versions.Table) ([]journal.Machine, error) {
	version, err := replayable(kafkaversion.Definition(), func(f *kafkaversion.Facts) { f.Situation.Table = table })
	if err != nil {
		return nil, err
	}
	roll, err := replayable(noderoll.Definition(), nil)
	if err != nil {
		return nil, err
	}
	storage, err := replayable(nodestorage.Definition(), nil)
	if err != nil {
		return nil, err
	}
	return []journal.Machine{version, roll, storage}, nil
}

func replayable[F, M, E any](definition machines.Definition[F, M, E], restore func(*F)) (journal.Machine, error) {
	machine, err := machines.Compile(definition)
	if err != nil {
		return nil, fmt.Errorf("compiling machine %s: %w", definition.Name, err)
	}
	return journal.Of(machine, restore), nil
}

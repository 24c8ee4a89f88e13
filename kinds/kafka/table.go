package kafka

import (
	"fmt"
	"os"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// tableOf reads the table of Kafka versions from a file. An empty name selects the built-in table.
func tableOf(file string) (*versions.Table, error) {
	if file == "" {
		return versions.Embedded()
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the table of Kafka versions: %w", err)
	}
	return versions.Parse(data, file)
}

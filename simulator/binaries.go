package simulator

import (
	"slices"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/simulator/kafka"
)

// Binaries converts the releases of a table to binaries of the simulated clusters.
func Binaries(table *versions.Table) []kafka.Binary {
	var out []kafka.Binary
	for row := range table.Rows() {
		b := kafka.Binary{Version: row.Number().String()}
		for name, levels := range row.Features() {
			if levels.Max > 0 {
				b.Features = append(b.Features, kafka.FeatureRange{Name: name, Min: levels.Min, Max: levels.Max})
			}
		}
		out = append(out, b)
	}
	return out
}

// withBuild adds a build that the table does not contain to a cluster. The build has the features of the release with the
// same major.minor.patch. If there is no such release, withBuild adds nothing.
func withBuild(c *kafka.Cluster, version string) {
	number, err := versions.ParseNumber(version)
	if err != nil || slices.ContainsFunc(c.Binaries, func(b kafka.Binary) bool { return b.Version == version }) {
		return
	}
	for _, b := range c.Binaries {
		if b.Version == number.Core() {
			b.Version = version
			c.Binaries = append(slices.Clone(c.Binaries), b)
			return
		}
	}
}

// defaults are the levels that formatting finalizes in addition to metadata.version, and the metadata level from which on
// it does so. Source: the bootstrap metadata version of each feature in Kafka 4.3; observed on 4.1.2 and 4.3.1 brokers.
var defaults = []struct {
	name         string
	since, level int16
}{
	{"group.version", 22, 1},
	{"transaction.version", 24, 2},
	{"eligible.leader.replicas.version", 26, 1},
	{"share.version", 28, 1},
	{"streams.version", 28, 1},
}

// formatLevels returns the levels that kafka-storage finalizes in a new cluster: those of the requested metadata version,
// otherwise of the newest that the release knows.
func formatLevels(b kafka.Binary, metadata string) []kafka.FeatureLevel {
	levels := map[string]kafka.FeatureRange{}
	for _, f := range b.Features {
		levels[f.Name] = f
	}
	top := levels[client.MetadataVersion].Max
	if wanted, err := versions.WantedMetadata(metadata); metadata != "" && err == nil {
		if level, known := wanted.Level(); known {
			top = min(top, level)
		}
	}
	out := []kafka.FeatureLevel{{Name: client.MetadataVersion, Level: top}}
	for _, d := range defaults {
		if level := min(d.level, levels[d.name].Max); top >= d.since && level > 0 {
			out = append(out, kafka.FeatureLevel{Name: d.name, Level: level})
		}
	}
	return out
}

package demo

import (
	"slices"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// Tries are the lines of the greeting that say what to try with the example clusters: an upgrade, and a downgrade that is refused.
// The commands are short, to fit into 80 columns. There are none without a supported version.
func Tries(table *versions.Table) []string {
	upgrade, downgrade := versionsToTry(table)
	if upgrade == "" {
		return nil
	}
	patch := func(version string) string {
		return "  kubectl patch kafka orders --type=merge -p 'spec: {kafka: {version: " + version + "}}'"
	}
	lines := []string{
		"Upgrade a cluster, one node at a time, and wait for its end:",
		"",
		patch(upgrade),
		"  kubectl wait kafka/orders --for=condition=VersionSettled --timeout=15m",
		"",
	}
	if downgrade == "" {
		return lines
	}
	return append(lines,
		"Then ask for a downgrade that would lose metadata, and read why it is refused:",
		"",
		patch(downgrade),
		"  kubectl describe kafka orders",
		"",
	)
}

// versionsToTry returns the newest supported version, and the newest version to which a downgrade is impossible once the former has
// raised the metadata level: the metadata records changed between the two.
func versionsToTry(table *versions.Table) (upgrade, downgrade string) {
	supported := table.Supported()
	if len(supported) == 0 {
		return "", ""
	}
	upgrade = supported[len(supported)-1]
	top := highest(table, upgrade)
	for _, version := range slices.Backward(supported) {
		if _, crosses := versions.LoweringCrosses(top, highest(table, version)); crosses {
			return upgrade, version
		}
	}
	return upgrade, ""
}

// highest returns the highest metadata level that the version supports, or 0 if it is unknown.
func highest(table *versions.Table, version string) int16 {
	v, err := table.Find(version)
	if err != nil {
		return 0
	}
	row, known := v.Row()
	if !known {
		return 0
	}
	levels, _ := row.Range(kafka.MetadataVersion)
	return levels.Max
}

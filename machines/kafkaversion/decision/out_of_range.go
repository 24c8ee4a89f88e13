package decision

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// downgradePage refers to the page with the risks of a downgrade.
const downgradePage = "What can be taken back, and how: docs/downgrade.md"

// featureOutOfRange describes the most frequent refusal: the finalized levels,
// what the desired version supports, and the remedy, if there is one.
func featureOutOfRange(s *Situation, d *Decision, outside []outOfRange) string {
	facts := make([]string, len(outside))
	ways := make([]string, len(outside))
	for i, o := range outside {
		where := "is finalized at " + o.shown
		if o.recorded {
			where = "was last recorded in status.kafkaMetadataVersion at " + o.shown
		}
		facts[i] = fmt.Sprintf("%s %s, and Kafka %s supports %s", o.feature, where, d.To, rangeName(o.feature, o.runs))
		ways[i] = o.wayOut(s, d)
	}
	text := fmt.Sprintf("Kafka %s cannot run this cluster: %s. %s", d.To, strings.Join(facts, "; "), strings.Join(ways, ". "))
	if d.Direction == DirectionDown {
		text += ". " + downgradePage
	}
	return text
}

// move is a direction in which a level has to change: its words in messages, and the
// verb of Kafka's own tool.
type move struct{ verb, tool, or string }

// towards returns the direction and the end of the range to which the level has to change.
func (o *outOfRange) towards() (move, int16) {
	if o.level > o.runs.Max {
		return move{verb: "Lower", tool: "downgrade", or: "earlier"}, o.runs.Max
	}
	return move{verb: "Raise", tool: "upgrade", or: "later"}, o.runs.Min
}

// wayOut describes the remedy for one feature. The version decision itself never
// changes a level.
func (o *outOfRange) wayOut(s *Situation, d *Decision) string {
	if d.Direction == DirectionStay {
		return fmt.Sprintf("The nodes do run at this level: correct the levels of %s in row %s of the version table (%s)",
			o.feature, d.To, s.Table.Source())
	}
	m, end := o.towards()
	if o.feature != versions.FeatureMetadata {
		return fmt.Sprintf("%s %s first, on the binaries that run now: %s", m.verb, o.feature, o.command(m, end))
	}
	if changed, ok := versions.LoweringCrosses(o.level, end); ok {
		return fmt.Sprintf("%s can no longer be lowered that far: %s changed the metadata records, and Kafka "+
			"refuses to lower across it. %s", o.feature, LevelName(changed), o.others(s))
	}
	if d.Direction == DirectionInstall {
		return o.others(s)
	}
	way := o.moveMetadata(d, m, end)
	if o.level > versions.HighestMetadata {
		way += ". Kafka decides whether that is still possible: the level is newer than this operator"
	}
	return way
}

// moveMetadata describes how to change metadata.version to a supported level: in the
// resource if it can name the running version, else with Kafka's tool.
func (o *outOfRange) moveMetadata(d *Decision, m move, end int16) string {
	name, named := versions.MetadataName(end)
	if !named || !supported(d.From) || d.Direction == DirectionBuild {
		return fmt.Sprintf("%s %s first, on the binaries that run now: %s", m.verb, o.feature, o.command(m, end))
	}
	return fmt.Sprintf("%s %s first, on the binaries that run now: set spec.kafka.version to %q and spec.kafka.metadataVersion "+
		"to %q or %s, wait until status.kafkaMetadataVersion shows it, then set spec.kafka.version to %s again",
		m.verb, o.feature, d.From.String(), name, m.or, d.To)
}

// command is the command of Kafka's own tool, for changes that no field of the resource makes.
func (o *outOfRange) command(m move, level int16) string {
	return fmt.Sprintf("kafka-features.sh --bootstrap-server <address> %s --feature %s=%d", m.tool, o.feature, level)
}

// others lists the supported versions that support the level.
func (o *outOfRange) others(s *Situation) string {
	var able []string
	for row := range s.Table.Rows() {
		if runs, ok := row.Range(o.feature); ok && row.Supported() && runs.Contains(o.level) {
			able = append(able, row.Number().String())
		}
	}
	if len(able) == 0 {
		return "No version in the version table supports it: use an operator that knows a newer Kafka"
	}
	return fmt.Sprintf("Versions that support it: %s", strings.Join(able, ", "))
}

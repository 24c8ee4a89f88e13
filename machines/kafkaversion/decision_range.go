package kafkaversion

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// featureOutOfRange words the refusal that people meet most: what is finalized,
// what the wanted version runs, and the way out, if there still is one.
func featureOutOfRange(s *Situation, d *Decision, outside []outOfRange) string {
	facts := make([]string, len(outside))
	ways := make([]string, len(outside))
	for i, o := range outside {
		where := "is finalized at " + o.shown
		if o.recorded {
			where = "was last recorded in status.kafkaMetadataVersion at " + o.shown
		}
		facts[i] = fmt.Sprintf("%s %s, and Kafka %s runs %s", o.feature, where, d.To, rangeName(o.feature, o.runs))
		ways[i] = o.wayOut(s, d)
	}
	return fmt.Sprintf("Kafka %s cannot run this cluster: %s. %s", d.To, strings.Join(facts, "; "), strings.Join(ways, ". "))
}

// move is a direction to bring a level in: the words for it, and the verb of Kafka's
// own tool.
type move struct{ verb, tool, or string }

// towards gives the end of the range that the level has to be brought to.
func (o *outOfRange) towards() (move, int16) {
	if o.level > o.runs.Max {
		return move{verb: "Lower", tool: "downgrade", or: "earlier"}, o.runs.Max
	}
	return move{verb: "Raise", tool: "upgrade", or: "later"}, o.runs.Min
}

// wayOut says what to do about one feature. The version decision never moves a
// level by itself.
func (o *outOfRange) wayOut(s *Situation, d *Decision) string {
	if d.Direction == DirectionStay {
		return fmt.Sprintf("The nodes do run it at this level: correct the levels of %s in row %s of the version table (%s)",
			o.feature, d.To, s.Table.Source())
	}
	m, end := o.towards()
	if o.feature != versions.FeatureMetadata {
		return fmt.Sprintf("%s %s first, on the binaries that run now: %s", m.verb, o.feature, o.command(m, end))
	}
	if changed, ok := versions.LoweringCrosses(o.level, end); ok {
		return fmt.Sprintf("%s can no longer be lowered that far: %s changed the metadata records, and Kafka "+
			"refuses to lower across it. %s", o.feature, levelName(changed), o.others(s))
	}
	if d.Direction == DirectionInstall {
		return o.others(s)
	}
	way := o.moveMetadata(d, m, end)
	if o.level > versions.HighestMetadata {
		way += ". Whether that is still possible is for Kafka to say: the level is newer than this operator"
	}
	return way
}

// moveMetadata says how to bring metadata.version to a level that fits: by the
// resource where it can ask for the version that runs now, else by Kafka's tool.
func (o *outOfRange) moveMetadata(d *Decision, m move, end int16) string {
	name, named := versions.MetadataName(end)
	if !named || !supported(d.From) || d.Direction == DirectionBuild {
		return fmt.Sprintf("%s %s first, on the binaries that run now: %s", m.verb, o.feature, o.command(m, end))
	}
	return fmt.Sprintf("%s %s first, on the binaries that run now: set spec.kafka.version to %q and spec.kafka.metadataVersion "+
		"to %q or %s, wait until status.kafkaMetadataVersion shows it, then ask for %s again",
		m.verb, o.feature, d.From.String(), name, m.or, d.To)
}

// command is Kafka's own tool, for what no field of the resource does.
func (o *outOfRange) command(m move, level int16) string {
	return fmt.Sprintf("kafka-features.sh --bootstrap-server <address> %s --feature %s=%d", m.tool, o.feature, level)
}

// others names the supported versions that run the level.
func (o *outOfRange) others(s *Situation) string {
	var able []string
	for row := range s.Table.Rows() {
		if runs, ok := row.Range(o.feature); ok && row.Supported() && runs.Contains(o.level) {
			able = append(able, row.Number().String())
		}
	}
	if len(able) == 0 {
		return "No version in the version table runs it: use an operator that knows a newer Kafka"
	}
	return fmt.Sprintf("Versions that run it: %s", strings.Join(able, ", "))
}

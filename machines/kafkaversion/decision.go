// Package kafkaversion is the lifecycle of a Kafka cluster's version: which
// version its nodes go from and to, whether they may, and at which level of
// metadata.version the cluster ends.
package kafkaversion

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// Direction is where a version change leads.
type Direction uint8

// The directions.
const (
	// DirectionUnknown: what the nodes run, or what is wanted, is no version.
	DirectionUnknown Direction = iota
	// DirectionInstall: no node ever ran, and nothing records that one did.
	DirectionInstall
	// DirectionStay: every node runs the wanted version.
	DirectionStay
	// DirectionUp: no node runs a newer version than the wanted one, and some run
	// an older one. From is the oldest.
	DirectionUp
	// DirectionDown: some node runs a newer version than the wanted one. From is
	// the newest.
	DirectionDown
	// DirectionBuild: the wanted major.minor.patch, in another build on some nodes.
	// It is a roll, not a version change: metadata is not touched.
	DirectionBuild
)

// String gives the word for messages and logs.
func (d Direction) String() string {
	switch d {
	case DirectionInstall:
		return "install"
	case DirectionStay:
		return "none"
	case DirectionUp:
		return "up"
	case DirectionDown:
		return "down"
	case DirectionBuild:
		return "build"
	default:
		return "unknown"
	}
}

// Outcome is whether the change may go on. The zero value stops it.
type Outcome uint8

// The outcomes.
const (
	// OutcomeCannotTell: something that the answer hangs on is unreadable. Wait.
	OutcomeCannotTell Outcome = iota
	// OutcomeAllowed: every node may be restarted on the wanted version.
	OutcomeAllowed
	// OutcomeRefused: not unless a person changes something.
	OutcomeRefused
)

// String gives the word for messages and logs.
func (o Outcome) String() string {
	switch o {
	case OutcomeAllowed:
		return "allowed"
	case OutcomeRefused:
		return "refused"
	default:
		return "cannot tell"
	}
}

// Reason is a stable token for a refusal, a wait or a warning: what conditions,
// metrics and people's alerts are keyed by.
type Reason string

// Why a decision is refused, or cannot be made yet (ReasonLevelsUnreadable, which
// is a warning where the answer does not hang on it).
const (
	ReasonVersionMalformed       Reason = "VersionMalformed"
	ReasonVersionNotSupported    Reason = "VersionNotSupported"
	ReasonMetadataVersionInvalid Reason = "MetadataVersionInvalid"
	ReasonPodsWithoutVersion     Reason = "PodsWithoutVersion"
	ReasonAnnotationMalformed    Reason = "AnnotationMalformed"
	ReasonAnnotationContradicted Reason = "AnnotationContradicted"
	ReasonRecordMalformed        Reason = "RecordMalformed"
	ReasonStatusMalformed        Reason = "StatusMalformed"
	ReasonTableRowIncomplete     Reason = "TableRowIncomplete"
	ReasonFeatureOutOfRange      Reason = "FeatureOutOfRange"
	ReasonLevelsUnreadable       Reason = "LevelsUnreadable"
)

// What a decision warns about without being stopped by it.
const (
	// ReasonMetadataVersionTooNew: the wanted metadata version is ignored.
	ReasonMetadataVersionTooNew Reason = "MetadataVersionTooNew"
	// ReasonLoweringLikelyRefused: Kafka is asked to lower metadata.version across
	// a level that changed its records.
	ReasonLoweringLikelyRefused Reason = "LoweringLikelyRefused"
	// ReasonLevelsFromStatus: Kafka could not be asked, and the level that the
	// status recorded was taken in its place.
	ReasonLevelsFromStatus Reason = "LevelsFromStatus"
	// ReasonPodContradicted: pods run another image than the version that the
	// operator started them on.
	ReasonPodContradicted Reason = "PodContradicted"
	// ReasonPodVersionUnknown: pods without a version stand among others with one.
	ReasonPodVersionUnknown Reason = "PodVersionUnknown"
)

// Warning is something a person should know that stops nothing.
type Warning struct {
	Reason  Reason
	Message string
}

// Decision is what is to be done about a cluster's version. It is a function of a
// Situation alone.
type Decision struct {
	Outcome   Outcome
	Direction Direction
	// From is the version that decides the direction: the newest for down, the
	// oldest for up. It may be unknown to the table, and is zero for an install.
	From versions.Version
	// To is the wanted version, zero when the wanted text is no version. When the
	// outcome is allowed it is known and supported.
	To versions.Version
	// Reason and Message say why the outcome is not allowed: what is wrong, where,
	// and what to do. Both are empty for an allowed one.
	Reason  Reason
	Message string
	// Unreadable names the features whose level is missing when it cannot be told.
	Unreadable []string
	Metadata   MetadataPlan
	Warnings   []Warning
}

// Settled tells whether nothing is left to do: every node runs the wanted version
// and the cluster is at the wanted level of metadata.version.
func (d *Decision) Settled() bool {
	return d.Outcome == OutcomeAllowed && d.Direction == DirectionStay && d.Metadata.Step == MetadataKeep
}

// Decide says what is to be done. It reads no clock and calls nobody; the order of
// the nodes does not matter. At rest it does not allocate.
//
// A cluster may go to a version that runs every finalized level. The direction
// does not change that rule, only what has to be known for it: a level that
// cannot be read stops a change where a version that was started may have
// finalized one that To does not run, and always stops a downgrade when nothing
// says at which level of metadata.version the cluster is.
func Decide(s Situation) Decision {
	d := Decision{}
	if !d.readWanted(&s) {
		return d
	}
	seen, refused := s.look(d.To.Number())
	if refused == nil {
		d.From, d.Direction = seen.from(d.To.Number())
	}
	row, ok := d.To.Row()
	if !ok || !row.Supported() {
		d.refuse(ReasonVersionNotSupported, notSupported(&s, &d, ok))
		return d
	}
	if refused != nil {
		d.refuse(refused.reason, refused.message(&s))
		return d
	}
	own, ok := row.Range(versions.FeatureMetadata)
	if !ok {
		d.refuse(ReasonTableRowIncomplete, rowIncomplete(&s, &d))
		return d
	}
	pin, ok := d.readPin(&s, own)
	if !ok {
		return d
	}
	metadata := s.metadataLevel()
	if d.Direction == DirectionStay && metadata.source == levelFromStatus && !own.Contains(metadata.level) {
		metadata = metadataLevel{} // the nodes that run say otherwise
	}
	d.Metadata.Current, d.Metadata.FromStatus = metadata.shown(), metadata.source == levelFromStatus
	if !d.judgeLevels(&s, row, seen, metadata) {
		return d
	}
	d.Outcome = OutcomeAllowed
	d.planMetadata(&s, own, pin, metadata)
	d.warnAboutPods(&s, seen)
	return d
}

func (d *Decision) refuse(reason Reason, message string) {
	d.Outcome, d.Reason, d.Message = OutcomeRefused, reason, message
}

func (d *Decision) warn(reason Reason, message string) {
	d.Warnings = append(d.Warnings, Warning{Reason: reason, Message: message})
}

// readWanted sets To, or refuses what was written.
func (d *Decision) readWanted(s *Situation) bool {
	if s.WantedVersion == "" {
		d.To = s.Table.Default()
		return true
	}
	to, err := s.Table.Find(s.WantedVersion)
	if err != nil {
		d.refuse(ReasonVersionMalformed, versionMalformed(s, err))
		return false
	}
	d.To = to
	return true
}

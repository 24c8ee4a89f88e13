// Package decision decides about a change of Kafka's version: from which version to which the nodes change, whether they may, and which
// level of metadata.version the cluster ends at. It is a pure function of what is known of a cluster.
package decision

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/transitions"
)

// Direction of a version change.
type Direction uint8

// The directions.
const (
	// DirectionUnknown: the version of a node, or the desired one, cannot be parsed.
	DirectionUnknown Direction = iota
	// DirectionInstall: no node has ever run, by all records.
	DirectionInstall
	// DirectionStay: every node runs the desired version.
	DirectionStay
	// DirectionUp: no node runs a newer version than the desired one, and some run
	// an older one. From is the oldest.
	DirectionUp
	// DirectionDown: some node runs a newer version than the desired one. From is
	// the newest.
	DirectionDown
	// DirectionBuild: some nodes run another build of the desired major.minor.patch.
	// It is a roll, not a version change: the metadata level does not change.
	DirectionBuild
)

// String returns the name of the direction for messages and logs.
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

// Outcome is whether the change is permitted. The zero value stops it.
type Outcome uint8

// The outcomes.
const (
	// OutcomeUndecided: a fact that the answer depends on is unreadable. The change waits.
	OutcomeUndecided Outcome = iota
	// OutcomeAllowed: every node may be restarted on the desired version.
	OutcomeAllowed
	// OutcomeRefused: the change is not permitted until a user changes something.
	OutcomeRefused
)

// String returns the name of the outcome for messages and logs.
func (o Outcome) String() string {
	switch o {
	case OutcomeAllowed:
		return "allowed"
	case OutcomeRefused:
		return "refused"
	default:
		return "undecided"
	}
}

// Reason is a stable token for a refusal, a wait or a warning. Conditions, metrics
// and users' alerts are keyed by it.
type Reason = transitions.Reason

// The reasons for a refusal or a wait. ReasonLevelsUnreadable is a wait, or a
// warning if the answer does not depend on the levels.
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

// The reasons of warnings, which do not stop a change.
const (
	// ReasonMetadataVersionTooNew: the desired metadata version is ignored.
	ReasonMetadataVersionTooNew Reason = "MetadataVersionTooNew"
	// ReasonLoweringLikelyRefused: Kafka is asked to lower metadata.version across
	// a level that changed its records.
	ReasonLoweringLikelyRefused Reason = "LoweringLikelyRefused"
	// ReasonLevelsFromStatus: Kafka's levels could not be read, and the level in the
	// status was used instead.
	ReasonLevelsFromStatus Reason = "LevelsFromStatus"
	// ReasonPodContradicted: pods run another image than that of the version on which
	// the operator started them.
	ReasonPodContradicted Reason = "PodContradicted"
	// ReasonPodVersionUnknown: some pods have no version although others have one.
	ReasonPodVersionUnknown Reason = "PodVersionUnknown"
)

// Warning is information for users that does not stop the change.
type Warning struct {
	Reason  Reason
	Message string
}

// Decision is what to do about a cluster's version. It depends only on a
// Situation.
type Decision struct {
	Outcome   Outcome
	Direction Direction
	// From is the version that decides the direction: the newest for down, the
	// oldest for up. The table may not contain it. It is zero for an install.
	From versions.Version
	// To is the desired version; zero if the text in the spec is no version. If the
	// outcome is allowed, the table contains and supports it.
	To versions.Version
	// Reason and Message explain an outcome that is not allowed: the problem, the
	// place and the remedy. Both are empty for an allowed outcome.
	Reason  Reason
	Message string
	// Unreadable lists the features whose unknown level causes OutcomeUndecided.
	Unreadable []string
	Metadata   MetadataPlan
	Warnings   []Warning
}

// Settled reports whether nothing is left to do: every node runs the desired
// version and metadata.version is at the desired level.
func (d *Decision) Settled() bool {
	return d.Outcome == OutcomeAllowed && d.Direction == DirectionStay && d.Metadata.Step == MetadataKeep
}

// Decide computes the decision. It reads no clock and contacts no system, and the
// order of the nodes does not matter. At rest it does not allocate.
//
// A cluster may change to a version that supports every finalized level. The
// direction does not change that rule, only what must be known for it. An
// unreadable level stops a change if a version that was started may have
// finalized a level that To does not support. It always stops a downgrade if
// neither Kafka nor the status has the level of metadata.version.
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
		metadata = metadataLevel{} // the running nodes contradict the status
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

// readWanted sets To, or refuses an invalid version.
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

// Package decision decides whether a Ceph cluster may change its version, and which daemons change to which version. It is free of
// side effects: it decides before the first daemon is replaced, because a daemon that was started once on a newer release can often not
// go back, and a daemon that was started on one that is too new can never be used again.
package decision

import (
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/transitions"
)

// Situation is the input of the decision, as plain values.
type Situation struct {
	// Table of the releases that the operator knows. It belongs to the operator and is not part of a journal.
	Table *versions.Table `json:"-"`
	// Wanted is spec.cephVersion.
	Wanted Image
	// Policy is spec.upgradePolicy; nil for none.
	Policy *Policy
	// Daemons are all daemons, with those that are down.
	Daemons []Daemon
	// Back are the older versions of a downgrade that was asked for and has begun; empty without one. Daemons that are still newer are then
	// not the rest of an upgrade whose policy was removed.
	Back []versions.Version
	// Named are the names of the images that the spec asked for when an attempt last began. One of them is no new request for its version.
	Named []string
	// Unnamed is true if the spec asks for an image that is not in Named.
	Unnamed bool
	// Builds are the references of the images that the attempt in progress replaces although their version is the wanted one.
	Builds []string
	// Released is what the cluster requires of its daemons.
	Released Released
	// AcceptedOutage are the types of daemons whose outage is accepted (detent.dev/accept-outage).
	AcceptedOutage []ceph.Type
}

// Image is a wanted image with what was detected in it.
type Image struct {
	// Name as the spec writes it. Empty if the spec names none and the cluster runs: every daemon then stays on what it runs.
	Name string
	// Default is true if the spec names none and the image of a new cluster was taken from the table.
	Default bool
	// Reference as pods use it; empty while the image is not detected. It tells builds apart that report no version.
	Reference string
	// AllowUnsupported accepts a release that is not supported.
	AllowUnsupported bool
	// Detected is false while the version of the image is not known yet.
	Detected bool
	// Delay is why the container that detects the version does not run; nil if nothing delays it.
	Delay *transitions.Problem
	// Version that the image runs; zero for a development build that reports none.
	Version versions.Version
	// Builds of a target are the references that it replaces although they are of its version. See Replaces.
	Builds []string
	// Problem is why the version cannot be detected: the image cannot be pulled, or is not Ceph. Nil if it was detected.
	Problem *transitions.Problem
}

// ImageNames returns the images that the spec asks for.
func (s *Situation) ImageNames() (names []string) {
	if s.Wanted.Name != "" {
		names = append(names, s.Wanted.Name)
	}
	if s.Policy != nil && !slices.Contains(names, s.Policy.Image.Name) {
		names = append(names, s.Policy.Image.Name)
	}
	return names
}

// Policy restricts an upgrade to some types of daemons.
type Policy struct {
	Image Image
	// Components that change to the image. Their order has no meaning.
	Components []ceph.Type
}

// Daemon is what is known of the version of one daemon.
type Daemon struct {
	Name ceph.Daemon
	// Filesystem of a metadata server.
	Filesystem string
	// Runs is the version that it runs, or ran last; zero if it never started, or is Unversioned.
	Runs versions.Version
	// Unversioned means that it runs a development build without a version.
	Unversioned bool
	// Development means that it runs such a build, or was launched on one and has not reported itself since.
	Development bool
	// Launched is the image of its Deployment.
	Launched Image
	// Newest is the newest version that it was ever started on, by its record; zero if it never started.
	Newest versions.Version
	// Outdated is true if its pod differs from the desired one for another reason than the version.
	Outdated bool
}

// Released is what the cluster requires of its daemons.
type Released struct {
	// Known is true if the cluster answered.
	Known bool
	// OSD is the name of the oldest release that OSDs may run (require_osd_release).
	OSD string
	// Mon is the oldest major that monitors may run (min_mon_release).
	Mon int
}

// Outcome of a decision.
type Outcome string

const (
	// Undecided: something that the decision depends on is not known.
	Undecided Outcome = "Undecided"
	// Refused: the spec asks for something that is not possible. No daemon changes.
	Refused Outcome = "Refused"
	// Held: some daemons have changed already, and the spec asks neither to finish nor for something that is possible from there.
	Held Outcome = "Held"
	// Permitted: daemons that differ from their target may be replaced.
	Permitted Outcome = "Permitted"
)

// Decision is the outcome with its reason.
type Decision struct {
	Outcome Outcome
	// Problem is why the outcome is not Permitted, with the remedy; nil if it is.
	Problem *transitions.Problem
	// Warnings are about what is permitted and unusual.
	Warnings []transitions.Problem
	// Targets is the image of each type. A type that stays on what it runs is missing.
	Targets map[ceph.Type]Image
	// From is the oldest version of the daemons that change, and To the version of the change; both are zero if no version changes.
	From, To versions.Version
	// Builds are the references of images of a wanted version that are replaced by another build of it, sorted.
	Builds []string
	// Back are the versions of the targets that are older than what daemons run.
	Back []versions.Version
}

// Reasons of a Problem.
const (
	Detecting            transitions.Reason = "DetectingVersion"
	Unversioned          transitions.Reason = "UnversionedBuild"
	UnknownComponent     transitions.Reason = "UnknownComponent"
	ComponentOrder       transitions.Reason = "ComponentOrder"
	PolicyRemoved        transitions.Reason = "PolicyRemoved"
	MixedVersions        transitions.Reason = "MixedVersions"
	Retargeted           transitions.Reason = "Retargeted"
	Downgrade            transitions.Reason = "Downgrade"
	TooFar               transitions.Reason = "TooFar"
	SkippedRelease       transitions.Reason = "SkippedRelease"
	PreviousUnfinished   transitions.Reason = "PreviousUpgradeUnfinished"
	ReleasesUnknown      transitions.Reason = "ReleasesUnknown"
	OutageNotAccepted    transitions.Reason = "OutageNotAccepted"
	UnsupportedAccepted  transitions.Reason = "UnsupportedAccepted"
	OtherBuild           transitions.Reason = "OtherBuild"
	VersionWithoutEffect transitions.Reason = "VersionWithoutEffect"
	ReleaseNotRequired   transitions.Reason = "ReleaseNotRequired"
)

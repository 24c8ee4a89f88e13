package status

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/annotations"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/health"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// OSDRemoved is the reason of the Warning about OSDs that were removed from Ceph, and whose storage the spec still declares.
const OSDRemoved = "OSDRemoved"

// FilesystemRemoved is the reason of the Warning about filesystems that were removed from Ceph, and that the spec still declares.
const FilesystemRemoved = "FilesystemRemoved"

// ImageSetByHand is the reason of the Warning about daemons whose image an administrator set in their Deployment.
const ImageSetByHand = "ImageSetByHand"

// OutageEntry is the reason of the Warning about entries of the annotation detent.dev/accept-outage that have no effect.
const OutageEntry = "OutageEntryWithoutEffect"

// OptionIgnored is the reason of the Warning about options in spec.cephConfig that have no effect.
const OptionIgnored = "OptionWithoutEffect"

// DataDirElsewhere is the reason of the Warning about a spec.dataDirHostPath that is not where the monitors keep their data.
const DataDirElsewhere = "DataDirElsewhere"

// ClaimDeleted is the reason of the Warning about claims of OSDs that are gone, or that are being deleted, which the end of a pod would complete.
const ClaimDeleted = "ClaimDeleted"

// CrushHostShared is the reason of the Warning about OSDs that share a host in CRUSH and serve on several nodes, or that are still to move there.
const CrushHostShared = "CrushHostShared"

// DeploymentEdited is the reason of the Warning about Deployments that an administrator paused or scaled.
const DeploymentEdited = "DeploymentEdited"

// warnings are the conditions about what is unusual and stops nothing, one for each reason.
func warnings(c *cephv1.Cluster, s *observation.Snapshot) []metav1.Condition {
	var lost, unused []string
	for _, l := range facts.Losses(s) {
		lost = append(lost, l.Remedy(c, s))
	}
	for _, d := range s.Unused {
		if facts.Reuse(c, s, d.Slot) && s.Left(d.Name) {
			unused = append(unused, fmt.Sprintf("%s was removed from Ceph, and another OSD is made in %s: %s", d.Name, render.Storage(c, s.Record, d, d.Node), untilGone(s, d.Name)))
			continue
		}
		unused = append(unused, fmt.Sprintf("%s was removed from Ceph: %s is not used. To make another OSD there, empty it, and approve that with %s",
			d.Name, render.Storage(c, s.Record, d, d.Node), facts.ReuseCommand(c, s, d.Slot)))
	}
	out := warn(warn(nil, StorageLost, lost), OSDRemoved, unused)
	out = warn(out, ClaimDeleted, claimsDeleted(c, s))
	out = append(out, sharedHosts(c, s)...)
	out = warn(out, FilesystemRemoved, filesystemsRemoved(c, s))
	out = warn(out, ImageSetByHand, byHand(c, s))
	out = warn(out, DeploymentEdited, edited(s))
	out = warn(out, OutageEntry, withoutEffect(c, s))
	out = warn(out, labels.InvalidAnnotation, unbound(c))
	out = warn(out, labels.UnknownAnnotation, annotations.Unknown(labels.KindCeph, c))
	out = warn(out, OptionIgnored, ignored(c))
	out = warn(out, DataDirElsewhere, elsewhere(c, s))
	return append(out, unusual(c, s)...)
}

// sharedHosts is the Warning about OSDs that share a host in CRUSH. While the copies of the pools are not read, the one that is shown stays.
func sharedHosts(c *cephv1.Cluster, s *observation.Snapshot) []metav1.Condition {
	if _, known := observation.Known(s.Cluster); !known {
		return remains(c, CrushHostShared)
	}
	return warn(nil, CrushHostShared, facts.SharedHosts(c, s))
}

// filesystemsRemoved names the filesystems that were removed from Ceph, and how they are created again.
func filesystemsRemoved(c *cephv1.Cluster, s *observation.Snapshot) (texts []string) {
	for _, name := range facts.RemovedFilesystems(c, s) {
		texts = append(texts, fmt.Sprintf("the filesystem %s was removed from Ceph, and is not created again: its pools may hold files. To create an empty one, remove or rename its pools, and approve that with %s",
			name, facts.AnewCommand(c, s, name)))
	}
	return texts
}

// claimsDeleted names the claims that are being deleted, with what keeps their data, and the OSDs whose claim is gone.
func claimsDeleted(c *cephv1.Cluster, s *observation.Snapshot) (texts []string) {
	if s.Record == nil {
		return nil
	}
	for _, name := range s.Record.Of(ceph.TypeOSD) {
		if held := facts.Held(s, name); held != nil {
			texts = append(texts, held.Message)
		}
	}
	for _, d := range s.Declared {
		if gone := facts.WithoutClaim(c, s, d); gone != nil {
			texts = append(texts, gone.Message)
		}
	}
	return texts
}

// edited names the Deployments that start no other pod, none, or several, since an administrator changed them. The next change of a daemon corrects
// its Deployment.
func edited(s *observation.Snapshot) (texts []string) {
	for _, d := range s.Declared {
		of := s.Deployments[d.Name]
		if of == nil {
			continue
		}
		for _, problem := range []*transitions.Problem{facts.Paused(of), facts.Several(of), facts.Stopped(d.Name, of)} {
			if problem != nil {
				texts = append(texts, problem.Message)
			}
		}
	}
	return texts
}

// maxEntry is how many bytes of an entry of an annotation are shown.
const maxEntry = 32

// withoutEffect names the entries that accept an outage that cannot be accepted.
func withoutEffect(c *cephv1.Cluster, s *observation.Snapshot) (texts []string) {
	for _, t := range facts.Spec(c, s).AcceptedOutage {
		if entry := string(t); !slices.Contains(decision.Outages(), t) {
			entry = strings.ToValidUTF8(entry[:min(len(entry), maxEntry)], "")
			texts = append(texts, fmt.Sprintf("the entry %q of the annotation %s has no effect: set mon, mgr or mds, whose outage can be accepted", entry, facts.AcceptOutage))
		}
	}
	return texts
}

// unbound names the entries that let a health code pass, and name no attempt.
func unbound(c *cephv1.Cluster) (texts []string) {
	for _, entry := range health.Unbound(c.Annotations[facts.IgnoreHealth]) {
		texts = append(texts, fmt.Sprintf("the entry %q of the annotation %s has no effect: write CODE=<attempt id>, with the id of the upgrade that the code may pass in: status.lifecycles has it",
			machines.Cut(entry, maxEntry), facts.IgnoreHealth))
	}
	return texts
}

// elsewhere names the monitors that were placed with another spec.dataDirHostPath, as by a Cluster that was deleted.
func elsewhere(c *cephv1.Cluster, s *observation.Snapshot) (texts []string) {
	if s.Record == nil {
		return nil
	}
	for _, name := range s.Record.Of(ceph.TypeMon) {
		if dir := s.Record.Daemons[name.String()].DataDir; dir != "" && path.Clean(dir) != path.Clean(c.Spec.DataDirHostPath) {
			texts = append(texts, fmt.Sprintf("%s keeps its data below %s, where it was made, and spec.dataDirHostPath is %s: only new monitors are made there", name, dir, c.Spec.DataDirHostPath))
		}
	}
	return texts
}

// ignored names the options that would give daemons another cluster or other monitors, and those that command lines set.
func ignored(c *cephv1.Cluster) (texts []string) {
	for _, option := range render.Ignored(c) {
		texts = append(texts, fmt.Sprintf("the option %s of spec.cephConfig has no effect: what identifies the cluster and its monitors is set for it", option))
	}
	for _, option := range render.Overridden(c) {
		texts = append(texts, fmt.Sprintf("the option %s of spec.cephConfig has no effect: it is set on the command line of each daemon that uses it", option))
	}
	return texts
}

// byHand names the daemons whose image an administrator set in their Deployment, while they have not reported its version, or that is not what
// they are to run. No text names the image from before: what has touched the data of a daemon is not known until it reports.
func byHand(c *cephv1.Cluster, s *observation.Snapshot) (texts []string) {
	if !s.Launched() {
		return nil
	}
	targets := decision.Decide(facts.Spec(c, s)).Targets // of the images alone
	for _, d := range facts.Daemons(s) {
		image := s.Undetected(d.Name)
		target, moves := targets[d.Name.Type]
		switch {
		case image == "":
		case d.ByHand != "" || d.Name.Type == ceph.TypeRGW:
			texts = append(texts, fmt.Sprintf("the image %s was set in the Deployment of %s, which has not reported its version: correct the image there%s", image, d.Name, orInSpec(&d)))
		case moves && !d.Launched.Same(target.Version):
			texts = append(texts, fmt.Sprintf("the image %s was set in the Deployment of %s, which has the version %s: set spec.cephVersion.image to an image of %s or later, and the daemon follows it", image, d.Name, d.Launched, d.Launched))
		}
	}
	return texts
}

// orInSpec is how the spec can correct an image that was set by hand; empty if it cannot: a container has run, and what it has touched is not
// known. A gateway has no data, and what it runs follows from the version alone. An image of another digest is taken up by every daemon of the version.
func orInSpec(d *cephupgrade.Daemon) string {
	switch {
	case d.Name.Type == ceph.TypeRGW:
		return ", or set spec.cephVersion.image to an image of another version"
	case !d.Unpulled || d.Launched.IsZero():
		return ""
	}
	return fmt.Sprintf(", or set spec.cephVersion.image to another image of %s than %s: one of the same digest replaces this daemon alone, and one of another digest replaces all daemons", d.Launched, d.Image)
}

// unusual are the warnings of the decision on the versions. While what it depends on is not read, those that are shown stay.
func unusual(c *cephv1.Cluster, s *observation.Snapshot) (out []metav1.Condition) {
	m, known := observation.Known(s.Cluster)
	memory, recorded := observation.Known(s.Memory)
	if !s.Launched() {
		return nil
	}
	if !known || !recorded && !rests(c) {
		return remains(c, decision.Downgrade, decision.OtherBuild, decision.UnsupportedAccepted, decision.VersionWithoutEffect, decision.ReleaseNotRequired)
	}
	f := cephupgrade.Facts{Spec: facts.Spec(c, s), Daemons: facts.Daemons(s)}
	texts := map[transitions.Reason][]string{}
	for _, w := range f.Warnings(&m, &memory) {
		texts[w.Reason] = append(texts[w.Reason], w.Message)
	}
	for _, reason := range slices.Sorted(maps.Keys(texts)) {
		out = warn(out, string(reason), texts[reason])
	}
	if !recorded {
		out = append(out, remains(c, decision.OtherBuild)...)
	}
	return out
}

// remains returns the Warnings of the reasons that the status has.
func remains(c *cephv1.Cluster, reasons ...transitions.Reason) (out []metav1.Condition) {
	for _, old := range c.Status.Conditions {
		if old.Type == lifecycle.Warning && slices.Contains(reasons, transitions.Reason(old.Reason)) {
			out = append(out, old)
		}
	}
	return out
}

// rests reports whether the upgrade rests. What it stored may not be read then, and without a change only the Warning of another build depends on
// it.
func rests(c *cephv1.Cluster) bool {
	return slices.ContainsFunc(c.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return e.Name == observation.LifecycleUpgrade && e.State == cephupgrade.Settled
	})
}

// maxTexts is how many texts of one Warning are shown.
const maxTexts = 3

// warn appends a Warning with the texts, if there are any.
func warn(to []metav1.Condition, reason string, texts []string) []metav1.Condition {
	if len(texts) == 0 {
		return to
	}
	if more := len(texts) - maxTexts; more > 0 {
		texts = append(texts[:maxTexts], fmt.Sprintf("and %d others", more))
	}
	return append(to, metav1.Condition{Type: lifecycle.Warning, Status: metav1.ConditionTrue, Reason: reason, Message: strings.Join(texts, "; ")})
}

// Package status sets the status of Ceph clusters: their fields and conditions. It is pure.
package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// StorageLost is the reason of Ready and of a Warning while the data of a monitor or an OSD is lost.
const StorageLost = "StorageLost"

// Project sets the fields of the status, and returns the conditions of the kind. Fields that the snapshot does not contain keep their
// values.
func Project(c *cephv1.Cluster, s *observation.Snapshot, _ lifecycle.ProjectRequest) []metav1.Condition {
	spec := facts.Spec(c, s)
	target(c, &spec)
	if h, known := s.Health.Get(); known {
		report(c).Health, report(c).Checks = h.Status, checks(&h)
	}
	m, known := s.Cluster.Get()
	if known && s.Launched() {
		version(c, s, &m)
		report(c).Components = components(c, s, &m)
	}
	ready, settled := served(s, &m, known), versionSettled(c, s, &spec)
	out := []metav1.Condition{ready, settled}
	if !s.Founded() {
		if decided := facts.Launch(c, s); decided.Outcome == decision.Refused {
			out[0].Reason, out[0].Message = string(decided.Problem.Reason), decided.Problem.Message
		}
	}
	return append(out, warnings(c, s)...)
}

// target shows the version that the spec asks for, of its policy if that applies. It stays as it was while the image is not detected.
func target(c *cephv1.Cluster, spec *decision.Situation) {
	wanted := spec.Wanted
	if spec.PolicyApplies() && len(spec.Policy.Components) > 0 {
		wanted = spec.Policy.Image
	}
	if wanted.Detected || wanted.Name == "" {
		c.Status.Target = wanted.Version.String()
	}
}

func report(c *cephv1.Cluster) *cephv1.CephStatus {
	if c.Status.Ceph == nil {
		c.Status.Ceph = &cephv1.CephStatus{}
	}
	return c.Status.Ceph
}

// maxChecks is the limit of the definition of the resource.
const maxChecks = 32

// checks are the codes that are raised, without their texts, which contain numbers that change.
func checks(h *ceph.Health) (out []cephv1.HealthCheck) {
	for _, one := range h.Checks[:min(len(h.Checks), maxChecks)] {
		out = append(out, cephv1.HealthCheck{Code: one.Code[:min(len(one.Code), 128)], Severity: one.Severity, Muted: one.Muted})
	}
	return out
}

// Equal compares the fields that Project sets.
func Equal(a, b *cephv1.Cluster) bool {
	x, y := &a.Status, &b.Status
	return x.Target == y.Target && equal(x.Version, y.Version, func(a, b cephv1.VersionStatus) bool { return a == b }) &&
		equal(x.Ceph, y.Ceph, func(a, b cephv1.CephStatus) bool {
			return a.Health == b.Health && slices.Equal(a.Checks, b.Checks) && slices.EqualFunc(a.Components, b.Components, func(a, b cephv1.ComponentStatus) bool {
				return a.Type == b.Type && a.Done == b.Done && a.Total == b.Total && slices.Equal(a.Versions, b.Versions)
			})
		})
}

func equal[T any](a, b *T, same func(a, b T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return same(*a, *b)
}

// runs returns the version that a daemon reported, and false if it reported none yet. A gateway reports none: it is ready on the version of its
// image, or runs none. The version of a development build is zero.
func runs(s *observation.Snapshot, m *cephupgrade.Cluster, d ceph.Daemon) (v versions.Version, reported bool) {
	if d.Type == ceph.TypeRGW {
		pod, of := s.Pods[d], s.Deployments[d]
		if pod == nil || of == nil || !render.Current(pod, of) || !observation.Ready(pod) {
			return versions.Version{}, false
		}
		return s.Runs(d).Version, true
	}
	for _, one := range m.Metadata {
		if one.Daemon == d {
			return one.Version, one.Unversioned || !one.Version.IsZero()
		}
	}
	return versions.Version{}, false
}

// development is shown for a build that reports no version.
const development = "development"

func shown(v versions.Version) string {
	if v.IsZero() {
		return development
	}
	return v.String()
}

// version shows the oldest version that a daemon runs. A development build is shown if no daemon runs another one.
func version(c *cephv1.Cluster, s *observation.Snapshot, m *cephupgrade.Cluster) {
	var oldest *versions.Version
	var image string
	for _, d := range s.Record.Names() {
		v, reported := runs(s, m, d)
		if !reported || oldest != nil && (v.IsZero() || !oldest.IsZero() && v.Compare(*oldest) >= 0) {
			continue
		}
		if oldest, image = &v, ""; s.Runs(d).Version.Same(v) {
			image = s.Runs(d).Reference
		}
	}
	if oldest != nil {
		c.Status.Version = &cephv1.VersionStatus{Image: image, Version: shown(*oldest)}
	}
}

// components shows the versions of each type of daemon. How many are done stays as it was while it is not known which type changes to what.
func components(c *cephv1.Cluster, s *observation.Snapshot, m *cephupgrade.Cluster) (out []cephv1.ComponentStatus) {
	spec := facts.Spec(c, s)
	decided := decision.Decide(spec) // of the images alone: which type changes to what
	before := map[cephv1.Component]int32{}
	for _, one := range report(c).Components {
		before[one.Type] = one.Done
	}
	for _, t := range ceph.Types() {
		one := cephv1.ComponentStatus{Type: cephv1.Component(t), Versions: []string{}}
		for _, d := range s.Record.Of(t) {
			if s.Record.Daemons[d.String()].Reference == "" {
				continue
			}
			one.Total++
			v, reported := runs(s, m, d)
			if !reported {
				continue
			}
			one.Versions = append(one.Versions, shown(v))
			if target, changes := decided.Targets[t]; !changes || v.Same(target.Version) {
				one.Done++
			}
		}
		if decided.Outcome != decision.Permitted {
			one.Done = min(before[one.Type], one.Total)
		}
		if one.Total > 0 {
			slices.Sort(one.Versions)
			one.Versions = slices.Compact(one.Versions)
			out = append(out, one)
		}
	}
	return out
}

// served is Ready: every daemon that the spec declares has its role, and it declares every daemon that was launched.
func served(s *observation.Snapshot, m *cephupgrade.Cluster, known bool) metav1.Condition {
	out := metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: "DaemonsNotServing"}
	switch {
	case s.RecordLost():
		out.Reason, out.Message = "NotReadable", observation.RecordLost(s.Endpoint.Name.Name).Error()
		return out
	case !s.Launched():
		out.Reason, out.Message = "NotLaunched", "no daemon was launched yet"
		return out
	case undeclared(s) != nil:
		why := undeclared(s)
		out.Reason, out.Message = string(why.Reason), why.Message
		return out
	case !known:
		out.Reason, out.Message = "NotReadable", "Ceph does not answer: "+observed(s.Cluster.Gap())
		if why := facts.ToolsTrouble(s); why != nil {
			out.Message += "; the pod of " + s.Tools.Name + ", in which commands are run, does not start: " + why.Message
		}
		if failing := failingMonitors(s); len(failing) > 0 {
			out.Message += "; monitors that do not start: " + few(failing)
		}
		return out
	}
	var down []string
	for _, d := range s.Declared {
		if pod := s.Pods[d.Name]; d.Name.Type == ceph.TypeRGW && pod != nil && observation.Ready(pod) || facts.Serves(m, d.Name) {
			continue
		}
		down = append(down, named(s, d))
	}
	if len(down) == 0 {
		out.Status, out.Reason = metav1.ConditionTrue, "DaemonsServing"
		return out
	}
	if len(facts.Losses(s)) > 0 {
		out.Reason = StorageLost
	}
	out.Message = "not serving: " + few(down)
	return out
}

// failingMonitors names the monitors whose pods do not start, with the reason.
func failingMonitors(s *observation.Snapshot) (names []string) {
	for _, d := range s.Declared {
		if d.Name.Type == ceph.TypeMon && facts.Why(s, d.Name) != nil {
			names = append(names, named(s, d))
		}
	}
	return names
}

// named is the name of a daemon with why its pod does not start.
func named(s *observation.Snapshot, d daemons.Daemon) string {
	name := d.Name.String()
	if d.Name.ID == "" {
		if name = "the OSD of " + d.Slot; d.Path != "" {
			name = "the OSD of " + d.Path + " on " + d.Node
		}
		if removed, waits := s.Waiting[d.Slot]; waits {
			return name + " (" + untilGone(s, removed) + ")"
		}
	}
	why := facts.Why(s, d.Name)
	if why == nil {
		why = withoutOSD(s, d)
	}
	if why != nil {
		name += " (" + why.Message + ")"
	}
	return name
}

// reasonNoOSD is the reason of a gateway that waits for an OSD.
const reasonNoOSD transitions.Reason = "NoOSD"

// withoutOSD says that a gateway is not launched because no OSD is up; nil if that is not why.
func withoutOSD(s *observation.Snapshot, d daemons.Daemon) *transitions.Problem {
	m, known := s.Cluster.Get()
	launched := s.Record != nil && s.Record.Daemons[d.Name.String()].Reference != ""
	if d.Name.Type != ceph.TypeRGW || launched || !known || slices.ContainsFunc(m.OSDs.OSDs, func(o ceph.OSD) bool { return o.Up }) {
		return nil
	}
	if !slices.ContainsFunc(s.Declared, func(o daemons.Daemon) bool { return o.Name.Type == ceph.TypeOSD }) {
		return transitions.Problemf(reasonNoOSD, "it waits for an OSD, and spec.storage declares none")
	}
	return transitions.Problemf(reasonNoOSD, "it waits for an OSD that is up")
}

// untilGone says what is left of an OSD that was removed from Ceph, and how that is removed: the pod of a node that is down ends by itself only
// once the node is back. It may still run and use the key and the data of the OSD.
func untilGone(s *observation.Snapshot, removed ceph.Daemon) string {
	if pod := s.Pods[removed]; pod != nil {
		return fmt.Sprintf("it waits until the pod %s of the removed %s is gone: if its node is down for good, delete the pod with --force", pod.Name, removed)
	}
	return fmt.Sprintf("it waits until the Deployment of the removed %s is gone", removed)
}

// few lists at most three names, and how many more there are.
func few(names []string) string {
	if more := len(names) - 3; more > 0 {
		names = append(names[:3:3], fmt.Sprintf("%d others", more))
	}
	return strings.Join(names, ", ")
}

func observed(v transitions.Verdict) string {
	if v.Observed == "" {
		return "it was not asked yet"
	}
	return v.Observed
}

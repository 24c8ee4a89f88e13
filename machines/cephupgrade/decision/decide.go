package decision

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/transitions"
)

// Decide decides on the version of every daemon. The rules on versions apply only if a version changes; whether an outage is accepted
// also applies if daemons are replaced for another reason.
func Decide(s Situation) Decision {
	d := Decision{Outcome: Permitted}
	for _, rule := range []func(*Situation, *Decision) bool{images, components, targets, overruled, builds, uniform, moved, developed, permitted, retargeted, ordered, gap, released, unrequired, survival} {
		if !rule(&s, &d) {
			d.Targets = nil
			return d
		}
	}
	return d
}

func (d *Decision) end(outcome Outcome, reason transitions.Reason, format string, args ...any) bool {
	d.Outcome, d.Problem = outcome, transitions.Problemf(reason, format, args...)
	return false
}

// images: the version of every wanted image is known.
func images(s *Situation, d *Decision) bool {
	wanted := []Image{s.Wanted}
	if s.Policy != nil {
		wanted = append(wanted, s.Policy.Image)
	}
	for _, i := range wanted {
		switch {
		case i.Name == "":
		case i.Problem != nil && i.Default:
			return d.end(Refused, i.Problem.Reason, "%s. It is the default image: set spec.cephVersion.image. Supported are %s", i.Problem.Message, s.Table.Supported())
		case i.Problem != nil:
			return d.end(Refused, i.Problem.Reason, "%s", i.Problem.Message)
		case !i.Detected:
			return d.end(Undecided, Detecting, "the version of the image %s is being detected", i.Name)
		case i.Version.IsZero() && !i.AllowUnsupported:
			return d.end(Refused, Unversioned, "the image %s is a development build that reports no version. To run it anyway, set allowUnsupported to true", i.Name)
		}
	}
	return true
}

// SameAs compares the detected versions, and the images of builds without a version: two names of one version are the same.
func (i Image) SameAs(other Image) bool {
	if i.Version.IsZero() || other.Version.IsZero() {
		return i.Version.IsZero() && other.Version.IsZero() && (i.Name == other.Name || i.Reference != "" && i.Reference == other.Reference)
	}
	return i.Version.Same(other.Version)
}

// join lists types in the order of an upgrade.
func join(types []ceph.Type) string {
	var names []string
	for _, t := range ceph.Types() {
		if slices.Contains(types, t) {
			names = append(names, string(t))
		}
	}
	return strings.Join(names, ", ")
}

// targets assigns an image to each type.
func targets(s *Situation, d *Decision) bool {
	d.Targets = map[ceph.Type]Image{}
	for _, t := range ceph.Types() {
		switch {
		case s.PolicyApplies() && slices.Contains(s.Policy.Components, t):
			d.Targets[t] = s.Policy.Image
		case s.Wanted.Name != "":
			d.Targets[t] = s.Wanted
		}
	}
	for _, m := range s.Daemons {
		target, moves := d.Targets[m.Name.Type]
		if !moves || m.Runs.IsZero() || m.Runs.Same(target.Version) {
			continue
		}
		if target.Version.Compare(d.To) > 0 || d.To.IsZero() {
			d.To = target.Version
		}
		if d.From.IsZero() || m.Runs.Compare(d.From) < 0 {
			d.From = m.Runs
		}
	}
	return true
}

// ordered: no type changes to a version that is newer than what a type before it would run then. A policy that is left from an earlier upgrade
// keeps its components on its own image.
func ordered(s *Situation, d *Decision) bool {
	kept, newer := map[ceph.Type]bool{}, map[ceph.Type]bool{}
	for _, t := range ceph.Types() {
		for _, before := range required[t] {
			if s.restarts(d, t) && s.stays(d, before, d.Targets[t].Version) {
				kept[before], newer[t] = true, true
			}
		}
	}
	if len(kept) == 0 {
		return true
	}
	return d.end(Refused, ComponentOrder, "%s would change to %s while %s stay on an older version, and must change first. If spec.upgradePolicy is left from an earlier upgrade, remove it",
		join(slices.Collect(maps.Keys(newer))), s.Table.Describe(s.Wanted.Version), join(slices.Collect(maps.Keys(kept))))
}

// stays reports whether a daemon of the type would run a version that is older than another one.
func (s *Situation) stays(d *Decision, t ceph.Type, than versions.Version) bool {
	if than.IsZero() {
		return false
	}
	return slices.ContainsFunc(s.Daemons, func(m Daemon) bool {
		then := m.Runs
		if target, moves := d.Targets[t]; moves {
			then = target.Version
		}
		return m.Name.Type == t && !then.IsZero() && then.Compare(than) < 0
	})
}

// changes reports whether a version changes.
func (d *Decision) changes() bool { return !d.From.IsZero() }

// moved: no daemon goes back, other than by a request for an older patch release: one that no daemon contradicts when it begins, and that is
// not merely what is left of the spec without its policy. Without a record of what the spec asked for before, nothing says that it is a request.
func moved(s *Situation, d *Decision) bool {
	var newer, at []string
	var newest versions.Version
	requested := len(s.Named) > 0
	types := map[ceph.Type]bool{}
	for _, m := range s.Daemons {
		target, moves := d.Targets[m.Name.Type]
		switch {
		case !moves || m.Runs.IsZero() || target.Version.IsZero():
		case m.Runs.Compare(target.Version) > 0:
			newer, types[m.Name.Type] = append(newer, m.Name.String()), true
			requested = requested && !slices.Contains(s.Named, target.Name)
			if !slices.Contains(d.Back, target.Version) {
				d.Back = append(d.Back, target.Version)
			}
			if m.Runs.Compare(newest) > 0 {
				newest = m.Runs
			}
		default:
			at = append(at, m.Name.String())
		}
	}
	if len(newer) == 0 {
		return started(s, d)
	}
	begun := !slices.ContainsFunc(d.Back, func(to versions.Version) bool { return !slices.ContainsFunc(s.Back, to.Same) })
	if len(s.Named) == 0 && len(at) == 0 && !started(s, d) {
		return false
	}
	if !begun && (len(at) > 0 || !requested) {
		whole := ""
		switch {
		case len(at) > 0:
		case len(s.Named) == 0:
			whole = fmt.Sprintf(". To change all of them back, set spec.cephVersion.image to an image of %s, wait until the upgrade is Settled again, and then set the older image", newest)
		default:
			whole = ". To change all of them back, name the older image in another way, such as by its digest"
		}
		return d.end(Held, PolicyRemoved, "%s run %s, and the spec asks for %s: no daemon is moved back. To finish, set spec.cephVersion.image to an image of %s. To stay here, set spec.upgradePolicy to that image with the components %s%s",
			cut(newer), s.Table.Describe(newest), s.Table.Describe(d.Back[0]), newest, s.keeping(types, newest), whole)
	}
	if !started(s, d) {
		return false
	}
	d.Warnings = append(d.Warnings, *transitions.Problemf(Downgrade, "Ceph is changed from %s back to %s", newest, d.Back[0]))
	return true
}

// started: no daemon was ever started on a newer major than its target.
func started(s *Situation, d *Decision) bool {
	var names []string
	var newest versions.Version
	for _, m := range s.Daemons {
		target, moves := d.Targets[m.Name.Type]
		reached := m.Newest
		if m.Runs.Compare(reached) > 0 {
			reached = m.Runs
		}
		if moves && !target.Version.IsZero() && reached.Major > target.Version.Major {
			names = append(names, m.Name.String())
			if reached.Compare(newest) > 0 {
				newest = reached
			}
		}
	}
	if len(names) == 0 {
		return true
	}
	return d.end(Refused, Downgrade, "%s were started on %s: their data cannot be used by an older release. Set spec.cephVersion.image to an image of %s or later", cut(names), s.Table.Describe(newest), newest)
}

// developed: no daemon with data leaves a development build for a release, unless that is accepted. Which data the build has written is not
// known, and a release may be older than it. A gateway has none.
func developed(s *Situation, d *Decision) bool {
	var names []string
	var to versions.Version
	for _, m := range s.Daemons {
		target, moves := d.Targets[m.Name.Type]
		if !moves || !m.Development || target.Version.IsZero() || m.Name.Type == ceph.TypeRGW {
			continue
		}
		if target.AllowUnsupported {
			d.warnOnce(UnsupportedAccepted, "Ceph is changed from a development build to "+s.Table.Describe(target.Version)+": whether that can use its data is not known")
			continue
		}
		names, to = append(names, m.Name.String()), target.Version
	}
	if len(names) == 0 {
		return true
	}
	return d.end(Refused, Unversioned, "%s run a development build that reports no version: whether %s can use their data is not known. To stay on the build, set spec.cephVersion.image to it. To change to %s anyway, set allowUnsupported to true",
		cut(names), s.Table.Describe(to), to)
}

// permitted: the versions that daemons change to may run.
func permitted(s *Situation, d *Decision) bool {
	for _, t := range ceph.Types() {
		target, moves := d.Targets[t]
		if !moves || !s.restarts(d, t) {
			continue
		}
		if target.Version.IsZero() {
			d.warnOnce(UnsupportedAccepted, "the image "+target.Name+" is a development build that reports no version: whether the cluster can change to it is not known")
			continue
		}
		if p := s.Table.Permit(target.Version, target.AllowUnsupported); p != nil {
			d.Outcome, d.Problem = Refused, p
			return false
		}
		if p := s.Table.Permit(target.Version, false); p != nil {
			d.warnOnce(UnsupportedAccepted, "Ceph "+s.Table.Describe(target.Version)+" is not supported")
		}
	}
	return true
}

func (d *Decision) warnOnce(reason transitions.Reason, message string) {
	p := transitions.Problem{Reason: reason, Message: message}
	if !slices.Contains(d.Warnings, p) {
		d.Warnings = append(d.Warnings, p)
	}
}

// restarts reports whether the version of a daemon of the type changes, or whether one never started.
func (s *Situation) restarts(d *Decision, t ceph.Type) bool {
	return slices.ContainsFunc(s.Daemons, func(m Daemon) bool { return m.Name.Type == t && !m.Runs.Same(d.Targets[t].Version) })
}

// Outages are the types of daemons whose outage can be accepted. Ceph itself is asked about OSDs, and a gateway interrupts nothing else.
func Outages() []ceph.Type { return []ceph.Type{ceph.TypeMon, ceph.TypeMgr, ceph.TypeMDS} }

// survival: clients are served while one daemon is replaced, or the outage is accepted.
func survival(s *Situation, d *Decision) bool {
	var refused []string
	lacks := func(t ceph.Type, format string, args ...any) {
		if !slices.Contains(s.AcceptedOutage, t) {
			refused = append(refused, fmt.Sprintf(format, args...))
		}
	}
	counts, filesystems := map[ceph.Type]int{}, map[string]int{}
	replaced := map[ceph.Type]bool{}
	for _, m := range s.Daemons {
		target, moves := d.Targets[m.Name.Type]
		if m.Runs.IsZero() && !m.Unversioned {
			continue
		}
		counts[m.Name.Type]++
		if m.Name.Type == ceph.TypeMDS {
			filesystems[m.Filesystem]++
		}
		replaced[m.Name.Type] = replaced[m.Name.Type] || m.Outdated || moves && m.differs(target)
	}
	if replaced[ceph.TypeMon] && counts[ceph.TypeMon] < 3 {
		lacks(ceph.TypeMon, "%d monitors have no majority without one", counts[ceph.TypeMon])
	}
	if replaced[ceph.TypeMgr] && counts[ceph.TypeMgr] < 2 {
		lacks(ceph.TypeMgr, "the manager has no standby")
	}
	for _, name := range slices.Sorted(maps.Keys(filesystems)) {
		if replaced[ceph.TypeMDS] && filesystems[name] < 2 {
			lacks(ceph.TypeMDS, "the filesystem %s has no standby", name)
		}
	}
	if len(refused) == 0 {
		return true
	}
	return d.end(Refused, OutageNotAccepted, "%s: add daemons, or accept the outage with the annotation detent.dev/accept-outage, such as mon,mgr,mds", strings.Join(refused, "; "))
}

// differs reports whether the daemon does not run its target: another version, or another build that takes its place.
func (m *Daemon) differs(target Image) bool {
	return target.Replaces(m.Launched) || !m.Runs.Same(target.Version) || m.Unversioned && m.Launched.Name != "" && !m.Launched.SameAs(target)
}

// cut lists at most three names, and how many more there are.
func cut(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:3], ", "), len(names)-3)
}

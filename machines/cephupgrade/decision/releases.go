package decision

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// MaxGap is the number of releases by which Ceph may be upgraded at once. The monitors of the newer release refuse more, and have
// changed their data by then.
const MaxGap = 2

// uniform: without a version of the cluster, the daemons of which the spec says nothing run one version. Otherwise the version or the policy
// was removed in the middle of a change, which would never end.
func uniform(s *Situation, d *Decision) bool {
	var newest versions.Version
	for _, m := range s.unnamed(d) {
		newest = later(newest, m.Runs)
	}
	var at, older []string
	types := map[ceph.Type]bool{}
	for _, m := range s.unnamed(d) {
		if m.Runs.Same(newest) {
			at, types[m.Name.Type] = append(at, m.Name.String()), true
		} else {
			older = append(older, m.Name.String())
		}
	}
	if len(older) == 0 {
		return true
	}
	return d.end(Held, MixedVersions, "spec.cephVersion.image is not set, and the daemons run several versions: %s run %s, %s run an older one. To finish, set spec.cephVersion.image to an image of %s. To stay here, set spec.upgradePolicy to that image with the components %s",
		cut(at), s.Table.Describe(newest), cut(older), newest, s.keeping(types, newest))
}

// unnamed returns the daemons that run and of which the spec says nothing.
func (s *Situation) unnamed(d *Decision) (out []Daemon) {
	for _, m := range s.Daemons {
		if _, moves := d.Targets[m.Name.Type]; !moves && !m.Runs.IsZero() {
			out = append(out, m)
		}
	}
	return out
}

// retargeted: every daemon that changes runs what the upgrade began from, its target, or an earlier patch of its target; and with the
// daemons that stay, the cluster does not get a third release.
func retargeted(s *Situation, d *Decision) bool {
	if !d.changes() {
		return true
	}
	var others []string
	asked := map[[2]int]bool{} // by the releases: with a thousand OSDs, one comparison of each with all others takes long
	for _, m := range s.Daemons {
		target, moves := d.Targets[m.Name.Type]
		change := [2]int{m.Runs.Major, target.Version.Major}
		switch {
		case !moves || m.Runs.IsZero() || m.Runs.Same(target.Version) || m.Runs.Major == target.Version.Major:
		case !asked[change] && s.third(d, m, target):
			return false
		case m.Runs.Same(d.From) || m.Runs.Same(d.To): // another target of this spec
		default:
			others = append(others, fmt.Sprintf("%s (%s)", m.Name, m.Runs))
		}
		asked[change] = true
	}
	if len(others) == 0 {
		return true
	}
	return d.end(Held, Retargeted, "%s run neither %s nor %s: finish the change that has begun before another release is asked for", cut(others), d.From, d.To)
}

// third reports whether a daemon changes to a release that is neither its own nor that of a daemon that stays on another one, and ends the
// decision then.
func (s *Situation) third(d *Decision, mover Daemon, target Image) bool {
	var staying []string
	newest, oldest := mover.Runs, mover.Runs
	for _, m := range s.Daemons {
		at, moves := d.Targets[m.Name.Type]
		stays := !m.Runs.IsZero() && (!moves || m.Runs.Same(at.Version))
		if target.Version.IsZero() || !stays || m.Runs.Major == mover.Runs.Major || m.Runs.Major == target.Version.Major {
			continue
		}
		staying = append(staying, fmt.Sprintf("%s (%s)", m.Name, m.Runs))
		newest, oldest = later(newest, m.Runs), earlier(oldest, m.Runs)
	}
	if len(staying) == 0 {
		return false
	}
	d.end(Held, Retargeted, "%s runs %s and is to change to %s, while %s stay: finish the change from %s to %s before another release is asked for. To finish it, set spec.cephVersion.image to an image of %s, and remove spec.upgradePolicy",
		mover.Name, mover.Runs, s.Table.Describe(target.Version), cut(staying), s.Table.Describe(oldest), s.Table.Describe(newest), newest)
	return true
}

func later(a, b versions.Version) versions.Version {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

func earlier(a, b versions.Version) versions.Version {
	if a.Compare(b) > 0 {
		return b
	}
	return a
}

// allows reports whether the image to which the change leads has the permission to be of an unsupported release. That of another image in the
// spec does not count.
func (s *Situation) allows(d *Decision) bool {
	for _, m := range s.Daemons {
		if target, moves := d.Targets[m.Name.Type]; moves && target.Version.Same(d.To) && target.AllowUnsupported {
			return true
		}
	}
	return false
}

// gap: the change skips neither more than Ceph allows nor a release that is supported, counted from the oldest daemon. A daemon that stays
// counts, too: it has to work with those that change, and follows them later.
func gap(s *Situation, d *Decision) bool {
	if !d.changes() || d.To.IsZero() {
		return true
	}
	from := d.From
	for _, m := range s.Daemons {
		if !m.Runs.IsZero() {
			from = earlier(from, m.Runs)
		}
	}
	if d.To.Major-from.Major > MaxGap {
		return d.end(Refused, TooFar, "Ceph cannot be changed from %s to %s at once: the most is two releases. Upgrade to an image of a release in between first", s.Table.Describe(from), s.Table.Describe(d.To))
	}
	if skipped, ok := s.Table.Next(from.Major, d.To.Major); !ok && !s.allows(d) {
		return d.end(Refused, SkippedRelease, "the change from %s to %s skips %s: upgrade to it first. To skip it anyway, set allowUnsupported to true", s.Table.Describe(from), s.Table.Describe(d.To), skipped)
	}
	return true
}

// describeRelease is how a release becomes known.
const describeRelease = "add it to a copy of the table ceph-versions.yaml, and give that to the manager with --ceph-versions FILE"

// released: the previous upgrade was finished. If the name of the release that the cluster requires is not known, nothing shows that. It does not
// matter while the daemons on which others depend stay on their release.
func released(s *Situation, d *Decision) bool {
	if !d.changes() || d.To.IsZero() {
		return true
	}
	if !s.Released.Known {
		return d.end(Undecided, ReleasesUnknown, "the releases that the cluster requires have not been read")
	}
	oldest := d.To.Major - MaxGap
	osd, known := s.Table.Named(s.Released.OSD)
	switch {
	case !known && s.crosses(d):
		return d.end(Refused, PreviousUnfinished, "the cluster requires the release %q of OSDs, which is not known: %s", s.Released.OSD, describeRelease)
	case !known && !s.allows(d):
		return d.end(Refused, PreviousUnfinished, "the cluster requires the release %q of OSDs, which is not known: %s. To change to %s anyway, set allowUnsupported to true", s.Released.OSD, describeRelease, d.To)
	case !known:
		d.warnOnce(UnsupportedAccepted, fmt.Sprintf("the cluster requires the release %q of OSDs, which is not known: whether the previous upgrade was finished is not known", s.Released.OSD))
	case osd.Major < oldest:
		return d.end(Refused, PreviousUnfinished, "require_osd_release is %s, which is too old for %s: finish the previous upgrade with ceph osd require-osd-release", s.Released.OSD, s.Table.Describe(d.To))
	}
	if s.Released.Mon < oldest {
		return d.end(Refused, PreviousUnfinished, "min_mon_release is %d, which is too old for %s: finish the previous upgrade of all monitors", s.Released.Mon, s.Table.Describe(d.To))
	}
	return true
}

// crosses reports whether a monitor, a manager or an OSD changes to another release. Gateways and metadata servers follow these, also after the
// release of the OSDs was required.
func (s *Situation) crosses(d *Decision) bool {
	return slices.ContainsFunc(s.Daemons, func(m Daemon) bool {
		target, moves := d.Targets[m.Name.Type]
		return slices.Contains(required[ceph.TypeMDS], m.Name.Type) && moves && !m.Runs.IsZero() && m.Runs.Major != target.Version.Major
	})
}

// unrequired warns if the release of the OSDs is not required of them, because its name is not known, until somebody else has required it.
func unrequired(s *Situation, d *Decision) bool {
	to := d.Targets[ceph.TypeOSD].Version
	_, known := s.Table.Release(to.Major)
	osd, named := s.Table.Named(s.Released.OSD)
	exists := slices.ContainsFunc(s.Daemons, func(m Daemon) bool { return m.Name.Type == ceph.TypeOSD })
	if !to.IsZero() && !known && named && osd.Major < to.Major && exists {
		d.warnOnce(ReleaseNotRequired, fmt.Sprintf("the name of the release of Ceph %s is not known, so that OSDs of older releases stay accepted. Once every OSD runs it, require it with ceph osd require-osd-release <name>, or %s", to, describeRelease))
	}
	return true
}

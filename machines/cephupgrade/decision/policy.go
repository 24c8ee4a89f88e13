package decision

import (
	"maps"
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/transitions"
)

// required are the types that must change before a type. The gateways and the metadata servers do not depend on each other.
var required = map[ceph.Type][]ceph.Type{
	ceph.TypeMon: nil, ceph.TypeMgr: {ceph.TypeMon}, ceph.TypeOSD: {ceph.TypeMon, ceph.TypeMgr},
	ceph.TypeRGW: {ceph.TypeMon, ceph.TypeMgr, ceph.TypeOSD}, ceph.TypeMDS: {ceph.TypeMon, ceph.TypeMgr, ceph.TypeOSD},
}

// components: the list of the policy is closed under the order of an upgrade.
func components(s *Situation, d *Decision) bool {
	if !s.PolicyApplies() {
		return true
	}
	lacks := map[ceph.Type]bool{}
	for _, c := range s.Policy.Components {
		before, known := required[c]
		if !known {
			return d.end(Refused, UnknownComponent, "spec.upgradePolicy.components has %q: the components are mon, mgr, osd, rgw and mds", c)
		}
		for _, t := range before {
			if !slices.Contains(s.Policy.Components, t) {
				lacks[t] = true
			}
		}
	}
	if len(lacks) == 0 {
		return true
	}
	return d.end(Refused, ComponentOrder, "spec.upgradePolicy.components has %s without %s: add what is missing, because it must change first", join(s.Policy.Components), join(slices.Collect(maps.Keys(lacks))))
}

// keeping returns the components of a policy that keeps the types on a version that they run: with those that such a policy has already, and
// with those that must change first, without which it would be refused.
func (s *Situation) keeping(types map[ceph.Type]bool, at versions.Version) string {
	all := slices.Collect(maps.Keys(types))
	if s.PolicyApplies() && s.Policy.Image.Version.Same(at) {
		all = append(all, s.Policy.Components...)
	}
	for _, t := range slices.Clone(all) {
		all = append(all, required[t]...)
	}
	return join(all)
}

// PolicyApplies reports whether there is a policy towards another version than that of the whole cluster.
func (s *Situation) PolicyApplies() bool {
	return s.Policy != nil && (s.Wanted.Name == "" || !s.Policy.Image.SameAs(s.Wanted))
}

// overruled warns of a spec.cephVersion without effect. Nothing is refused: no daemon changes.
func overruled(s *Situation, d *Decision) bool {
	types := make([]ceph.Type, 0, len(s.Daemons))
	for _, m := range s.Daemons {
		types = append(types, m.Name.Type)
	}
	if p := s.Overruled(types); p != nil {
		d.Warnings = append(d.Warnings, *p)
	}
	return true
}

// Overruled returns why spec.cephVersion has no effect on a cluster with daemons of the types: an older policy has all of them, such as one
// that is left from an earlier upgrade. It returns nil if a daemon follows spec.cephVersion. A policy of a newer version is how an upgrade begins.
// Of two builds of one number, or a build without a version, none is known to be older.
func (s *Situation) Overruled(types []ceph.Type) *transitions.Problem {
	follows := func(t ceph.Type) bool { return !slices.Contains(s.Policy.Components, t) }
	if len(types) == 0 || !s.PolicyApplies() || slices.ContainsFunc(types, follows) {
		return nil
	}
	if policy := s.Policy.Image.Version; policy.IsZero() || s.Wanted.Version.IsZero() || policy.Compare(s.Wanted.Version) >= 0 {
		return nil
	}
	return transitions.Problemf(VersionWithoutEffect, "spec.upgradePolicy asks for %s for every daemon, so that spec.cephVersion, of %s, has no effect. To change to %s, remove spec.upgradePolicy",
		s.Table.Describe(s.Policy.Image.Version), s.Table.Describe(s.Wanted.Version), s.Wanted.Version)
}

package decision

import (
	"slices"
	"strings"
)

// builds: daemons take up another build of the version that they run once the spec asks for it by a new name. Which ones do is decided when
// the attempt begins, and recorded: an image that an administrator sets later is kept. So is one of the wanted version that nobody asked for
// in the spec, if the attempt changes the version of other daemons. What the attempt before was to replace was asked for earlier.
func builds(s *Situation, d *Decision) bool {
	d.Builds = s.Builds
	if s.Unnamed && len(s.Named) > 0 {
		d.Builds = nil
		for _, m := range s.Daemons {
			target, moves := d.Targets[m.Name.Type]
			if moves && target.rebuilds(m.Launched) && (!d.changes() || slices.Contains(s.Named, m.Launched.Name) || slices.Contains(s.Builds, m.Launched.Reference)) {
				d.Builds = append(d.Builds, m.Launched.Reference)
			}
		}
		slices.Sort(d.Builds)
		d.Builds = slices.Compact(d.Builds)
	}
	for t, target := range d.Targets {
		target.Builds = d.Builds
		d.Targets[t] = target
	}
	return true
}

// Replaces reports whether the target is another build of the version of an image, and the attempt replaces that image.
func (i Image) Replaces(launched Image) bool {
	return slices.Contains(i.Builds, launched.Reference) && i.rebuilds(launched)
}

// rebuilds reports whether both are images of one version, have other names, and are not known to have the same content. A tag that was moved
// has the same name.
func (i Image) rebuilds(launched Image) bool {
	if i.Name == launched.Name || i.Reference == "" || launched.Reference == "" || i.Version.IsZero() || launched.Version.IsZero() || !i.Version.Same(launched.Version) {
		return false
	}
	_, wanted, known := strings.Cut(i.Reference, "@")
	_, has, given := strings.Cut(launched.Reference, "@")
	return !known || !given || wanted != has
}

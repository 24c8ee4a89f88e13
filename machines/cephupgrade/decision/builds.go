package decision

import (
	"fmt"
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
	if !s.Unnamed && !d.changes() {
		kept(s, d)
	}
	return true
}

// kept warns of daemons that keep another build than the spec names: the name was recorded by an operator that took up no build, the record was
// lost, or an administrator set the image later.
func kept(s *Situation, d *Decision) {
	type pair struct{ has, wanted, by string }
	names, pairs := map[pair][]string{}, []pair(nil)
	for _, m := range s.Daemons {
		target, moves := d.Targets[m.Name.Type]
		if !moves || !target.rebuilds(m.Launched) || target.Replaces(m.Launched) {
			continue
		}
		of := pair{m.Launched.Name, target.Name, target.Reference}
		if of.by == of.wanted {
			of.by = "by its tag"
		}
		if names[of] == nil {
			pairs = append(pairs, of)
		}
		names[of] = append(names[of], m.Name.String())
	}
	for _, of := range pairs {
		d.warnOnce(OtherBuild, fmt.Sprintf("%s run the image %s, and the spec names %s, another build of the version. A build is taken up when the spec begins to name it: to take it up now, name it %s", cut(names[of]), of.has, of.wanted, of.by))
	}
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

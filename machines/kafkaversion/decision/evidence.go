package decision

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// sighting is the evidence about versions in the nodes or in their records.
type sighting struct {
	// newest and oldest are the extremes of the versions of pods and of the versions
	// that disks were last started with; zero without any.
	newest, oldest versions.Version
	// other is a different build of the desired version.
	other versions.Version
	// newestStarted is the newest version that a disk was last started with; zero if
	// none was started.
	newestStarted versions.Version
	// blind is the number of pods without any known version.
	blind int
}

// unreadable is an invalid version. Its message is built only when it is needed.
type unreadable struct {
	reason Reason
	// node is the pod's name; empty for the status.
	node string
	err  error
}

// look collects the evidence, or returns what makes it invalid.
func (s *Situation) look(to versions.Number) (sighting, *unreadable) {
	var seen sighting
	var bad *unreadable
	for i := range s.Nodes {
		if u := seen.addNode(s, to, &s.Nodes[i]); u != nil && (bad == nil || u.node < bad.node) {
			bad = u
		}
	}
	if bad != nil {
		return seen, bad
	}
	if len(s.contradictions(unwritten)) > 0 {
		return seen, &unreadable{reason: ReasonAnnotationContradicted}
	}
	if seen.newest.IsZero() && seen.blind > 0 {
		return seen, &unreadable{reason: ReasonPodsWithoutVersion}
	}
	if !seen.newestStarted.IsZero() || s.RecordedVersion == "" {
		return seen, nil
	}
	recorded, err := s.Table.Find(s.RecordedVersion)
	if err != nil {
		return seen, &unreadable{reason: ReasonStatusMalformed, err: err}
	}
	seen.started(recorded)
	seen.carried(recorded, to)
	return seen, nil
}

// addNode adds the evidence of one node.
func (seen *sighting) addNode(s *Situation, to versions.Number, n *NodeVersions) *unreadable {
	var carried, started versions.Version
	var err error
	if n.HasPod && n.Runs != "" {
		if carried, err = s.Table.Find(n.Runs); err != nil {
			return &unreadable{reason: ReasonAnnotationMalformed, node: n.Name, err: err}
		}
		seen.carried(carried, to)
	}
	switch {
	case n.LastStarted != "" && n.HasPod && n.LastStarted == n.Runs:
		started = carried
	case n.LastStarted != "":
		if started, err = s.Table.Find(n.LastStarted); err != nil {
			return &unreadable{reason: ReasonRecordMalformed, node: n.Name, err: err}
		}
		seen.carried(started, to)
	case n.NeverStarted:
		return nil
	case n.HasPod && n.Runs == "":
		seen.blind++
		return nil
	default:
		started = carried
	}
	seen.started(started)
	return nil
}

// carried updates the extremes.
func (seen *sighting) carried(v versions.Version, to versions.Number) {
	if seen.newest.IsZero() || before(seen.newest, v) {
		seen.newest = v
	}
	if seen.oldest.IsZero() || before(v, seen.oldest) {
		seen.oldest = v
	}
	if v.Number().Compare(to) == 0 && !v.Number().SameBuild(to) && (seen.other.IsZero() || before(v, seen.other)) {
		seen.other = v
	}
}

func (seen *sighting) started(v versions.Version) {
	if !v.IsZero() && (seen.newestStarted.IsZero() || before(seen.newestStarted, v)) {
		seen.newestStarted = v
	}
}

// before orders versions, and builds of one major.minor.patch by text, so that the
// decision does not depend on the order of the nodes.
func before(a, b versions.Version) bool {
	if c := a.Number().Compare(b.Number()); c != 0 {
		return c < 0
	}
	return a.String() < b.String()
}

// from returns the version that decides the direction, and the direction.
func (seen *sighting) from(to versions.Number) (versions.Version, Direction) {
	switch {
	case seen.newest.IsZero():
		return versions.Version{}, DirectionInstall
	case seen.newest.Number().Compare(to) > 0:
		return seen.newest, DirectionDown
	case seen.oldest.Number().Compare(to) < 0:
		return seen.oldest, DirectionUp
	case !seen.other.IsZero():
		return seen.other, DirectionBuild
	default:
		return seen.oldest, DirectionStay
	}
}

// startedAbove reports whether a disk was last started with a newer version than the
// desired one. If none was, no level can be finalized that only a newer version
// supports.
func (seen *sighting) startedAbove(to versions.Number) bool {
	return !seen.newestStarted.IsZero() && seen.newestStarted.Number().Compare(to) > 0
}

// eachStarted calls yield with every version that a disk was last started with,
// until yield returns false. It reports whether yield always returned true.
func (s *Situation) eachStarted(yield func(versions.Version) bool) bool {
	found := false
	for i := range s.Nodes {
		n := &s.Nodes[i]
		text := n.LastStarted
		if text == "" && !n.NeverStarted && n.HasPod {
			text = n.Runs
		}
		if text == "" {
			continue
		}
		found = true
		if v, err := s.Table.Find(text); err != nil || !yield(v) {
			return false
		}
	}
	if !found && s.RecordedVersion != "" {
		v, err := s.Table.Find(s.RecordedVersion)
		return err == nil && yield(v)
	}
	return true
}

package kafkaversion

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// sighting is what the nodes, or the records of them, say about versions.
type sighting struct {
	// newest and oldest are the extremes of what pods carry and disks were last
	// started with, zero when there is neither.
	newest, oldest versions.Version
	// other is a build of the wanted version that is not the wanted one.
	other versions.Version
	// newestStarted is the newest version that a disk was last started with, zero
	// when none ever was.
	newestStarted versions.Version
	// blind is how many pods nothing is known of.
	blind int
}

// unreadable is a version somewhere that is none. It is worded only when needed.
type unreadable struct {
	reason Reason
	// node is the pod's name, "" for the status.
	node string
	err  error
}

// look gathers the evidence, or says what stands in its way.
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

// addNode adds what one node says.
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

// carried widens the extremes.
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

// before orders versions, builds of one major.minor.patch by text, so that the
// decision does not depend on the order of the nodes.
func before(a, b versions.Version) bool {
	if c := a.Number().Compare(b.Number()); c != 0 {
		return c < 0
	}
	return a.String() < b.String()
}

// from gives the version that decides the direction, and the direction.
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

// startedAbove tells whether a disk was last started with a newer version than the
// wanted one. If none was, no level can have been finalized that only a newer
// version runs.
func (seen *sighting) startedAbove(to versions.Number) bool {
	return !seen.newestStarted.IsZero() && seen.newestStarted.Number().Compare(to) > 0
}

// eachStarted calls yield with every version that a disk was last started with,
// until it answers false. It tells whether yield never did.
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

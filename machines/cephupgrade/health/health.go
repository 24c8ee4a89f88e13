// Package health decides whether the health of a Ceph cluster permits to replace the next daemon. Ceph's own status is of no use for
// that: HEALTH_WARN contains both a full disk and what every upgrade causes. The codes are judged, by the table of releases.
package health

import (
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/transitions"
)

// Gate is what the health is judged for.
type Gate struct {
	// Table of the releases. It belongs to the operator and is not part of a journal.
	Table *versions.Table `json:"-"`
	// Major that daemons change to: a code that it brings is no reason to stop.
	Major int
	// Component whose daemons are replaced.
	Component ceph.Type
	// Replacing is true if a daemon of the component was taken away and does not serve yet: what it causes is expected.
	Replacing bool
	// Corrected are the types of daemons that do not serve and are corrected after this one, which does not serve either. Nothing is taken away
	// by that, and what their absence causes is expected. Empty if the daemon serves.
	Corrected []ceph.Type
	// Reduced is true if a filesystem stays reduced while another type is replaced: warnings of its missing metadata servers are expected.
	Reduced bool
	// Before are the codes that were raised before the first daemon was replaced.
	Before []string
	// Ignored are the codes that an admin lets pass in this attempt.
	Ignored []string
}

// Verdict says yes if no code stops the upgrade, and otherwise names those that do.
func (g *Gate) Verdict(h ceph.Health) transitions.Verdict {
	var stops []string
	unclassified := false
	for _, check := range h.Checks {
		class := g.Table.Classify(check.Code, g.Major, string(g.Component))
		if g.passes(check, class) {
			continue
		}
		stops = append(stops, check.Code)
		unclassified = unclassified || class == versions.Unclassified
	}
	if len(stops) == 0 {
		return transitions.Allow()
	}
	observed := "health codes " + strings.Join(stops[:min(len(stops), 3)], ", ")
	if len(stops) > 3 {
		observed += " and others"
	}
	if unclassified {
		observed += "; to let a code pass in this upgrade, annotate detent.dev/ignore-health: CODE=<attempt id>"
	}
	return transitions.Verdict{Answer: transitions.No, Expected: "no health code that stops an upgrade", Observed: observed}
}

// passes reports whether a code is no reason to wait. A muted code was accepted by an admin.
func (g *Gate) passes(check ceph.Check, class versions.Class) bool {
	if check.Muted || slices.Contains(g.Ignored, check.Code) {
		return true
	}
	if class == versions.Caused {
		return g.Replacing
	}
	absent := func(t ceph.Type) versions.Class { return g.Table.Classify(check.Code, g.Major, string(t)) }
	if slices.ContainsFunc(g.Corrected, func(t ceph.Type) bool { return absent(t) == versions.Caused }) {
		return true
	}
	if check.Severity == ceph.HealthErr {
		return false
	}
	if slices.ContainsFunc(g.Corrected, func(t ceph.Type) bool { return absent(t) == versions.Lasting }) {
		return true
	}
	if g.Reduced && g.Table.Classify(check.Code, g.Major, string(ceph.TypeMDS)) == versions.Lasting {
		return true
	}
	switch class {
	case versions.Noise, versions.Lasting:
		return true
	case versions.Unclassified:
		return slices.Contains(g.Before, check.Code)
	default:
		return false
	}
}

// Codes returns the codes that are raised, for the record of an attempt.
func Codes(h ceph.Health) []string {
	codes := make([]string, 0, len(h.Checks))
	for _, c := range h.Checks {
		codes = append(codes, c.Code)
	}
	return codes
}

// Ignored returns the codes that the annotation detent.dev/ignore-health lets pass in an attempt: a list of CODE=<attempt id>,
// separated by commas. An entry for another attempt has no effect.
func Ignored(annotation, attempt string) (codes []string) {
	for entry := range strings.SplitSeq(annotation, ",") {
		code, id, found := strings.Cut(strings.TrimSpace(entry), "=")
		if found && attempt != "" && id == attempt {
			codes = append(codes, code)
		}
	}
	return codes
}

// Unbound returns the entries of the annotation that have no effect in any attempt: they have no code or no attempt id.
func Unbound(annotation string) (entries []string) {
	for entry := range strings.SplitSeq(annotation, ",") {
		entry = strings.TrimSpace(entry)
		if code, id, _ := strings.Cut(entry, "="); entry != "" && (code == "" || id == "") {
			entries = append(entries, entry)
		}
	}
	return entries
}

package ceph

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// PGs are the states of the placement groups. They are up to five seconds old, and those of a manager that just started are unknown.
type PGs struct {
	Total int
	// States counts placement groups by state, such as active+clean.
	States map[string]int
}

// UnknownPGs returns placement groups whose states are unknown: they are not clean.
func UnknownPGs() PGs { return PGs{Total: -1} }

// PGs returns the states of the placement groups.
func (c Client) PGs(ctx context.Context) (PGs, error) {
	return question[pgAnswer](ctx, c, "reading the placement groups", "pg", "stat")
}

type pgAnswer struct {
	// Ready is absent in old releases.
	Ready   *bool `json:"pg_ready"`
	Summary *struct {
		Total  *int `json:"num_pgs"`
		States []struct {
			Name  string `json:"name"`
			Count int    `json:"num"`
		} `json:"num_pg_by_state"`
	} `json:"pg_summary"`
}

func (a pgAnswer) read() (PGs, error) {
	switch {
	case a.Summary == nil || a.Summary.Total == nil:
		return PGs{}, missing("pg_summary")
	case a.Ready != nil && !*a.Ready:
		return PGs{}, fmt.Errorf("the manager has no statistics yet")
	}
	p := PGs{Total: *a.Summary.Total, States: map[string]int{}}
	for _, s := range a.Summary.States {
		if s.Name == "" || s.Count < 0 {
			return PGs{}, missing("name of a state")
		}
		p.States[s.Name] += s.Count
	}
	return p, nil
}

// clean are the states in which a placement group has all its replicas and serves. One that is remapped has them on other OSDs than CRUSH
// chooses, and stays so while CRUSH finds too few. One that is to be merged (premerge) is not active.
var clean = regexp.MustCompile(`^active\+clean(\+(remapped|scrubbing|deep|laggy|snaptrim|snaptrim_wait|repair))*$`)

// Unclean returns the states of placement groups that are not clean, sorted, and reports whether all of them are accounted for. A
// placement group that is scrubbed, trimmed, slow or remapped is clean.
func (p PGs) Unclean() (states []string, complete bool) {
	counted := 0
	for _, name := range slices.Sorted(maps.Keys(p.States)) {
		counted += p.States[name]
		if p.States[name] > 0 && !clean.MatchString(name) {
			states = append(states, name)
		}
	}
	return states, counted == p.Total
}

// Clean reports whether every placement group is clean, and otherwise what was found, without numbers.
func (p PGs) Clean() (bool, string) {
	switch states, complete := p.Unclean(); {
	case len(states) > 0:
		return false, "placement groups are " + strings.Join(states[:min(len(states), 3)], ", ")
	case !complete:
		return false, "the states of some placement groups are unknown"
	default:
		return true, ""
	}
}

package machine

import "slices"

// Changes returns the lines that differ between two pictures: with a plus for a new line, with a minus
// for a missing one. Equal lines are counted.
func Changes(before, after []string) []string {
	var changes []string
	came := slices.Clone(after)
	for _, line := range before {
		if i := slices.Index(came, line); i >= 0 {
			came = slices.Delete(came, i, i+1)
		} else {
			changes = append(changes, "- "+line)
		}
	}
	for _, line := range came {
		changes = append(changes, "+ "+line)
	}
	return changes
}

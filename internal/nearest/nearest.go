// Package nearest finds the name that a user probably meant.
package nearest

import "strings"

// Of returns the name that differs from a misspelt one by the fewest letters, without regard to case. It returns none if every name differs by
// more than a third of its letters.
func Of(misspelt string, names []string) (found string) {
	least := 0
	for _, name := range names {
		if d := distance(strings.ToLower(misspelt), strings.ToLower(name)); d <= max(2, len(name)/3) && (found == "" || d < least) {
			found, least = name, d
		}
	}
	return found
}

// distance is the number of letters that are inserted, removed or replaced from one text to the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

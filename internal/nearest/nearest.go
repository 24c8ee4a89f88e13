// Package nearest finds the name that a user probably meant.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Of returns the name that differs from a misspelt one by the fewest letters, without regard to case. It returns none if every name differs by
// more than a third of its letters.
func Of(misspelt string, names []string) (found string) {
	least := 0
	for _, name := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(misspelt), strings.ToLower(name)); d <= max(2, len(name)/3) && (found == "" || d < least) {
			found, least = name, d
		}
	}
	return found
}

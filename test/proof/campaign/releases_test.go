package campaign_test

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// levels of the releases between which clusters move. The releases are made up, each one level above the one before, so that a
// cluster that was made once is upgraded many times, and always alike.
func levels() []string {
	return []string{"3.8-IV0", "3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0"}
}

// release of a level, counted from 0.
func release(n int) string { return fmt.Sprintf("4.0.%d", n) }

// releases are the table that operators and processes know.
func releases() (*versions.Table, error) {
	var b strings.Builder
	for n, level := range levels() {
		fmt.Fprintf(&b, "- {version: %s, supported: true, default: %t, metadata: %s}\n", release(n), n == 0, level)
	}
	return versions.Parse([]byte(b.String()), "the releases of the campaign")
}

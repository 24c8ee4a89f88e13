package campaign_test

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// levels of the releases between which clusters change. The releases are invented, each one level above the previous one, so
// that a cluster is upgraded many times in the same way.
func levels() []string {
	return []string{"3.8-IV0", "3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0"}
}

// release of a level, counted from 0.
func release(n int) string { return fmt.Sprintf("4.0.%d", n) }

// cordoning is the first release whose level permits to cordon brokers. No cluster is upgraded to it.
const cordoning = "4.3.0"

// releases is the table of versions of operators and processes.
func releases() (*versions.Table, error) {
	var b strings.Builder
	for n, level := range levels() {
		fmt.Fprintf(&b, "- {version: %s, supported: true, default: %t, metadata: %s}\n", release(n), n == 0, level)
	}
	fmt.Fprintf(&b, "- {version: %s, supported: true, metadata: 4.3-IV0}\n", cordoning)
	return versions.Parse([]byte(b.String()), "the releases of the campaign")
}

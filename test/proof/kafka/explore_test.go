package kafka

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// TestWhateverHappens explores the version change and the roll of nodes: a sample, unless DETENT_PROOF_STATES asks for more.
func TestWhateverHappens(t *testing.T) {
	fired := map[string]bool{}
	var never []string
	for name, of := range map[string]func() (Subject, error){"changing": Changing, "lowering": Lowering, "snapshots": Snapshots, "finalizing": Finalizing} {
		t.Run(name, func(t *testing.T) {
			subject, err := of()
			if err != nil {
				t.Fatal(err)
			}
			report := explore.Run(t, subject, bounds(t))
			if err := report.Table(os.Stdout); err != nil {
				t.Error(err)
			}
			for _, edge := range report.Fired() {
				fired[edge] = true
			}
			never = append(never, report.Unfired...)
		})
	}
	slices.Sort(never)
	never = slices.DeleteFunc(slices.Compact(never), func(edge string) bool { return fired[edge] })
	fmt.Printf("edges of Kafka's machines: %d fired, %d never\n", len(fired), len(never))
	for _, edge := range never {
		t.Logf("never fired: %s", edge)
	}
}

// bounds of a search, as `make proof` sets them.
func bounds(t *testing.T) explore.Options {
	t.Helper()
	o := explore.Options{States: 25_000, Draw: 300, Time: 15 * time.Second}
	text := os.Getenv("DETENT_PROOF_STATES")
	if text == "" {
		return o
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("reading DETENT_PROOF_STATES: %v", err)
	}
	const perState, share = 5 * time.Millisecond, 100 // slow machines and the race detector included
	return explore.Options{States: n, Draw: n / share, Time: time.Duration(n) * perState}
}

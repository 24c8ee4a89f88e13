package ceph

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// share: `make proof` searches one of so many states, because the operator's code costs more than a model of it.
const share = 40

// TestExplore explores upgrades of Ceph clusters by the operator's code: a sample, unless DETENT_PROOF_STATES is set.
func TestExplore(t *testing.T) {
	_, _ = os.Stdout.WriteString(explore.FiguresHeader)
	var reports []*explore.Report
	scenes := Scenes()
	for i := range scenes {
		t.Run(scenes[i].Name, func(t *testing.T) {
			subject, err := scenes[i].Subject(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, explore.Run(t, subject, bounds(t, &scenes[i])))
		})
	}
	if len(reports) == len(scenes) { // all scenes ran, not only those selected by -run
		printUntaken(reports)
	}
}

// printUntaken prints the edges of the machine that no scene has taken.
func printUntaken(reports []*explore.Report) {
	for _, e := range reports[0].Unfired {
		name, ours := strings.CutPrefix(e, cephupgrade.Name+": ")
		if !ours || slices.ContainsFunc(reports, func(r *explore.Report) bool { return !slices.Contains(r.Unfired, e) }) {
			continue
		}
		_, _ = fmt.Fprintln(os.Stdout, "not taken:", name)
	}
}

const statesVariable = "DETENT_PROOF_STATES"

// bounds returns the limits of a search. The sample follows few states to their end.
func bounds(t *testing.T, s *Scene) explore.Options {
	t.Helper()
	o := explore.Options{States: s.sample, Straight: true, Shuffle: true, Time: 20 * time.Minute, Follow: 4}
	text := os.Getenv(statesVariable)
	if text == "" {
		return o
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("reading %s: %v", statesVariable, err)
	}
	o.States, o.Follow = max(s.sample, n/share), 0
	return o
}

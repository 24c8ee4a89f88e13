package ceph

import (
	"os"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/test/proof/search"
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
		search.PrintUntaken(cephupgrade.Name, reports)
	}
}

// bounds returns the limits of a search. The sample follows few states to their end.
func bounds(t *testing.T, s *Scene) explore.Options {
	t.Helper()
	o := explore.Options{States: s.sample, Straight: true, Shuffle: true, Time: 20 * time.Minute, Follow: 4}
	if n, requested := search.States(t); requested {
		o.States, o.Follow = max(s.sample, n/share), 0
	}
	return o
}

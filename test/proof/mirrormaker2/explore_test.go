package mirrormaker2

import (
	"os"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/test/proof/search"
)

// sample is the number of states of each scene that the ordinary tests search. `make proof` searches one of share.
const sample, share = 100, 40

// TestExplore explores requests for offsets by the operator's code: a sample, unless DETENT_PROOF_STATES is set.
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
			reports = append(reports, explore.Run(t, subject, bounds(t)))
		})
	}
	if len(reports) == len(scenes) { // all scenes ran, not only those selected by -run
		search.PrintUntaken(connectoroffsets.Name, reports)
	}
}

// bounds returns the limits of a search.
func bounds(t *testing.T) explore.Options {
	t.Helper()
	o := explore.Options{States: sample, Straight: true, Shuffle: true, Follow: 10, Time: 20 * time.Minute}
	if n, requested := search.States(t); requested {
		o.States = max(sample, n/share)
	}
	return o
}

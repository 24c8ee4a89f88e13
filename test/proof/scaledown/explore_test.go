package scaledown

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/test/proof/search"
)

// sample is the number of states of each scene that the ordinary tests search. `make proof` searches one of share, because the
// operator's code costs more than a model of it.
const sample, share = 130, 40

// TestExplore explores the removal of brokers by the operator's code: a sample, unless DETENT_PROOF_STATES is set.
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
	if len(reports) == len(scenes) && os.Getenv(repeatVariable) == "" { // all scenes ran, not only those selected by -run
		judgeUntaken(t, reports)
	}
}

// judgeUntaken prints the edges of the machine that no scene has taken. In a large search each must be excused, and each excuse must
// concern an edge.
func judgeUntaken(t *testing.T, reports []*explore.Report) {
	t.Helper()
	machine, err := machines.Compile(kraftscaledown.Definition())
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, e := range machine.Graph().Edges {
		declared = append(declared, fmt.Sprintf("%s from %s to %s", e.Event, cmp.Or(e.From, "anywhere"), e.To))
	}
	for name := range untaken {
		if !slices.Contains(declared, name) {
			t.Errorf("the edge %s is excused, and is not declared", name)
		}
	}
	for _, name := range search.Untaken(kraftscaledown.Name, reports) {
		if untaken[name] == "" && bounds(t).States >= searched {
			t.Errorf("the edge %s was not taken in any scene, and is not excused", name)
		}
		_, _ = fmt.Fprintf(os.Stdout, "not taken: %s: %s\n", name, untaken[name])
	}
}

const repeatVariable = "DETENT_PROOF_REPEAT"

// bounds returns the limits of a search.
func bounds(t *testing.T) explore.Options {
	t.Helper()
	o := explore.Options{States: sample, Straight: true, Shuffle: true, Time: 20 * time.Minute}
	if n, requested := search.States(t); requested {
		o.States = max(sample, n/share)
	}
	return o
}

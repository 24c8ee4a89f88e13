package kafka

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/test/proof/search"
)

// never are the declared edges that cannot be taken here, each with the reason.
var never = map[string]string{
	"kafka-node-storage: target-changed from StorageLost to Intact":                        "the target of the lifecycle is constant",
	"kafka-node-storage: replacement-requested from Intact to AwaitingReplacement":         noReplacement,
	"kafka-node-storage: replacement-requested from StorageLost to AwaitingReplacement":    noReplacement,
	"kafka-node-storage: replacement-withdrawn from AwaitingReplacement to Intact":         noReplacement,
	"kafka-node-storage: node-selected from AwaitingReplacement to ReplacingStorage":       noReplacement,
	"kafka-node-storage: precondition-failed from ReplacingStorage to AwaitingReplacement": noReplacement,
	"kafka-node-storage: storage-cleared from ReplacingStorage to Formatting":              noReplacement,
	"kafka-node-storage: storage-lost from AwaitingReplacement to StorageLost":             noReplacement,
	"kafka-node-storage: storage-lost from ReplacingStorage to StorageLost":                noReplacement,
}

const noReplacement = "no user requests a replacement of storage here"

// One of each of the searched states is compared with the code of the operator: so many in a sample, and so many otherwise.
const (
	eachOfSample = 30
	each         = 10
	// compared is how many are at least compared if `make proof` searches.
	compared, ofMany = 100_000, 1_000_000
)

// TestExplore explores the version change and the roll of nodes: a sample, unless DETENT_PROOF_STATES is set.
func TestExplore(t *testing.T) {
	_, _ = os.Stdout.WriteString(explore.FiguresHeader)
	var reports []*explore.Report
	all := 0
	run := func(subject Subject, err error, options explore.Options) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all++
		t.Run(subject.Name, func(t *testing.T) {
			report := explore.Run(t, subject, options)
			if err := report.Table(os.Stdout); err != nil {
				t.Error(err)
			}
			reports = append(reports, report)
		})
	}
	for _, of := range Subjects() {
		subject, err := of()
		run(subject, err, bounds(t))
	}
	for _, scene := range Scenes() {
		subject, err := scene.Subject()
		run(subject, err, explore.Options{States: 2000, Time: 20 * time.Minute, Straight: true, InspectEach: eachOfSample})
	}
	if len(reports) == all { // all subjects ran, not only those selected by -run
		explore.Together(t, os.Stdout, never, reports...)
		judgeCompared(t, reports)
	}
}

// judgeCompared prints how many states were compared with the code of the operator.
func judgeCompared(t *testing.T, reports []*explore.Report) {
	t.Helper()
	searched, inspected := 0, 0
	for _, r := range reports {
		searched, inspected = searched+r.Expanded, inspected+r.Inspected
	}
	_, _ = fmt.Fprintf(os.Stdout, "compared with controllers/kafka: %d of %d distinct states\n", inspected, searched)
	if searched >= ofMany && inspected < compared || inspected == 0 {
		t.Errorf("only %d of %d states were compared with controllers/kafka", inspected, searched)
	}
}

// bounds returns the limits of a search, as `make proof` sets them.
func bounds(t *testing.T) explore.Options {
	t.Helper()
	o := explore.Options{States: 1500, Straight: true, Time: 20 * time.Minute, InspectEach: eachOfSample}
	n, requested := search.States(t)
	if !requested {
		return o
	}
	const perState, share = 5 * time.Millisecond, 100 // for slow machines and the race detector
	return explore.Options{States: n, Draw: n / share, Time: time.Duration(n) * perState, InspectEach: each}
}

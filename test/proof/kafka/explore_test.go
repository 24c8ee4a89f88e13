package kafka

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// never are the declared edges that cannot be taken here, each with the reason.
var never = map[string]string{}

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
		run(subject, err, explore.Options{States: 1200, Time: 20 * time.Minute, Straight: true})
	}
	if len(reports) == all { // all subjects ran, not only those selected by -run
		explore.Together(t, os.Stdout, never, reports...)
	}
}

// bounds returns the limits of a search, as `make proof` sets them.
func bounds(t *testing.T) explore.Options {
	t.Helper()
	o := explore.Options{States: 1500, Straight: true, Time: 20 * time.Minute}
	text := os.Getenv("DETENT_PROOF_STATES")
	if text == "" {
		return o
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("reading DETENT_PROOF_STATES: %v", err)
	}
	const perState, share = 5 * time.Millisecond, 100 // for slow machines and the race detector
	return explore.Options{States: n, Draw: n / share, Time: time.Duration(n) * perState}
}

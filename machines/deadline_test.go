package machines

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/transitions"
)

// A deadline may be removed by an edit of the status. A lifecycle without one would never be Stalled.
func TestProjectRestoresAMissingDeadline(t *testing.T) {
	unread := with(done(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) })
	unknownAtRest := func(d *toyDefinition) {
		d.Transitions[versionChanged].When = transitions.Not(inSync, "nodes out of sync")
	}
	ago := func(d time.Duration) *metav1.Time { at := metav1.NewTime(now.Add(-d)); return &at }
	for name, tc := range map[string]struct {
		change  func(*toyDefinition)
		state   string
		data    map[string]string
		entered time.Duration // before now
		unknown *metav1.Time
		facts   toyFacts
		want    *metav1.Time
	}{
		"of the time of entry":                       {state: "Restarting", data: map[string]string{"node": "b"}, entered: 3 * time.Minute, facts: half(), want: ago(-7 * time.Minute)},
		"passed already":                             {state: "Restarting", data: map[string]string{"node": "b"}, entered: time.Hour, facts: half(), want: ago(50 * time.Minute)},
		"of now, if it was entered in the future":    {state: "Restarting", data: map[string]string{"node": "b"}, entered: -time.Hour, facts: half(), want: ago(-10 * time.Minute)},
		"none at rest":                               {state: "Settled", entered: time.Hour, facts: done()},
		"of unknown guards at rest":                  {change: unknownAtRest, state: "Settled", entered: time.Hour, unknown: ago(3 * time.Minute), facts: unread, want: ago(-7 * time.Minute)},
		"of guards that are unknown from the future": {change: unknownAtRest, state: "Settled", entered: time.Hour, unknown: ago(-time.Hour), facts: unread, want: ago(-10 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustCompile(t, changed(tc.change))
			entry := at(tc.state, tc.data)
			entry.EnteredAt, entry.UnknownSince = *ago(tc.entered), tc.unknown
			entry.Progress = &lifecyclev1.Progress{Done: 1, Total: 2, Unit: "node"} // as the facts say
			got := evaluate(m, entry, tc.facts, bind(m).NeedsIn(tc.state)...).Project()
			if diff := cmp.Diff(tc.want, got.Deadline); diff != "" {
				t.Errorf("deadline (-want +got):\n%s", diff)
			}
		})
	}
}

// A time of the status that was edited must not lead to one that the API server rejects.
func TestDeadlinesCanBeStored(t *testing.T) {
	last := time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		entered time.Time
		scale   float64
		want    time.Time
	}{
		"entered now":                         {entered: now, want: now.Add(48 * time.Hour)},
		"entered at the end of time":          {entered: last.Add(23 * time.Hour), want: last},
		"stretched beyond the end of time":    {entered: last.Add(-48 * time.Hour), scale: 1e6, want: last},
		"stretched beyond the longest period": {entered: now, scale: 1e15, want: now.Add(maxStretched).Truncate(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			def := toy()
			def.States[soaking].DeadlineAt = func(_ *toyFacts, _ toyData, entered time.Time) time.Time { return entered.Add(48 * time.Hour) }
			entry := at("Soaking", nil)
			entry.EnteredAt = metav1.NewTime(tc.entered)
			m := mustCompile(t, def)
			got := bind(m).Evaluate(EvaluationInput[struct{}, toyFacts]{
				Snapshot: done(), UID: toyUID, Entry: entry, DeadlineScale: tc.scale, Options: ObserveOptions{Needs: bind(m).NeedsIn("Soaking"), Now: now},
			}).Project()
			want := metav1.NewTime(tc.want)
			if diff := cmp.Diff(&want, got.Deadline); diff != "" {
				t.Errorf("deadline (-want +got):\n%s", diff)
			}
		})
	}
}

package verification_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/verification"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

var update = flag.Bool("update", false, "write the goldens")

func hold(name string) state {
	return state{State: states.State{Name: name, Kind: states.Hold, HoldReason: states.Planned, Doc: "waits for a person"}, OnTargetChange: "Parked"}
}

func wait(name string) state {
	return state{State: states.State{Name: name, Kind: states.Wait, Doc: "waits", Deadline: time.Minute, Poll: time.Second}, Invariant: transitions.AlwaysBecause[facts, data]("its transitions suffice"), OnTargetChange: "Checking"}
}

// TestMachineFindsEveryDefect adds one defect at a time to a machine without defects.
func TestMachineFindsEveryDefect(t *testing.T) {
	cases := map[string]struct {
		breaks func(*definition)
		// narrow changes the domain. unjudged leaves it out, for defects that the graph alone shows.
		narrow   func(*space)
		unjudged bool
		want     verification.Check
		where    string
		what     string
	}{
		"two waits that lead to one another alone": {
			breaks: func(d *definition) {
				d.States = append(d.States, wait("Left"), wait("Right"))
				d.Transitions = append(d.Transitions,
					row{Event: "lost", From: "Checking", To: "Left", When: transitions.All(same, frozen), Doc: "lost"},
					row{Event: "right", From: "Left", To: "Right", When: frozen, Awaited: true, Doc: "right"},
					row{Event: "left", From: "Right", To: "Left", When: not(frozen), Awaited: true, Doc: "left"})
			},
			unjudged: true, want: verification.DeadEnd, where: "state Left", what: "no declared transitions lead from here to a Rest",
		},
		"a refusal that is lifted at once, by the graph": {
			breaks:   func(d *definition) { d.Transitions[allowedRow].When = always },
			unjudged: true, want: verification.Livelock, where: "Checking -forbidden-> Refused -allowed-> Checking", what: "restarts in Refused",
		},
		"a refusal that is lifted at once, by the facts": {
			breaks: func(d *definition) { d.Transitions[allowedRow].When = always },
			want:   verification.Livelock, where: "Checking -forbidden-> Refused -allowed-> Checking", what: "on unchanged facts",
		},
		"an action that is sent back by its precondition to where it came from": {
			breaks: func(d *definition) {
				d.Transitions[begin].When = not(same)
				d.Transitions[forbidden].When, d.Transitions[forbidden].Outranks = transitions.All(not(same), frozen), true
				d.States[freezing].Action.OnPreconditionFailed = "Checking"
			},
			unjudged: true, want: verification.Livelock, where: "Checking -begin-> Freezing -precondition-failed-> Checking", what: "after 64 transitions",
		},
		"a wait that is always true": {
			breaks: func(d *definition) { d.States[checking].Invariant = always },
			want:   verification.Declaration, where: "state Checking", what: "does not end when what it waits for vanishes",
		},
		"two exits that say yes together": {
			breaks: func(d *definition) { d.Transitions[begin].When = not(same) },
			want:   verification.Overlap, where: "state Checking: forbidden and begin", what: "one leads to a Hold (Refused), the other to a Work (Freezing)",
		},
		"a hold that does not say what for": {
			breaks: func(d *definition) { d.Transitions[allowedRow].Awaited = false },
			want:   verification.Gap, where: "state Refused", what: "another wanted, forbidden",
		},
		"an action with nothing to do, and no exit": {
			breaks: func(d *definition) {
				d.Transitions[done].Awaited = false
				d.States[changing].Action.Effects = func(*facts, data) []effect { return nil }
			},
			want: verification.Gap, where: "state Changing", what: "it stays without showing why",
		},
		"a guard that panics": {
			breaks: func(d *definition) {
				broken := same
				broken.Name, broken.Evaluate = "broken", func(*facts, data) transitions.Verdict { panic("nothing there") }
				d.Transitions[done].When = broken
			},
			want: verification.Gap, where: "state Changing", what: "nothing there",
		},
		"a hold that ignores a changed spec": {
			breaks: func(d *definition) { d.States[refused].OnTargetChange = "-" },
			want:   verification.Target, where: "state Refused", what: "does not evaluate the target that the user changes",
		},
		"a changed target that leads to where nothing is decided": {
			breaks: func(d *definition) {
				d.States = append(d.States, hold("Parked"), hold("Waiting"))
				d.States[freezing].OnTargetChange = "Parked"
				for i := range d.States {
					if d.States[i].Kind == states.Hold {
						d.States[i].Retains = []string{"freeze"}
					}
				}
				d.Transitions = append(d.Transitions,
					row{Event: "park", From: "Checking", To: "Parked", When: transitions.All(same, frozen), Doc: "parks"},
					row{Event: "wait", From: "Parked", To: "Waiting", When: allowed, Awaited: true, Doc: "waits"},
					row{Event: "park", From: "Waiting", To: "Parked", When: not(allowed), Awaited: true, Doc: "parks"})
			},
			unjudged: true, want: verification.Target, where: "state Freezing", what: "leads to Parked, and no state after that decides",
		},
		"a rest that is entered frozen": {
			breaks: func(d *definition) { d.Transitions[done].To = "Settled" },
			want:   verification.Release, where: "freeze in Settled", what: "Freezing, frozen -> Changing, done -> Settled",
		},
		"a refusal that is entered frozen": {
			breaks: func(d *definition) { d.Transitions[forbidden].Releases = nil },
			want:   verification.Release, where: "freeze in Refused", what: "forbidden -> Refused",
		},
		"sent back to rest": {
			breaks: func(d *definition) { d.States[freezing].Action.OnPreconditionFailed = "Settled" },
			want:   verification.Release, where: "freeze in Settled", what: "Freezing, precondition-failed -> Settled",
		},
		"a changed target that leads to rest": {
			breaks: func(d *definition) { d.States[changing].OnTargetChange = "Settled" },
			want:   verification.Release, where: "freeze in Settled", what: "target-changed -> Settled",
		},
		"an Infer that does not look whether it is frozen": {
			breaks: func(d *definition) { d.Infer.Sees = nil },
			want:   verification.Release, where: "freeze in Settled", what: "because Find does not observe it",
		},
		"a release that its guard does not see": {
			breaks: func(d *definition) { d.Transitions[settledRow].When = same },
			want:   verification.Release, where: "transition settled from Checking", what: "it says yes although freeze is held: as wanted, frozen",
		},
		"a domain that leaves something out": {
			breaks: func(*definition) {},
			narrow: func(d *space) { d.Dimensions[1].Values = d.Dimensions[1].Values[:1] },
			want:   verification.Coverage, where: "transition still-frozen from Checking", what: "it says yes in no facts",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			def := toy()
			tc.breaks(&def)
			var domains []space
			if !tc.unjudged {
				domains = append(domains, toyDomain())
				if tc.narrow != nil {
					tc.narrow(&domains[0])
				}
			}
			report := verification.Machine(compiled(t, def), domains...)
			found := false
			for _, r := range report.Results {
				for _, f := range r.Findings {
					if r.Check != tc.want && !(name == "a guard that panics" && r.Check == verification.Coverage) {
						t.Errorf("found by %s, which is not about it: %s", r.Check, f)
					}
					found = found || r.Check == tc.want && f.Where == tc.where && strings.Contains(f.What, tc.what) && f.Remedy != ""
				}
			}
			if !found {
				t.Errorf("%s did not find %q in %s:\n%s", tc.want, tc.what, tc.where, report.Text(true))
			}
		})
	}
}

func TestReportText(t *testing.T) {
	broken := toy()
	broken.Transitions[done].To, broken.Transitions[allowedRow].When = "Settled", always
	cases := map[string]string{
		"sound":   func() string { r := verification.Machine(compiled(t, toy()), toyDomain()); return r.Text(true) }(),
		"by-name": func() string { r := verification.Machine(compiled(t, toy())); return r.String() }(),
		"broken":  func() string { r := verification.Machine(compiled(t, broken), toyDomain()); return r.String() }(),
	}
	for name, got := range cases {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

package machines

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// The toy restarts nodes one by one until all run the target version, soaks, and then raises a level, which cannot be undone.

type toyFacts struct {
	Wanted  string
	Nodes   map[string]string // name -> version
	Allowed bool
	Soak    time.Time
	Sync    transitions.Fact[bool] // need sync
	Level   transitions.Fact[int]  // need level
}

type toyData struct{ Node string }

type toyEffect string

type (
	toyDefinition = Definition[toyFacts, toyData, toyEffect]
	toyMachine    = Machine[toyFacts, toyData, toyEffect]
	toyState      = State[toyFacts, toyData, toyEffect]
	toyRow        = Transition[toyFacts, toyData]
	toyGuard      = transitions.Guard[toyFacts, toyData]
)

var (
	onTargetChange = toyGuard{
		Name: "on-target", Doc: "every node runs the wanted version", Expected: "every node on the wanted version",
		Evaluate: func(f *toyFacts, _ toyData) transitions.Verdict {
			return transitions.If(f.done() == len(f.Nodes), fmt.Sprintf("%d of %d", f.done(), len(f.Nodes)))
		},
	}
	pathAllowed = toyGuard{
		Name: "path-allowed", Doc: "the change is permitted", Expected: "a permitted change",
		Evaluate: func(f *toyFacts, _ toyData) transitions.Verdict { return transitions.If(f.Allowed, "forbidden") },
	}
	inSync = toyGuard{
		Name: "in-sync", Doc: "all nodes are in sync", Expected: "all nodes in sync", Needs: []transitions.Need{"sync"},
		Evaluate: func(f *toyFacts, _ toyData) transitions.Verdict {
			sync, known := f.Sync.Get()
			if !known {
				return f.Sync.Gap()
			}
			return transitions.If(sync, "out of sync")
		},
	}
	isSelected = toyGuard{
		Name: "node-selected", Doc: "the data names a node", Expected: "a selected node",
		Evaluate: func(f *toyFacts, m toyData) transitions.Verdict {
			_, there := f.Nodes[m.Node]
			return transitions.If(there, "no node "+m.Node)
		},
	}
	restarted = toyGuard{
		Name: "restarted", Doc: "the selected node runs the wanted version", Expected: "the selected node on the wanted version",
		Evaluate: func(f *toyFacts, m toyData) transitions.Verdict {
			return transitions.If(f.Nodes[m.Node] == f.Wanted, "still "+f.Nodes[m.Node])
		},
	}
	raised = toyGuard{
		Name: "raised", Doc: "the level is raised", Expected: "level 2", Needs: []transitions.Need{"level"},
		Evaluate: func(f *toyFacts, _ toyData) transitions.Verdict {
			level, known := f.Level.Get()
			if !known {
				return f.Level.Gap()
			}
			return transitions.If(level == 2, fmt.Sprint("level ", level))
		},
	}
	nextNode = Choice[toyFacts, toyData]{
		Guard: toyGuard{Name: "node-left", Doc: "a node runs another version", Expected: "a node to restart"},
		Pick: func(f *toyFacts, _ toyData) (transitions.Verdict, toyData) {
			for _, name := range sorted(f.Nodes) {
				if f.Nodes[name] != f.Wanted {
					return transitions.Allow(), toyData{Node: name}
				}
			}
			return transitions.Deny("none"), toyData{}
		},
	}
)

func (f *toyFacts) done() int {
	done := 0
	for _, version := range f.Nodes {
		if version == f.Wanted {
			done++
		}
	}
	return done
}

// toy returns a new definition on each call, which a test may change.
func toy() toyDefinition {
	always := transitions.AlwaysBecause[toyFacts, toyData]("the path is judged again in each reconcile")
	return toyDefinition{
		Name: "toy-version", Doc: "brings every node to the wanted version",
		States: []toyState{
			{State: states.State{Name: "Settled", Kind: states.Rest, Doc: "every node runs the wanted version"}},
			{State: states.State{Name: "Checking", Kind: states.Wait, Doc: "is the path allowed?", Deadline: time.Minute, Poll: time.Second}, Invariant: always, OnTargetChange: "Checking"},
			{State: states.State{Name: "Refused", Kind: states.Hold, Doc: "the change is not permitted"}, OnTargetChange: "Checking"},
			{
				State:     states.State{Name: "Restarting", Kind: states.Work, Doc: "the selected node restarts", Deadline: 10 * time.Minute, Poll: time.Second},
				Invariant: isSelected, OnTargetChange: "Checking", Action: &Action[toyFacts, toyData, toyEffect]{
					Name: "restart", Doc: "restarts the selected node", Precondition: transitions.All(pathAllowed, inSync), OnPreconditionFailed: "Checking",
					Effects: func(_ *toyFacts, m toyData) []toyEffect { return []toyEffect{toyEffect("restart " + m.Node)} },
				},
			},
			{
				State:     states.State{Name: "Soaking", Kind: states.Wait, Doc: "the new version proves itself", Deadline: time.Hour, Poll: time.Second},
				Invariant: onTargetChange, OnTargetChange: "Checking", DeadlineAt: func(f *toyFacts, _ toyData, _ time.Time) time.Time { return f.Soak },
			},
			{
				State:     states.State{Name: "Raising", Kind: states.Work, Doc: "the level is raised", Deadline: time.Minute, Poll: time.Second},
				Invariant: always, OnTargetChange: KeepAttempt, Action: &Action[toyFacts, toyData, toyEffect]{
					Name: "raise", Doc: "raises the level", Needs: []transitions.Need{"level"}, ResolvedBy: "level", Precondition: onTargetChange, OnPreconditionFailed: "Checking",
					Effects: func(f *toyFacts, _ toyData) []toyEffect {
						if level, known := f.Level.Get(); known && level == 2 {
							return nil
						}
						return []toyEffect{"raise"}
					},
				},
			},
		},
		Transitions: []toyRow{
			{Event: "version-changed", From: "Settled", To: "Checking", When: transitions.Not(onTargetChange, "another version"), NewAttempt: true, Doc: "another version is wanted"},
			{Event: "path-forbidden", From: "Checking", To: "Refused", When: transitions.Not(pathAllowed, "a forbidden path"), EvenIfUnknown: true, Doc: "the path is forbidden"},
			{Event: "node-selected", From: "Checking", To: "Restarting", Choose: &nextNode, Awaited: true, Doc: "a node is left to restart"},
			{Event: "all-done", From: "Checking", To: "Soaking", When: transitions.All(onTargetChange, inSync), Awaited: true, Doc: "no node is left"},
			{Event: "path-opened", From: "Refused", To: "Checking", When: pathAllowed, Doc: "the path was opened"},
			{Event: "restarted", From: "Restarting", To: "Checking", When: transitions.All(restarted, inSync), Awaited: true, ClearData: true, Doc: "the node is back"},
			{Event: "soaked", From: "Soaking", To: "Raising", When: inSync, Awaited: true, OneWay: true, Doc: "the soak is over"},
			{Event: "raised", From: "Raising", To: "Settled", When: raised, Awaited: true, Doc: "the level is final"},
		},
		Needs: []Need{
			{Name: "sync", Doc: "asks the system which nodes are in sync"},
			{Name: "level", Doc: "asks the system for its level", MaxAge: time.Minute},
		},
		Target: func(f *toyFacts) Target { return Target{From: "?", To: f.Wanted, Unknown: f.Wanted == ""} },
		Infer: Inference[toyFacts, toyData]{
			Needs: []transitions.Need{"level"}, States: []string{"Settled", "Checking"},
			Find: func(f *toyFacts) (InferredState[toyData], transitions.Verdict) {
				level, known := f.Level.Get()
				switch {
				case !known:
					return InferredState[toyData]{}, f.Level.Gap()
				case level == 2 && f.done() == len(f.Nodes):
					return InferredState[toyData]{State: "Settled"}, transitions.Allow()
				default:
					return InferredState[toyData]{State: "Checking"}, transitions.Allow()
				}
			},
		},
		Progress: Measure[toyFacts, toyData]{Unit: "node", Of: func(f *toyFacts, m toyData) Count {
			return Count{Done: f.done(), Total: len(f.Nodes), Current: m.Node}
		}},
		Data: DataCodec[toyData]{
			Encode: func(m toyData) map[string]string {
				if m.Node == "" {
					return nil
				}
				return map[string]string{"node": m.Node}
			},
			Decode: func(coded map[string]string) (toyData, error) {
				if len(coded) > 0 && coded["node"] == "" {
					return toyData{}, errors.New("no node in the data")
				}
				return toyData{Node: coded["node"]}, nil
			},
		},
		Migrations:                    map[string]string{"Verifying": "Checking"},
		Records:                       []Record{{Name: "started", Home: "a ConfigMap per node", Doc: "the version a node was started with"}},
		MaxTransitionsWithoutProgress: 40,
	}
}

func mustCompile(t testing.TB, def toyDefinition) *toyMachine {
	t.Helper()
	m, err := Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var now = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

const toyUID = "0b6a"

// bind binds the toy to a kind whose snapshot is the facts. Facts that were not requested are removed.
func bind(m *toyMachine) Evaluator[struct{}, toyFacts, string] {
	return Bind(m, Binding[struct{}, toyFacts, toyFacts, toyEffect, string]{
		Name: "version",
		Facts: func(_ struct{}, snapshot toyFacts, ask ObserveOptions) toyFacts {
			if !ask.Wants("sync") {
				snapshot.Sync = transitions.Fact[bool]{}
			}
			if !ask.Wants("level") {
				snapshot.Level = transitions.Fact[int]{}
			}
			return snapshot
		},
		Effect: func(e toyEffect) string { return string(e) },
	}).evaluator
}

// evaluate evaluates the entry with the needs of its state and the given ones.
func evaluate(m *toyMachine, entry *lifecyclev1.Lifecycle, f toyFacts, more ...transitions.Need) Evaluation[string] {
	lc := bind(m)
	return lc.Evaluate(EvaluationInput[struct{}, toyFacts]{
		Snapshot: f, UID: toyUID, Entry: entry, Options: ObserveOptions{Needs: union(lc.Needs(entry), more), Now: now},
	})
}

// attemptAt returns an attempt of the toy towards the target that started an hour ago.
func attemptAt(target string) *lifecyclev1.Attempt {
	start := now.Add(-time.Hour)
	return &lifecyclev1.Attempt{ID: AttemptID(toyUID, "version", target, start), From: "?", To: target, StartedAt: metav1.NewTime(start)}
}

// at returns an entry in the state, in an attempt towards version 2.
func at(state string, data map[string]string) *lifecyclev1.Lifecycle {
	return &lifecyclev1.Lifecycle{
		Name: "version", State: state, Data: data, EnteredAt: metav1.NewTime(now.Add(-time.Minute)), Attempt: attemptAt("2"),
	}
}

// half is a world in which one of two nodes runs version 2, the target.
func half() toyFacts {
	return toyFacts{
		Wanted: "2", Nodes: map[string]string{"a": "2", "b": "1"}, Allowed: true,
		Sync: transitions.Known(true, now), Level: transitions.Known(1, now),
	}
}

func with(f toyFacts, change func(*toyFacts)) toyFacts {
	change(&f)
	return f
}

// changed returns the toy after a change to its definition; nil changes nothing.
func changed(change func(*toyDefinition)) toyDefinition {
	def := toy()
	if change != nil {
		change(&def)
	}
	return def
}

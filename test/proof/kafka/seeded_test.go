package kafka

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// bug disables one layer, in a definition or around the kind, never in production code.
type bug struct {
	// found is part of the violation that the search reports.
	found   string
	of      func() (Subject, error)
	version func(*versionDef)
	storage func(*storageDef)
	kind    func(*explore.Scenario, *Kind)
	// subject adds an event that triggers the bug. The event also happens without the bug, and is then harmless.
	subject func(*Subject)
	// states is the number of states within which it is found. straight searches one order of the steps without a fault.
	states   int
	straight bool
}

// TestSeededBugs seeds known defects: a search that does not find them proves nothing.
func TestSeededBugs(t *testing.T) {
	for name, b := range bugs() {
		t.Run(name, func(t *testing.T) {
			report := b.search(t, true)
			for _, v := range report.Violations {
				if strings.Contains(v.What, b.found) {
					t.Logf("found after %d states, with %d faults at most:\n%s", report.Expanded, report.Faulty, v)
					return
				}
			}
			t.Errorf("nothing says %q: %s, %v", b.found, report, report.Violations)
		})
		if b.subject == nil {
			continue
		}
		t.Run("without the bug: "+name, func(t *testing.T) {
			if report := b.search(t, false); len(report.Violations) > 0 {
				t.Errorf("%s, %v", report, report.Violations)
			}
		})
	}
}

func (b *bug) search(t *testing.T, seeded bool) *explore.Report {
	t.Helper()
	of := b.of
	if of == nil {
		of = Changing
	}
	subject, err := of()
	if err != nil {
		t.Fatal(err)
	}
	subject.Inspect = nil // TestComparisonFindsDifferences is the test of the comparison
	if seeded {
		subject.Kind = b.build
	}
	if b.subject != nil {
		b.subject(&subject)
	}
	// Events that are not part of the story are excluded, so that the searches are short.
	subject.Without = append(subject.Without, explore.PausedBy, explore.Waits, explore.Unread, explore.Conflict, explore.Invalid, explore.Throttled, explore.TimedOut,
		explore.Overlaps, explore.StatusRefused, explore.Flaps, Crashes, PodLost, AnswerOff, AnswerNo, Silence, Fails)
	report, err := explore.Explore(t.Context(), subject, explore.Options{States: cmp.Or(b.states, 2000), Time: 10 * time.Minute, Until: b.found, Straight: b.straight})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (b *bug) build(at *explore.Scenario) (Kind, error) {
	version := kafkaversion.Definition()
	if b.version != nil {
		b.version(&version)
	}
	storage := nodestorage.Definition()
	if b.storage != nil {
		b.storage(&storage)
	}
	kind, err := NewKind(at, version, noderoll.Definition(), storage)
	if err == nil && b.kind != nil {
		b.kind(at, &kind)
	}
	return kind, err
}

// Parts of the guard of formatting.
const (
	storageLostPart = iota
	approvedPart
	metadataPart
	replicasPart
)

// lost is a cluster of which one node has lost its volume. prepare changes it further.
func lost(prepare func(*World)) func() (Subject, error) {
	return func() (Subject, error) {
		s, w, err := resting("lost", Old)
		if err != nil {
			return s, err
		}
		s.Edits = edits{{Name: "approves the formatting", Make: approveFormatting}}
		stick(&s, w, 2, storageLost)
		w.nodes[2].empty = true
		prepare(w)
		return s, nil
	}
}

type (
	versionState  = machines.State[kafkaversion.Facts, roll.Data, kafkaversion.Effect]
	versionAction = machines.Action[kafkaversion.Facts, roll.Data, kafkaversion.Effect]
)

func stateOf(d *versionDef, name string) *versionState {
	return &d.States[slices.IndexFunc(d.States, func(s versionState) bool { return s.Name == name })]
}

// actionOf returns a copy of the state's action.
func actionOf(d *versionDef, state string) *versionAction {
	s := stateOf(d, state)
	own := *s.Action
	s.Action = &own
	return s.Action
}

// formattingAfter makes the storage lifecycle format as soon as the given parts of its guard are satisfied.
func formattingAfter(parts ...int) func(*storageDef) {
	return func(d *storageDef) {
		state := &d.States[slices.IndexFunc(d.States, func(s machines.State[nodestorage.Facts, roll.Data, nodestorage.Effect]) bool {
			return s.Name == nodestorage.Formatting
		})]
		approved := &d.Transitions[slices.IndexFunc(d.Transitions, func(row machines.Transition[nodestorage.Facts, roll.Data]) bool {
			return row.From == nodestorage.StorageLost && row.Event == "approved"
		})]
		var kept []transitions.Guard[nodestorage.Facts, roll.Data]
		for _, i := range parts {
			kept = append(kept, approved.When.Parts()[i])
		}
		action := *state.Action
		action.Precondition = transitions.All(kept...)
		state.Action, approved.When = &action, action.Precondition
	}
}

func bugs() map[string]bug {
	const restarting = roll.RestartingNode
	return map[string]bug{
		"a one-way effect without asking again": {
			found: "while a broker that is gone is registered", of: Lowering,
			version: func(d *versionDef) {
				actionOf(d, kafkaversion.SettingMetadata).Precondition = transitions.Always[kafkaversion.Facts, roll.Data]()
			},
			subject: func(s *Subject) {
				s.World, s.Settled = disturbing{raisable(s), returning}, nil
			},
		},
		"Precondition without an earlier permission": {
			found: "which cannot read level", of: Lowering, straight: true,
			version: func(d *versionDef) {
				before := actionOf(d, restarting)
				before.Precondition = before.Precondition.Parts()[1] // safe to restart, without checking whether the version may run
			},
			subject: func(s *Subject) {
				s.World, s.Object.Version, s.Settled = disturbing{raisable(s), raising}, Old, nil
				s.Without = []explore.Fault{
					explore.DiesBefore, explore.DiesAfter, explore.ReplyLost, explore.Refused, explore.Restarts, explore.Wiped, explore.Edited, explore.Lags,
				}
			},
		},
		"an approval of an older attempt": {
			found: "on an approval of another attempt", of: Finalizing,
			kind: func(_ *explore.Scenario, k *Kind) {
				request := k.Observe
				k.Observe = func(ctx context.Context, c *Cluster, l lifecycle.ObserveRequest) (*Snapshot, error) {
					v, err := request(ctx, c, l)
					if err == nil && c.Approved != "" {
						v.Facts.Finalize.Approved = strings.TrimPrefix(approvalOf(l.RequestIDs["version"].Attempt), approveRaise) // any approval is accepted
					}
					return v, err
				}
			},
			subject: func(s *Subject) {
				selfOf(s.World).staleRegistration = false
				s.Object.Soak, s.Object.Approved, s.Edits = 0, approvalOf("an-older-one"), nil
			},
		},
		"a lost volume is formatted without approval": {
			found: "permitted to be formatted without approval", of: lost(func(*World) {}), straight: true, storage: formattingAfter(storageLostPart, metadataPart, replicasPart),
		},
		"a lost volume is formatted although the quorum may lose metadata": {
			found: "of the other nodes hold all data, no majority", of: lost(func(w *World) { w.nodes[1].synced = false }), straight: true, storage: formattingAfter(storageLostPart, approvedPart, replicasPart),
		},
		"a lost volume is formatted while its node counts as in sync": {
			found: "permitted to be formatted while it counts as in sync", straight: true,
			of:      lost(func(w *World) { w.nodes[2].left, w.nodes[2].inSyncThen = explore.Start.Add(-session/2), true }),
			storage: formattingAfter(storageLostPart, approvedPart, metadataPart),
		},
		"two disruptions from one snapshot": {
			found: "while another one is down",
			version: func(d *versionDef) {
				a := actionOf(d, restarting)
				one := a.Effects
				a.Effects = func(f *kafkaversion.Facts, m roll.Data) []kafkaversion.Effect {
					out := one(f, m)
					if len(out) == 0 {
						return nil
					}
					other := *out[0].Restart
					other.Node = (other.Node + 1) % Nodes
					return append(out, kafkaversion.Effect{Restart: &other})
				}
			},
			kind: func(at *explore.Scenario, k *Kind) {
				k.Disrupts = nil // no disruption lock is required
				execute := k.Execute
				k.Execute = func(ctx context.Context, t lifecycle.EffectRequest[*Cluster, *Snapshot, Effect]) error {
					v := *t.Snapshot
					v.Set = setOf(at) // as if each node had its own set, so that their writes do not conflict
					t.Snapshot = &v
					return execute(ctx, t)
				}
			},
		},
		"readiness taken for service": {
			found: "replicas in sync, fewer than the minimum",
			kind: func(_ *explore.Scenario, k *Kind) {
				request := k.Observe
				k.Observe = func(ctx context.Context, c *Cluster, l lifecycle.ObserveRequest) (*Snapshot, error) {
					v, err := request(ctx, c, l)
					if err != nil {
						return v, err
					}
					for i := range v.Facts.Roll.Nodes {
						n := &v.Facts.Roll.Nodes[i]
						n.NeverStarted = n.NeverStarted || !n.Ready // as if it served no client
					}
					return v, nil
				}
			},
			subject: func(s *Subject) { s.World, s.Settled = disturbing{selfOf(s.World), sticking}, nil },
		},
		"an Invariant that shadows an exit": {
			found:   "Invariant says no where the exit restarted says yes",
			version: func(d *versionDef) { stateOf(d, restarting).Invariant = selectedOutdated },
		},
		"an Infer that is quietly stuck": {
			found: "does not come to rest",
			version: func(d *versionDef) {
				d.Infer.Needs = []transitions.Need{kafkaversion.NeedFeatures}
				d.Infer.Find = func(*kafkaversion.Facts) (machines.InferredState[roll.Data], transitions.Verdict) {
					return machines.InferredState[roll.Data]{}, transitions.Verdict{Observed: "undecided"}
				}
			},
		},
		"a lifecycle that projects Ready over another": {
			found: "shows as ready although lifecycle version is in",
			kind: func(_ *explore.Scenario, k *Kind) {
				k.Lifecycles[0] = machines.LifecycleOf(access.Key{}, boasting{k.Lifecycles[0].Evaluator(access.Key{})})
			},
		},
		"an action without a wake-up": {
			found:  "does not come to rest",
			states: 4000,
			kind: func(_ *explore.Scenario, k *Kind) {
				k.Resync = 365 * 24 * time.Hour
				k.Lifecycles[0] = machines.LifecycleOf(access.Key{}, sleeping{k.Lifecycles[0].Evaluator(access.Key{})})
			},
			subject: func(s *Subject) { s.Within = 4 * time.Minute }, // before its deadline requeues it
		},
	}
}

// raisable is a cluster on the newer version at the older level.
func raisable(s *Subject) *World {
	w := NewWorld(selfOf(s.World).table, Newer, oldLevel)
	for i := range w.nodes {
		w.nodes[i].pod, w.nodes[i].started, w.nodes[i].ready, w.nodes[i].synced = bornUID(i), begun, true, true
	}
	return w
}

// selectedOutdated is an invariant that fails as soon as the node has restarted.
var selectedOutdated = transitions.Guard[kafkaversion.Facts, roll.Data]{
	Name: "selected-outdated", Doc: "the selected node is outdated", Expected: "an outdated selected node",
	Evaluate: func(f *kafkaversion.Facts, m roll.Data) transitions.Verdict {
		n := f.Roll.Node(m.Node)
		return transitions.If(n != nil && n.Outdated, "up to date")
	},
}

type evaluator = machines.Evaluator[*Cluster, *Snapshot, Effect]

// boasting reports each of its states as Rest, without regard to other lifecycles.
type boasting struct{ evaluator }

func (b boasting) State(name string) (states.State, bool) {
	s, known := b.evaluator.State(name)
	s.Kind = states.Rest
	return s, known
}

// sleeping is not requeued, neither in a state nor after an action.
type sleeping struct{ evaluator }

const eternity = 1000 * time.Hour

func (b sleeping) State(name string) (states.State, bool) {
	s, known := b.evaluator.State(name)
	s.Poll = eternity
	return s, known
}

func (b sleeping) Action(state string) (machines.ActionInfo, bool) {
	a, ok := b.evaluator.Action(state)
	a.RequeueAfter = eternity
	return a, ok
}

// returning is a broker that was removed and registers again.
func returning(_ *explore.Scenario, w *World) []explore.Step {
	if w.staleRegistration {
		return nil
	}
	return []explore.Step{{Name: "a broker that was removed registers again", Fault: "stale registration", Do: func(at *explore.Scenario) { of(at).staleRegistration = true }}}
}

// sticking is the last node, whose process crashes and whose pod then does not start.
func sticking(at *explore.Scenario, w *World) []explore.Step {
	pod := podsOf(at)[Nodes-1]
	if pod == nil || !w.nodes[Nodes-1].runs() || w.nodes[Nodes-1].pod != pod.UID {
		return nil
	}
	return []explore.Step{{Name: "the process of the last node dies and does not start", Fault: "stuck", Do: func(at *explore.Scenario) { start(at, Nodes-1, stuckHere) }}}
}

// raising is a user who raises the level manually while every node runs its entry.
func raising(at *explore.Scenario, w *World) []explore.Step {
	pods, set := podsOf(at), setOf(at)
	for i := range w.nodes {
		if pods[i] == nil || set == nil || pods[i].Entry != set.Entries[i] || set.Marked != None || !w.nodes[i].runs() || !w.runs(w.nodes[i].version, newerLevel) {
			return nil
		}
	}
	if w.Level == newerLevel {
		return nil
	}
	return []explore.Step{{Name: "a person raises the level by hand", Fault: "by hand", Do: func(at *explore.Scenario) {
		k := of(at)
		k.Level = newerLevel
		for i := range k.nodes {
			k.nodes[i].logged = newerLevel
		}
	}}}
}

package kafkaversion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// some draws a subset.
func some[T any](t *rapid.T, label string, of []T) []T {
	var out []T
	for i, one := range of {
		if rapid.IntRange(0, 5).Draw(t, fmt.Sprint(label, i)) == 0 {
			out = append(out, one)
		}
	}
	return out
}

// anyScene draws clusters in every condition, likely or not.
func (k scenes) anyScene(t *rapid.T) *scene {
	s := k.cluster(rapid.IntRange(1, 4).Draw(t, "nodes"))
	if rapid.Bool().Draw(t, "split") {
		s = k.split(3, rapid.IntRange(1, 2).Draw(t, "brokers"))
	}
	var ids []int32
	for _, n := range s.nodes.Nodes {
		ids = append(ids, n.ID)
	}
	version := rapid.SampledFrom([]string{older, old, newer, newer, acme, "9.9.9"})
	s.on(version.Draw(t, "on")).wanting(version.Draw(t, "wanting")).from(version.Draw(t, "from"))
	s.moved(some(t, "moved", ids)...).unstartedOn(some(t, "unstarted", ids)...)
	if level := rapid.Int16Range(19, 29).Draw(t, "level"); level > 20 {
		s.at(level)
	}
	if pin := rapid.SampledFrom([]string{"", "", "4.0", "4.1-IV0", "4.1-IV9", "5.11"}).Draw(t, "pin"); pin != "" {
		s.pinned(pin)
	}
	for _, change := range some(t, "change", []func(){
		func() { s.silent() }, func() { s.mute() }, func() { s.unanswered() }, func() { s.fresh() }, func() { s.lost() }, func() { s.broken() },
		func() { s.formerly(9, older) }, func() { s.soaking(2 * time.Hour) }, func() { s.byApproval() }, func() { s.approved(approvedRaise) },
		func() { s.leavingNode(ids[0]) }, func() { s.finalizing("group.version", 1) }, func() { s.after(0) },
	}) {
		change()
	}
	s.answered(rapid.SampledFrom([]kafkaversion.Status{
		kafkaversion.NoAnswer, kafkaversion.NoAnswer, kafkaversion.Asked, kafkaversion.Done, kafkaversion.Refused, kafkaversion.Unknown,
	}).Draw(t, "answer"))
	return k.anyNodes(t, s, ids)
}

func (k scenes) anyNodes(t *rapid.T, s *scene, ids []int32) *scene {
	conditions := []func(int32) rolltest.Change{
		rolltest.Down, rolltest.Gone, rolltest.Fenced,
		func(id int32) rolltest.Change { return rolltest.Stale(id) },
		func(id int32) rolltest.Change { return rolltest.Starting(id, time.Second) },
		func(id int32) rolltest.Change { return rolltest.Starting(id, time.Minute) },
		func(id int32) rolltest.Change { return rolltest.Restarted(id, time.Second) },
		rolltest.Behind, rolltest.NoVoter,
	}
	for _, id := range ids {
		for _, condition := range some(t, fmt.Sprint("node", id), conditions) {
			s.but(condition(id))
		}
		if rapid.IntRange(0, 5).Draw(t, fmt.Sprint("disk", id)) == 0 {
			s.lowered(id, rapid.SampledFrom([]time.Duration{time.Minute, 3 * time.Hour}).Draw(t, "ago"),
				rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(t, "interval"))
		}
	}
	s.but(some(t, "kafka", []rolltest.Change{
		rolltest.Leaderless, rolltest.NothingServes, rolltest.Registered(9), rolltest.Observed(20 * time.Second),
		rolltest.Without(roll.NeedPartitions), rolltest.Without(roll.NeedQuorum), rolltest.Without(roll.NeedBrokers),
	})...)
	if len(ids) > 2 && rapid.Bool().Draw(t, "partition") {
		s.but(rolltest.Partition("orders", ids[:3], ids[1:3]))
	}
	return s
}

// anyEntry draws a persisted state: any state, any current node, the target of the facts or another.
func anyEntry(t *rapid.T, f *kafkaversion.Facts) *lifecyclev1.Lifecycle {
	var names []string
	def := kafkaversion.Definition()
	for i := range def.States {
		names = append(names, def.States[i].Name)
	}
	e := machinetest.Entry("version", rapid.SampledFrom(names).Draw(t, "state")).Entered(f.EnteredAt)
	if id := rapid.Int32Range(-1, 4).Draw(t, "hand"); id >= 0 {
		e.Data(roll.Encode(roll.Data{Node: id}))
	}
	target := def.Target(f).To
	if rapid.IntRange(0, 9).Draw(t, "retarget") == 0 {
		target = "another"
	}
	return e.Attempt(machinetest.Attempt("uid", "version", target, rolltest.Now.Add(-time.Hour))).Obj()
}

// still follows the machine while the facts do not change, until it stays. Two visits of one state with the same data are a loop
// that would run forever.
func still(t *rapid.T, lc evaluating, entry *lifecyclev1.Lifecycle, f kafkaversion.Facts) {
	seen := map[string]bool{}
	var trail []string
	if entry == nil || entry.State != kafkaversion.SettingMetadata {
		f.Answer = kafkaversion.Answer{} // it belongs to one visit of one state
	}
	for {
		needs := lc.Needs(entry)
		decision := evaluate(lc, entry, f, needs).Decide()
		if decision.Err != nil {
			t.Fatalf("%v\n%s", decision.Err, strings.Join(trail, "\n"))
		}
		move := decision.Move
		if move == nil {
			if move = stays(t, lc, entry, f, decision.MayAct, trail); move == nil {
				return
			}
		}
		next, err := evaluate(lc, entry, f, lc.NeedsIn(move.To)).Enter(*move)
		if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(trail, "\n"))
		}
		f.Answer = kafkaversion.Answer{}
		f.EnteredAt, f.Attempt = f.Roll.Now, next.Attempt
		entry = &next
		trail = append(trail, fmt.Sprintf("%s -> %s %v", move.Event, move.To, move.Data))
		place := fmt.Sprint(move.To, move.Data)
		if move.Attempt != nil {
			place += move.Attempt.To
		}
		if seen[place] {
			t.Fatalf("a loop without progress:\n%s", strings.Join(trail, "\n"))
		}
		seen[place] = true
	}
}

// stays looks at a lifecycle that stays: it rests, acts, is sent back by its precondition, or says what it waits for.
func stays(t *rapid.T, lc evaluating, entry *lifecyclev1.Lifecycle, f kafkaversion.Facts, mayAct bool, trail []string) *machines.Move {
	state, _ := lc.State(entry.State)
	shown := evaluate(lc, entry, f, lc.Needs(entry)).Project()
	if action, acts := lc.Action(entry.State); acts && mayAct {
		acting := evaluate(lc, entry, f, action.Needs).Act()
		switch {
		case acting.Err != nil:
			t.Fatalf("%v\n%s", acting.Err, strings.Join(trail, "\n"))
		case acting.PreconditionFailed != nil:
			return acting.PreconditionFailed
		case len(acting.Effects) > 0, len(acting.Blocked) > 0:
			return nil
		}
	}
	if state.Kind == states.Rest || len(shown.WaitingFor) > 0 {
		return nil
	}
	if _, known := f.Features.Get(); !known && f.Features.Gap().Pending {
		return nil // nothing is said while the first answer is on its way
	}
	t.Fatalf("%s neither rests nor says what it waits for\n%s", entry.State, strings.Join(trail, "\n"))
	return nil
}

func TestDefinitionHasNoDeadEndAndNoLoop(t *testing.T) {
	k, lc := newScenes(t), onFacts(t)
	rapid.Check(t, func(t *rapid.T) {
		f := k.anyScene(t).facts()
		still(t, lc, anyEntry(t, &f), f)
	})
}

func TestDefinitionHasNoDeadEndFromAnyPersistedState(t *testing.T) {
	k, lc := newScenes(t), onFacts(t)
	rapid.Check(t, func(t *rapid.T) { still(t, lc, nil, k.anyScene(t).facts()) })
}

// TestDefinitionInfersTrueStates: a state that the facts name is one that they do not deny, and one that is true is not denied by an
// exit that would be taken.
func TestDefinitionInfersTrueStates(t *testing.T) {
	k := newScenes(t)
	def := kafkaversion.Definition()
	while := map[string]transitions.Guard[kafkaversion.Facts, roll.Data]{}
	for i := range def.States {
		while[def.States[i].Name] = def.States[i].Invariant
	}
	denied := func(state string, f *kafkaversion.Facts, m roll.Data) bool {
		g := while[state]
		return !g.IsZero() && g.Verdict(f, m).Answer == transitions.No
	}
	rapid.Check(t, func(t *rapid.T) {
		f := k.anyScene(t).facts()
		place, verdict := def.Infer.Find(&f)
		if verdict.Answer != transitions.Yes || denied(place.State, &f, place.Data) {
			t.Fatalf("Infer finds %+v (%+v), which its Invariant denies", place, verdict)
		}
		hand := roll.Data{Node: rapid.Int32Range(-1, 4).Draw(t, "hand")}
		for i := range def.Transitions {
			row := &def.Transitions[i]
			var answer transitions.Answer
			if row.Choose != nil {
				v, _ := row.Choose.Pick(&f, hand)
				answer = v.Answer
			} else {
				answer = row.When.Verdict(&f, hand).Answer
			}
			if answer == transitions.Yes && denied(row.From, &f, hand) {
				t.Fatalf("%s leads out of %s, whose Invariant says no", row.Event, row.From)
			}
		}
	})
}

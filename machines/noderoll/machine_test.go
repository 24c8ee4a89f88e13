//test:norace
package noderoll_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

type (
	row  = machinetest.Row[noderoll.Facts, roll.Data, noderoll.Effect]
	want = machinetest.Want[roll.Data, noderoll.Effect]
)

const (
	wanted  = "3f9a0c17"
	another = "77d1e0b2"
)

// of returns the facts of a roll without a version change.
func of(nodes roll.Facts) noderoll.Facts {
	return noderoll.Facts{Roll: nodes, Wanted: wanted, Slot: transitions.Known(noderoll.Slot{}, nodes.Now)}
}

// queued returns the facts of a roll while other clusters hold all slots.
func queued(f noderoll.Facts) noderoll.Facts {
	f.Slot = transitions.Known(noderoll.Slot{Position: 2, MaxActive: 1, Taken: 1, Holders: []noderoll.Holder{{Cluster: "prod/orders"}}}, f.Roll.Now)
	return f
}

// unlisted returns the facts of a roll while the clusters that roll cannot be listed.
func unlisted(f noderoll.Facts) noderoll.Facts {
	f.Slot = transitions.Unreadable[noderoll.Slot](errors.New("the cache is closed"))
	return f
}

// during returns the facts of a roll during a version change.
func during(nodes roll.Facts) noderoll.Facts {
	f := of(nodes)
	f.VersionChange = transitions.Problemf("VersionChange", "%s is not on version 4.1.1 yet", rolltest.Pod(2))
	return f
}

// broken returns the facts of a roll with an invalid spec.
func broken(nodes roll.Facts) noderoll.Facts {
	f := of(nodes)
	f.SpecError = transitions.Problemf("NodeIDsRefused", "pools a and b both claim node id 3")
	return f
}

// both returns the facts of an invalid spec during a version change.
func both(nodes roll.Facts) noderoll.Facts {
	f := during(nodes)
	f.SpecError = broken(nodes).SpecError
	return f
}

func rollOfNodes() rolltest.Machine[noderoll.Facts, noderoll.Effect] {
	return rolltest.Machine[noderoll.Facts, noderoll.Effect]{
		Facts: of, Restart: func(id int32) noderoll.Effect { return noderoll.Effect{Node: id} },
		OnTargetChange: roll.SelectingNode, OnPreconditionFailed: roll.SelectingNode, Done: noderoll.Settled,
		Inferred: noderoll.Settled, Another: another,
	}
}

func rows() []row {
	outdated := rolltest.Dual(3, rolltest.Outdated(1))
	own := []row{
		{Name: "settled: every pod is up to date", State: noderoll.Settled, Facts: of(rolltest.Dual(3))},
		{Name: "settled: a pod that is up to date is not restarted for being down", State: noderoll.Settled, Facts: of(rolltest.Dual(3, rolltest.Down(1)))},
		{
			Name: "settled: a pod runs as before", State: noderoll.Settled, Facts: of(outdated),
			Want: want{Event: "revision-changed", To: roll.SelectingNode, WaitingFor: []string{}},
		},
		{
			Name: "settled: during a version change the pods are its own", State: noderoll.Settled, Facts: during(outdated),
			Reason: "its restarts bring the new content along, and one restart is better than two",
		},
		{
			Name: "settled: nothing is restarted while the declaration cannot be applied", State: noderoll.Settled, Facts: broken(outdated),
			Reason: "what would be rendered of it was not requested",
		},
		{
			Name: "selecting: the declaration broke", State: roll.SelectingNode, Facts: broken(outdated),
			Want: want{Event: "declaration-broken", To: noderoll.Settled},
		},
		{
			Name: "selecting: the declaration broke after the last restart", State: roll.SelectingNode, Facts: broken(rolltest.Dual(3)),
			Want: want{Event: "declaration-broken", To: noderoll.Settled},
		},
		{
			Name: "selecting: the declaration broke during a version change", State: roll.SelectingNode, Facts: both(outdated),
			Want: want{Event: "version-first", To: noderoll.Settled},
		},
		{
			Name: "restarting: the declaration broke", State: roll.RestartingNode, Data: rolltest.Hand(1), Facts: broken(outdated),
			Want: want{Event: machines.EventPreconditionFailed, To: roll.SelectingNode},
		},
		{
			Name: "selecting: a version change has begun", State: roll.SelectingNode, Facts: during(outdated),
			Want: want{Event: "version-first", To: noderoll.Settled},
		},
		{
			Name: "selecting: a version change has begun after the last restart", State: roll.SelectingNode, Facts: during(rolltest.Dual(3)),
			Want: want{Event: "version-first", To: noderoll.Settled},
		},
		{
			Name: "restarting: a version change has begun", State: roll.RestartingNode, Data: rolltest.Hand(1), Facts: during(outdated),
			Want: want{Event: machines.EventPreconditionFailed, To: roll.SelectingNode},
		},
		{
			Name: "awaiting readiness: a selected node is waited for although a version change has begun", State: roll.AwaitingReady,
			Data: rolltest.Hand(1), Facts: during(rolltest.Dual(3, rolltest.Down(1))), Want: want{WaitingFor: []string{"node-ready"}},
		},
		{
			Name: "settled: a pod runs as before, and all slots are taken", State: noderoll.Settled, Facts: queued(of(outdated)),
			Want: want{Event: "slot-needed", To: noderoll.AwaitingSlot, WaitingFor: []string{"slot-granted"}},
		},
		{
			Name: "settled: a pod that cannot come up as it is needs no slot", State: noderoll.Settled,
			Facts: queued(of(rolltest.Dual(3, rolltest.Outdated(1), rolltest.Looping(1)))),
			Want:  want{Event: "revision-changed", To: roll.SelectingNode}, Reason: "no gate blocks recovery",
		},
		{
			Name: "settled: a pod that was drained and starts elsewhere needs a slot", State: noderoll.Settled,
			Facts: queued(of(rolltest.Dual(3, rolltest.Outdated(1), rolltest.Starting(1, time.Minute)))),
			Want:  want{Event: "slot-needed", To: noderoll.AwaitingSlot, WaitingFor: []string{"slot-granted"}},
		},
		{
			Name: "settled: the queue cannot be read", State: noderoll.Settled, Facts: unlisted(of(outdated)),
			Want: want{WaitingFor: []string{"slot-granted"}},
		},
		{Name: "settled: all slots are taken and every pod is up to date", State: noderoll.Settled, Facts: queued(of(rolltest.Dual(3)))},
		{Name: "settled: a version change needs no slot of the roll", State: noderoll.Settled, Facts: queued(during(outdated))},
		{Name: "settled: a broken declaration needs no slot", State: noderoll.Settled, Facts: queued(broken(outdated))},
		{
			Name: "awaiting a slot: all are taken", State: noderoll.AwaitingSlot, Facts: queued(of(outdated)),
			Want: want{WaitingFor: []string{"slot-granted"}},
		},
		{
			Name: "awaiting a slot: it is granted", State: noderoll.AwaitingSlot, Facts: of(outdated),
			Want: want{Event: "slot-granted", To: roll.SelectingNode},
		},
		{
			Name: "awaiting a slot: a pod that runs as before cannot come up", State: noderoll.AwaitingSlot,
			Facts: queued(of(rolltest.Dual(3, rolltest.Outdated(1), rolltest.Looping(1)))), Want: want{Event: "slot-granted", To: roll.SelectingNode},
		},
		{
			Name: "awaiting a slot: a pod that was drained starts elsewhere", State: noderoll.AwaitingSlot,
			Facts: queued(of(rolltest.Dual(3, rolltest.Outdated(1), rolltest.Starting(1, time.Minute)))), Want: want{WaitingFor: []string{"slot-granted"}},
		},
		{
			Name: "awaiting a slot: another pod cannot come up", State: noderoll.AwaitingSlot,
			Facts: queued(of(rolltest.Dual(3, rolltest.Outdated(1), rolltest.Looping(2)))), Want: want{WaitingFor: []string{"slot-granted"}},
			Reason: "the restart would not repair it",
		},
		{
			Name: "awaiting a slot: the queue cannot be read", State: noderoll.AwaitingSlot, Facts: unlisted(of(outdated)),
			Want: want{WaitingFor: []string{"slot-granted"}},
		},
		{
			Name: "awaiting a slot: every pod is up to date again", State: noderoll.AwaitingSlot, Facts: of(rolltest.Dual(3)),
			Want: want{Event: "roll-unneeded", To: noderoll.Settled},
		},
		{
			Name: "awaiting a slot: a version change has begun", State: noderoll.AwaitingSlot, Facts: during(outdated),
			Want: want{Event: "roll-unneeded", To: noderoll.Settled},
		},
		{
			Name: "awaiting a slot: the declaration broke", State: noderoll.AwaitingSlot, Facts: broken(outdated),
			Want: want{Event: "roll-unneeded", To: noderoll.Settled},
		},
		{Name: "no persisted state", Facts: of(outdated), Want: want{Event: machines.EventInferred, To: noderoll.Settled}},
		{Name: "no persisted state, and Kafka is silent", Facts: of(rolltest.Dual(3, rolltest.Outdated(), rolltest.Silent)), Want: want{Event: machines.EventInferred, To: noderoll.Settled}},
		{Name: "data of another release", State: roll.AwaitingReady, Coded: map[string]string{"pod": "a"}, Facts: of(outdated), Want: want{Event: machines.EventInferred, To: noderoll.Settled}},
	}
	return slices.Concat(own, rolltest.Rows(rollOfNodes()))
}

func TestDefinitionTransitions(t *testing.T) {
	machine, err := machines.Compile(noderoll.Definition())
	if err != nil {
		t.Fatal(err)
	}
	machinetest.Run(t, machine, rows())
}

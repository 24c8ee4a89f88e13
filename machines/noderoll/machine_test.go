package noderoll_test

import (
	"slices"
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
)

type (
	row  = machinetest.Row[noderoll.Facts, roll.Memo, noderoll.Effect]
	want = machinetest.Want[roll.Memo, noderoll.Effect]
)

const (
	wanted  = "3f9a0c17"
	another = "77d1e0b2"
)

// of are the facts of a roll while no version change is under way.
func of(nodes roll.Facts) noderoll.Facts { return noderoll.Facts{Roll: nodes, Wanted: wanted} }

// during are the facts of a roll while a version change is under way.
func during(nodes roll.Facts) noderoll.Facts {
	f := of(nodes)
	f.VersionChange = rolltest.Pod(2) + " is on its way to version 4.1.1"
	return f
}

// broken are the facts of a roll while the declaration cannot be acted upon.
func broken(nodes roll.Facts) noderoll.Facts {
	f := of(nodes)
	f.Obstacle = "pools a and b both claim node id 3"
	return f
}

// both is a broken declaration during a version change.
func both(nodes roll.Facts) noderoll.Facts {
	f := during(nodes)
	f.Obstacle = broken(nodes).Obstacle
	return f
}

func rollOfNodes() rolltest.Machine[noderoll.Facts, noderoll.Effect] {
	return rolltest.Machine[noderoll.Facts, noderoll.Effect]{
		Facts: of, Restart: func(id int32) noderoll.Effect { return noderoll.Effect{Node: id} },
		OnTarget: roll.SelectingNode, TurnBack: roll.SelectingNode, Done: noderoll.Settled,
		Located: noderoll.Settled, Another: another,
	}
}

func rows() []row {
	outdated := rolltest.Dual(3, rolltest.Outdated(1))
	own := []row{
		{Name: "settled: every pod is as it is wanted", State: noderoll.Settled, Facts: of(rolltest.Dual(3))},
		{Name: "settled: a pod that is as it is wanted is not restarted for being down", State: noderoll.Settled, Facts: of(rolltest.Dual(3, rolltest.Down(1)))},
		{
			Name: "settled: a pod runs as before", State: noderoll.Settled, Facts: of(outdated),
			Want: want{Event: "revision-changed", To: roll.SelectingNode, WaitingFor: []string{}},
		},
		{
			Name: "settled: during a version change the pods are its own", State: noderoll.Settled, Facts: during(outdated),
			Reason: "its restarts bring the new content along, and one restart is better than two",
		},
		{
			Name: "settled: nothing is restarted while the declaration cannot be acted upon", State: noderoll.Settled, Facts: broken(outdated),
			Reason: "what would be rendered of it is what nobody asked for",
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
			Name: "restarting: the declaration broke", State: roll.RestartingNode, Memo: rolltest.Hand(1), Facts: broken(outdated),
			Want: want{Event: machines.EventTurnedBack, To: roll.SelectingNode},
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
			Name: "restarting: a version change has begun", State: roll.RestartingNode, Memo: rolltest.Hand(1), Facts: during(outdated),
			Want: want{Event: machines.EventTurnedBack, To: roll.SelectingNode},
		},
		{
			Name: "awaiting readiness: a node in hand is waited for although a version change has begun", State: roll.AwaitingReady,
			Memo: rolltest.Hand(1), Facts: during(rolltest.Dual(3, rolltest.Down(1))), Want: want{WaitingFor: []string{"node-ready"}},
		},
		{Name: "no bookmark", Facts: of(outdated), Want: want{Event: machines.EventLocated, To: noderoll.Settled}},
		{Name: "no bookmark, and Kafka is silent", Facts: of(rolltest.Dual(3, rolltest.Outdated(), rolltest.Silent)), Want: want{Event: machines.EventLocated, To: noderoll.Settled}},
		{Name: "a memo of another release", State: roll.AwaitingReady, Coded: map[string]string{"pod": "a"}, Facts: of(outdated), Want: want{Event: machines.EventLocated, To: noderoll.Settled}},
	}
	return slices.Concat(own, rolltest.Rows(rollOfNodes()))
}

func TestTransitions(t *testing.T) {
	machine, err := machines.Compile(noderoll.Definition())
	if err != nil {
		t.Fatal(err)
	}
	machinetest.Run(t, machine, rows())
}

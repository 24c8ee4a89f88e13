package roll_test

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

func TestServing(t *testing.T) {
	noPart := no("my-cluster-pool-1 serves in none of its roles")
	for name, c := range map[string]judgement{
		"ready, registered and fetching":          {nodes: rolltest.Dual(3), want: yes},
		"not ready, registered and fetching":      {reason: "readiness is not service", nodes: rolltest.Dual(3, rolltest.Lapsed(1, time.Hour)), want: yes},
		"keeps dying, registered and fetching":    {reason: "it may be up between two deaths", nodes: rolltest.Dual(3, rolltest.Looping(1)), want: yes},
		"keeps dying, fenced and not fetching":    {nodes: rolltest.Dual(3, rolltest.Dead(1)), want: noPart},
		"ready, fenced and not fetching":          {nodes: rolltest.Dual(3, rolltest.Fenced(1), rolltest.Unfetching(1)), want: noPart},
		"fenced, and fetching":                    {reason: "the quorum may need it", nodes: rolltest.Dual(3, rolltest.Fenced(1)), want: yes},
		"fenced, and fetches although it is late": {nodes: rolltest.Dual(3, rolltest.Fenced(1), rolltest.Behind(1)), want: yes},
		"fenced, not fetching, and needed for a majority": {
			nodes: rolltest.Dual(3, rolltest.Dead(1), rolltest.Behind(2)),
			want:  unknown("controller 1 has stopped fetching, and the quorum has no majority without it"),
		},
		"registered, not fetching":  {nodes: rolltest.Dual(3, rolltest.Unfetching(1)), want: yes},
		"a broker that is fenced":   {nodes: rolltest.Split(1, 3, rolltest.Fenced(1)), want: noPart},
		"a controller, and no vote": {nodes: rolltest.Split(3, 1, rolltest.NoVoter(1)), want: noPart},
		"a controller that leads":   {nodes: rolltest.Split(3, 1, rolltest.Led(1), rolltest.Unfetching(1)), want: yes},
		"without a pod":             {nodes: rolltest.Dual(3, rolltest.Gone(1), rolltest.Silent), want: no("my-cluster-pool-1 has no process, or its pod is terminating")},
		"without a process yet":     {nodes: rolltest.Dual(3, rolltest.Down(1), rolltest.Silent), want: no("my-cluster-pool-1 has no process, or its pod is terminating")},
		"registrations unreadable":  {nodes: rolltest.Dual(3, rolltest.Unfetching(1), rolltest.Without(roll.NeedBrokers)), want: unknown(dark)},
		"quorum unreadable":         {nodes: rolltest.Dual(3, rolltest.Fenced(1), rolltest.Without(roll.NeedQuorum)), want: unknown(dark)},
		"no leader":                 {nodes: rolltest.Dual(3, rolltest.Fenced(1), rolltest.Leaderless), want: unknown("the quorum has no leader")},

		"Kafka silent, not ready and answers":  {nodes: rolltest.Dual(3, rolltest.Looping(1), rolltest.Silent), want: unknown(dark)},
		"Kafka silent, ready and does not":     {reason: "one report is not evidence", nodes: rolltest.Dual(3, rolltest.Silenced(1), rolltest.Silent), want: unknown(dark)},
		"Kafka silent, not ready and does not": {nodes: rolltest.Dual(3, rolltest.Looping(1), rolltest.Silenced(1), rolltest.Silent), want: noPart},
		"Kafka silent, and nodes cannot be asked": {
			nodes: rolltest.Dual(3, rolltest.Looping(1), rolltest.Silent, rolltest.Without(roll.NeedMembers)), want: unknown(dark),
		},
		"Kafka silent, not ready for less than a session": {
			nodes: rolltest.Dual(3, rolltest.Lapsed(1, 8*time.Second), rolltest.Silenced(1), rolltest.Silent), want: unknown(dark),
		},
		"Kafka silent, not ready, and the kubelet lost": {
			nodes: rolltest.Dual(3, rolltest.Looping(1), rolltest.Silenced(1), rolltest.KubeletLost(1), rolltest.Silent), want: unknown(dark),
		},
		"Kafka silent, and no node answers": {
			reason: "the network may be at fault", nodes: rolltest.Dual(3, rolltest.Looping(1), rolltest.Silenced(0, 1, 2), rolltest.Silent), want: unknown(dark),
		},
	} {
		c.node = 1
		t.Run(name, func(t *testing.T) { c.check(t, roll.Serving) })
	}
}

func TestAvailable(t *testing.T) {
	for name, c := range map[string]struct {
		nodes roll.Facts
		want  bool
	}{
		"ready":                                {rolltest.Dual(3), true},
		"gone":                                 {rolltest.Dual(3, rolltest.Gone(1)), false},
		"not ready for a session, and in sync": {rolltest.Dual(3, rolltest.Lapsed(1, 9*time.Second)), true},
		"not ready for less than a session":    {rolltest.Dual(3, rolltest.Lapsed(1, 8*time.Second)), false},
		"not ready, and Kafka was not asked since": {rolltest.Dual(3, rolltest.Lapsed(1, 10*time.Second), rolltest.Observed(2*time.Second)), false},
		"not ready, and out of an ISR":             {rolltest.Dual(3, rolltest.Lapsed(1, time.Hour), rolltest.Partition("orders-7", three, []int32{0, 2})), false},
		"not ready, and fenced":                    {rolltest.Dual(3, rolltest.Lapsed(1, time.Hour), rolltest.Fenced(1)), false},
		"not ready, and Kafka is silent":           {rolltest.Dual(3, rolltest.Lapsed(1, time.Hour), rolltest.Silent), false},
		"dead":                                     {rolltest.Dual(3, rolltest.Dead(1)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := roll.Available(&c.nodes, c.nodes.Node(1)); got != c.want {
				t.Errorf("available is %v, want %v", got, c.want)
			}
		})
	}
}

func TestNothingServing(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		nodes  roll.Facts
		want   transitions.Answer
	}{
		"all serve":                             {nodes: rolltest.Dual(3), want: transitions.No},
		"none is ready, and all answer":         {reason: "one report is not evidence", nodes: rolltest.Dual(3, rolltest.Unready), want: transitions.No},
		"none answers, and all are ready":       {reason: "one report is not evidence", nodes: rolltest.Dual(3, rolltest.Silenced(0, 1, 2)), want: transitions.No},
		"none is ready and none answers":        {nodes: rolltest.Dual(3, rolltest.Unready, rolltest.Silenced(0, 1, 2)), want: transitions.Yes},
		"a majority is not ready and is silent": {nodes: rolltest.Dual(3, rolltest.Looping(1), rolltest.Looping(2), rolltest.Silenced(1, 2)), want: transitions.Yes},
		"a minority is not ready and is silent": {nodes: rolltest.Dual(3, rolltest.Looping(2), rolltest.Silenced(2)), want: transitions.No},
		"no broker, and the controllers serve":  {nodes: rolltest.Split(3, 1, rolltest.Looping(3), rolltest.Silenced(3)), want: transitions.Yes},
		"a kubelet of the majority is lost":     {nodes: rolltest.Dual(3, rolltest.Looping(1), rolltest.Looping(2), rolltest.Silenced(1, 2), rolltest.KubeletLost(1)), want: transitions.No},
		"the majority lapsed a moment ago":      {nodes: rolltest.Dual(3, rolltest.Lapsed(1, 8*time.Second), rolltest.Lapsed(2, time.Hour), rolltest.Silenced(1, 2)), want: transitions.No},
		"nodes were asked before they had a session": {
			nodes: rolltest.Dual(3, rolltest.Lapsed(1, 10*time.Second), rolltest.Looping(2), rolltest.Silenced(1, 2), rolltest.Observed(2*time.Second)), want: transitions.No,
		},
		"nodes cannot be asked": {nodes: rolltest.Dual(3, rolltest.Unready, rolltest.Without(roll.NeedMembers)), want: transitions.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := roll.NothingServing(&c.nodes); got.Answer != c.want {
				t.Errorf("%s: %s (%s), want %s", c.reason, got.Answer, got.Observed, c.want)
			}
		})
	}
}

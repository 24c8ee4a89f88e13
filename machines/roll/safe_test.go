package roll_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

// judged is a verdict in the words of a table.
type judged struct{ Answer, Observed string }

func words(v transitions.Verdict) judged {
	return judged{Answer: v.Answer.String(), Observed: v.Observed}
}

type judgement struct {
	reason string
	nodes  roll.Facts
	node   int32
	want   judged
}

func (c *judgement) check(t *testing.T, ask func(*roll.Facts, *roll.Node) transitions.Verdict) {
	t.Helper()
	if diff := cmp.Diff(c.want, words(ask(&c.nodes, c.nodes.Node(c.node)))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", c.reason, diff)
	}
}

func no(saw string) judged      { return judged{Answer: "no", Observed: saw} }
func unknown(saw string) judged { return judged{Answer: "unknown", Observed: saw} }

var yes = judged{Answer: "yes"}

const dark = "cannot be read: connection refused"

// three are the replicas of a partition on the first three nodes.
var three = []int32{0, 1, 2}

func TestSafe(t *testing.T) {
	for name, c := range map[string]judgement{
		"all serve": {nodes: rolltest.Dual(3), want: yes},
		"another node is down": {
			nodes: rolltest.Dual(3, rolltest.Down(2)), want: no("not ready: my-cluster-pool-2"),
		},
		"the pod of another node is away": {
			nodes: rolltest.Dual(3, rolltest.Gone(2)), want: no("not ready: my-cluster-pool-2"),
		},
		"its pod terminates for ever": {
			reason: "no restart ends it", nodes: rolltest.Dual(3, rolltest.NotEnding(0)), node: 0,
			want: no("my-cluster-pool-0: the pod does not end: its host host-1 does not report it"),
		},
		"its pod is refused": {
			reason: "what changed may be why it is accepted", nodes: rolltest.Dual(3, rolltest.Refused(0)), want: yes,
		},
		"nothing serves, and another pod terminates for ever": {
			reason: "it is not about to serve", nodes: rolltest.Dual(3, rolltest.Silent, rolltest.Lapsed(0, time.Hour), rolltest.NotEnding(1), rolltest.Down(2), rolltest.NothingServes, rolltest.Answering(0)), want: yes,
		},
		"many others are down": {
			nodes: rolltest.Split(3, 4, rolltest.Down(5), rolltest.Down(4), rolltest.Down(3), rolltest.Down(2)),
			want:  no("not ready: my-cluster-pool-2, my-cluster-pool-3, my-cluster-pool-4 and 1 more"),
		},
		"it is down itself": {
			reason: "it takes nothing away", nodes: rolltest.Dual(3, rolltest.Down(0), rolltest.Down(2), rolltest.Silent), want: yes,
		},
		"something would be lost with its pod": {
			nodes: rolltest.Dual(3, rolltest.Held(0)), want: no("my-cluster-pool-0: PersistentVolumeClaim data-0-my-cluster-pool-0 is being deleted"),
		},
		"something would be lost with its pod, and it is dead": {
			reason: "a restart cannot be undone", nodes: rolltest.Dual(3, rolltest.Held(0), rolltest.Dead(0)),
			want: no("my-cluster-pool-0: PersistentVolumeClaim data-0-my-cluster-pool-0 is being deleted"),
		},
		"something would be lost with another pod": {nodes: rolltest.Dual(3, rolltest.Held(1)), want: yes},
		"it starts": {
			reason: "it may be recovering its logs", nodes: rolltest.Dual(3, rolltest.Starting(0, time.Minute)), want: no("my-cluster-pool-0 is still starting up"),
		},
		"it starts while nothing serves": {
			nodes: rolltest.Dual(3, rolltest.Starting(0, time.Minute), rolltest.NothingServes), want: no("my-cluster-pool-0 is still starting up"),
		},
		"it has been starting for ten minutes": {nodes: rolltest.Dual(3, rolltest.Starting(0, 10*time.Minute)), want: yes},
		"nothing serves": {
			reason: "there is nothing to protect", nodes: rolltest.Dual(3, rolltest.Down(1), rolltest.Down(2), rolltest.Silent, rolltest.NothingServes), want: yes,
		},
		"nothing serves, and others are starting": {
			reason: "they may serve in a moment, with this one",
			nodes:  rolltest.Dual(3, rolltest.Gone(1), rolltest.Starting(2, 9*time.Minute), rolltest.NothingServes),
			want:   no("no node serves; still starting: my-cluster-pool-1, my-cluster-pool-2"),
		},
		"nothing serves, and the pod of another that ran for long is terminating": {
			reason: "its process may serve for as long as it is given",
			nodes:  rolltest.Dual(3, rolltest.Terminating(1), rolltest.Down(2), rolltest.NothingServes),
			want:   no("no node serves; still starting: my-cluster-pool-1"),
		},
		"nothing serves, and another has been starting for ten minutes": {
			nodes: rolltest.Dual(3, rolltest.Down(1), rolltest.Starting(2, 10*time.Minute), rolltest.NothingServes), want: yes,
		},

		"no broker serves, and a controller could be spared": {
			nodes: rolltest.Split(3, 1, rolltest.Down(3), rolltest.NothingServes), want: yes,
		},
		"no broker serves, and another controller is down": {
			reason: "two of three are a majority: what brought one down is not carried on to the next",
			nodes:  rolltest.Split(3, 1, rolltest.Down(3), rolltest.Down(2), rolltest.Behind(2), rolltest.NothingServes),
			want:   no("without controller 0 only 1 of the 2 voters needed are caught up; behind: 2"),
		},
		"no broker serves, and most controllers are down": {
			nodes: rolltest.Split(3, 1, rolltest.Down(3), rolltest.Down(2), rolltest.Down(1), rolltest.Silent, rolltest.NothingServes), want: yes,
		},
		"no broker serves, the quorum is unknown, and a controller could be spared": {
			reason: "the quorum is asked for through brokers: gates never block recovery",
			nodes:  rolltest.Split(3, 1, rolltest.Down(3), rolltest.Silent, rolltest.NothingServes), want: yes,
		},
		"no broker serves, the quorum is unknown, and another controller is down": {
			nodes: rolltest.Split(3, 1, rolltest.Down(3), rolltest.Down(2), rolltest.Silent, rolltest.NothingServes),
			want:  no("too few other controllers answer, and the quorum " + dark),
		},
		"no broker serves, the quorum is unknown, and it is the only controller": {
			nodes: rolltest.Split(1, 1, rolltest.Down(1), rolltest.Silent, rolltest.NothingServes), want: yes,
		},

		"a controller, and another is behind": {
			nodes: rolltest.Split(3, 3, rolltest.Behind(2)),
			want:  no("without controller 0 only 1 of the 2 voters needed are caught up; behind: 2"),
		},
		"a controller, and two of five are behind": {
			nodes: rolltest.Split(5, 3, rolltest.Behind(1), rolltest.Behind(2)),
			want:  no("without controller 0 only 2 of the 3 voters needed are caught up; behind: 1, 2"),
		},
		"a controller, and one of five is behind": {nodes: rolltest.Split(5, 3, rolltest.Behind(2)), want: yes},
		"the controller that is behind":           {nodes: rolltest.Split(3, 3, rolltest.Behind(2)), node: 2, want: yes},
		"the only controller":                     {nodes: rolltest.Split(1, 3), want: yes},
		"a controller without a leader":           {nodes: rolltest.Split(3, 3, rolltest.Leaderless), want: no("the quorum has no leader")},
		"a controller of a quorum that cannot be read": {
			nodes: rolltest.Split(3, 3, rolltest.Without(roll.NeedQuorum)), want: unknown(dark),
		},
		"a controller, and another that lost its log has not got it back": {
			reason: "it would vouch for records that it does not hold", nodes: rolltest.Split(3, 3, rolltest.Refilling(2, 99), rolltest.Restarted(2, time.Minute)),
			want: no("without controller 0 only 1 of the 2 voters needed are caught up; behind: 2"),
		},
		"a controller, and another that lost its log holds it again": {nodes: rolltest.Split(3, 3, rolltest.Refilling(2, 100), rolltest.Restarted(2, time.Minute)), want: yes},
		"a controller, and another that lost its log long ago": {
			reason: "a follower is always a record behind somewhere", nodes: rolltest.Split(3, 3, rolltest.Refilling(2, 99), rolltest.Restarted(2, 10*time.Minute)), want: yes,
		},
		"a controller, and the leader lost its log before": {
			reason: "what a leader holds is the log", nodes: rolltest.Split(3, 3, rolltest.Refilling(1, 99), rolltest.Led(1), rolltest.Restarted(1, time.Minute)), want: yes,
		},
		"a controller that the quorum does not count": {nodes: rolltest.Split(4, 3, rolltest.NoVoter(3)), node: 3, want: yes},
		"a controller, just after another restarted": {
			reason: "the leader may not have noticed yet", nodes: rolltest.Split(3, 3, rolltest.Restarted(2, time.Second)),
			want: no("the quorum has not been observed since controller 2 started"),
		},
		"a controller, once the quorum noticed": {nodes: rolltest.Split(3, 3, rolltest.Restarted(2, 2*time.Second)), want: yes},
		"a broker of a quorum that cannot be read": {
			reason: "a broker is not missed by the quorum", nodes: rolltest.Split(3, 3, rolltest.Without(roll.NeedQuorum)), node: 3, want: yes,
		},

		"a broker of a partition that is above its minimum": {nodes: rolltest.Dual(3, rolltest.Partition("orders-7", three, three)), want: yes},
		"a broker of a partition that is at its minimum": {
			nodes: rolltest.Dual(3, rolltest.Partition("orders-7", three, []int32{0, 1})),
			want:  no("without broker 0 these fall below min.insync.replicas: orders-7-0"),
		},
		"a broker that is out of the ISR of a partition that is at its minimum": {
			nodes: rolltest.Dual(3, rolltest.Partition("orders-7", three, []int32{1, 2})), want: yes,
		},
		"a broker that is out of the ISR of a partition that is under its minimum": {
			reason: "it may be the one that repairs it", nodes: rolltest.Dual(3, rolltest.Partition("orders-7", three, []int32{2})),
			want: no("without broker 0 these fall below min.insync.replicas: orders-7-0"),
		},
		"a broker that does not hold the partition": {
			nodes: rolltest.Dual(4, rolltest.Partition("orders-7", []int32{0, 1, 9}, []int32{0, 1})), node: 3, want: yes,
		},
		"a broker while another is out of an ISR": {
			reason: "one disruption at a time: the other is not back", nodes: rolltest.Dual(3, rolltest.Spare("orders-7", three, []int32{0, 1})), node: 0,
			want: no("broker 2 is out of the ISR of orders-7-0"),
		},
		"a controller while a broker is out of an ISR": {
			nodes: rolltest.Split(3, 3, rolltest.Spare("orders-7", []int32{3, 4}, []int32{4})), node: 0, want: no("broker 3 is out of the ISR of orders-7-0"),
		},
		"a broker while another gets a replica by a reassignment": {
			reason: "a drain lasts for hours, and no broker lost anything", nodes: rolltest.Dual(3, rolltest.Moved("orders-7", three, []int32{0, 1}, 2)), node: 0, want: yes,
		},
		"the broker that gets a replica by a reassignment": {
			nodes: rolltest.Dual(3, rolltest.Moved("orders-7", three, []int32{0, 1}, 2)), node: 2, want: yes,
		},
		"a broker while another that gets one replica has lost one": {
			nodes: rolltest.Dual(3, rolltest.Moved("orders-7", three, []int32{0, 1}, 2), rolltest.Spare("orders-8", three, []int32{0, 1})), node: 0,
			want: no("broker 2 is out of the ISR of orders-8-0"),
		},
		"the broker that is out of an ISR": {
			reason: "its restart may repair it", nodes: rolltest.Dual(3, rolltest.Spare("orders-7", three, []int32{0, 1})), node: 2, want: yes,
		},
		"a broker that is down while another is out of an ISR": {
			reason: "it takes nothing away", nodes: rolltest.Dual(3, rolltest.Down(0), rolltest.Spare("orders-7", three, []int32{1})), node: 0, want: yes,
		},
		"a broker of many partitions that are at their minimum": {
			nodes: rolltest.Dual(3, rolltest.Partition("d", three, []int32{0, 1}), rolltest.Partition("c", three, []int32{0, 1}), rolltest.Partition("b", three, []int32{0, 1}), rolltest.Partition("a", three, []int32{0, 1})),
			want:  no("without broker 0 these fall below min.insync.replicas: a-0, b-0, c-0 and 1 more"),
		},
		"a broker of a partition whose minimum cannot be read": {
			nodes: rolltest.Dual(3, rolltest.Unjudged("orders-7", three)), want: unknown("min.insync.replicas cannot be read of orders-7-0"),
		},
		"a broker of partitions that cannot be read": {nodes: rolltest.Dual(3, rolltest.Without(roll.NeedPartitions)), want: unknown(dark)},
		"a controller of partitions that cannot be read": {
			nodes: rolltest.Split(3, 3, rolltest.Without(roll.NeedPartitions)), want: yes,
		},
		"a broker, just after another restarted": {
			reason: "Kafka may still show the process before in sync: the check does not depend on a selected node",
			nodes:  rolltest.Split(3, 3, rolltest.Restarted(4, 8*time.Second)), node: 3, want: no("broker 4 has not run for one session timeout yet"),
		},
		"a broker, once a session has passed": {nodes: rolltest.Split(3, 3, rolltest.Restarted(4, 9*time.Second)), node: 3, want: yes},
		"a broker, once a session has passed that is shorter than that of the controllers": {
			reason: "the active controller runs with the value with which it was started",
			nodes:  rolltest.Split(3, 3, rolltest.Session(time.Minute), rolltest.Restarted(4, 15*time.Second)), node: 3, want: no("broker 4 has not run for one session timeout yet"),
		},
		"a broker, once a session has passed that Kafka was not asked since": {
			nodes: rolltest.Split(3, 3, rolltest.Restarted(4, 9*time.Second), rolltest.Observed(time.Second)), node: 3, want: no("broker 4 has not run for one session timeout yet"),
		},
		"a broker that has just restarted itself": {nodes: rolltest.Split(3, 3, rolltest.Restarted(3, time.Second)), node: 3, want: yes},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, roll.Safe) })
	}
}

func TestInSync(t *testing.T) {
	young := no("broker 1 has not run for one session timeout yet")
	for name, c := range map[string]judgement{
		"it takes part": {nodes: rolltest.Dual(3), want: yes},
		"a broker that gets a replica by a reassignment": {
			nodes: rolltest.Dual(3, rolltest.Moved("orders-7", three, []int32{0, 2}, 1)), node: 1, want: yes,
		},
		"it is out of an ISR": {
			nodes: rolltest.Dual(3, rolltest.Partition("orders-7", three, []int32{0, 2})), want: no("broker 1 is out of the ISR of orders-7-0"),
		},
		"another is out of an ISR": {nodes: rolltest.Dual(3, rolltest.Partition("orders-7", three, []int32{0, 1})), want: yes},
		"it is fenced":             {nodes: rolltest.Dual(3, rolltest.Fenced(1)), want: no("broker 1 is fenced or not registered")},
		"it is not registered": {
			nodes: rolltest.Dual(3, func(f *roll.Facts) { rolltest.Without(roll.NeedBrokers)(f); f.Brokers = rolltest.Split(0, 1).Brokers }),
			want:  no("broker 1 is fenced or not registered"),
		},
		"it has just started":          {nodes: rolltest.Dual(3, rolltest.Restarted(1, 8*time.Second)), want: young},
		"it has run for one session":   {nodes: rolltest.Dual(3, rolltest.Restarted(1, 9*time.Second)), want: yes},
		"Kafka was not asked since":    {nodes: rolltest.Dual(3, rolltest.Restarted(1, 10*time.Second), rolltest.Observed(2*time.Second)), want: young},
		"it has no process":            {nodes: rolltest.Dual(3, rolltest.Down(1)), want: young},
		"partitions cannot be read":    {nodes: rolltest.Dual(3, rolltest.Without(roll.NeedPartitions)), want: unknown(dark)},
		"registrations cannot be read": {nodes: rolltest.Dual(3, rolltest.Without(roll.NeedBrokers)), want: unknown(dark)},
		"the quorum cannot be read":    {nodes: rolltest.Dual(3, rolltest.Without(roll.NeedQuorum)), want: unknown(dark)},

		"a controller takes part": {nodes: rolltest.Split(3, 3), want: yes},
		"a controller needs no session": {
			reason: "it is no broker", nodes: rolltest.Split(3, 3, rolltest.Restarted(1, time.Second), rolltest.Without(roll.NeedBrokers, roll.NeedPartitions)), want: yes,
		},
		"a controller has not caught up": {nodes: rolltest.Split(3, 3, rolltest.Behind(1)), want: no("controller 1 has not caught up with the leader, controller 0")},
		"a controller, and the quorum was last asked before it started": {
			nodes: rolltest.Split(3, 3, rolltest.Restarted(1, time.Second), rolltest.Observed(2*time.Second)), want: no("the quorum has not been observed since controller 1 started"),
		},
		"a controller, and the quorum has no leader": {nodes: rolltest.Split(3, 3, rolltest.Leaderless), want: no("the quorum has no leader")},
		"a controller that lost its log has not got it back": {
			nodes: rolltest.Split(3, 3, rolltest.Refilling(1, 99), rolltest.Restarted(1, time.Minute)), want: no("controller 1 has not caught up with the leader, controller 0"),
		},
		"a controller that lost its log holds it again": {nodes: rolltest.Split(3, 3, rolltest.Refilling(1, 100), rolltest.Restarted(1, time.Minute)), want: yes},
		"a controller whose log stays is a record behind": {
			nodes: rolltest.Split(3, 3, rolltest.Refilling(1, 99), rolltest.Kept(1), rolltest.Restarted(1, time.Minute)), want: yes,
		},
		"the controller that leads":                   {nodes: rolltest.Split(3, 3, rolltest.Led(1), rolltest.Behind(1)), want: yes},
		"a controller that the quorum does not count": {nodes: rolltest.Split(3, 3, rolltest.NoVoter(1)), want: yes},
		"a broker does not need the quorum":           {nodes: rolltest.Split(1, 3, rolltest.Without(roll.NeedQuorum)), want: yes},
	} {
		c.node = 1
		t.Run(name, func(t *testing.T) { c.check(t, roll.InSync) })
	}
}

//test:norace
package kraftscaledown_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

type (
	row    = machinetest.Row[kraftscaledown.Facts, roll.Data, kraftscaledown.Effect]
	want   = machinetest.Want[roll.Data, kraftscaledown.Effect]
	node   = kraftscaledown.Node
	facts  = kraftscaledown.Facts
	change = func(*facts)
)

var (
	now       = machinetest.Start
	errSilent = errors.New("connection refused")
)

func hand(id int32) *roll.Data { return &roll.Data{Node: id} }

// of returns a cluster of three desired brokers with the changes. Everything is read, Kafka lists fenced brokers, no broker holds
// a replica, and the state was entered an hour ago.
func of(changes ...change) facts {
	f := facts{
		Now: now, SessionTimeout: 9 * time.Second, Wanted: []int32{0, 1, 2}, Pause: time.Minute, EnteredAt: now.Add(-time.Hour),
		Partitions: transitions.Known(kafka.Partitions{Total: 1, Replicas: map[int32]int{0: 1, 1: 1, 2: 1}}, now),
		LogDirs:    transitions.Known(map[int32]kafka.LogDirs{}, now),
		Features:   transitions.Known(level(kafka.MetadataCordons), now),
		Moves:      transitions.Known(kraftscaledown.Moves{}, now),
		Cordons:    transitions.Known(map[int32]bool{}, now),
		Brokers:    transitions.Known(kafka.Brokers{FencingReported: true, Brokers: []kafka.Broker{{ID: 0, Fencing: kafka.Unfenced}}}, now),
	}
	for _, c := range changes {
		c(&f)
	}
	return f
}

func with(n node) change {
	return func(f *facts) {
		if n.Pod == "" {
			n.Pod = fmt.Sprintf("my-cluster-pool-%d", n.ID)
		}
		f.Nodes = append(f.Nodes, n)
		if n.Wanted {
			f.Wanted = append(f.Wanted, n.ID)
		}
	}
}

func runs(id int32) change    { return with(node{ID: id, Runs: true}) }
func unused(id int32) change  { return with(node{ID: id, Runs: true, Unused: true}) }
func stopped(id int32) change { return with(node{ID: id, Stopped: true}) }

// empty makes brokers report an empty directory.
func empty(ids ...int32) change { return dirs(kafka.LogDir{Path: "/data"}, ids...) }

// dirs makes brokers report the directory.
func dirs(d kafka.LogDir, ids ...int32) change {
	return func(f *facts) {
		all, _ := f.LogDirs.Get()
		for _, id := range ids {
			all[id] = kafka.LogDirs{Broker: id, Dirs: []kafka.LogDir{d}}
		}
	}
}

// Directories that a broker cannot read: one whose disk has failed, and one that the operator may not describe.
var (
	failed    = kafka.LogDir{Path: "/data", Error: &kafka.Refused{Code: kafka.CodeKafkaStorageError, Name: "KAFKA_STORAGE_ERROR"}}
	forbidden = kafka.LogDir{Path: "/data", Error: &kafka.Refused{Code: kafka.CodeClusterAuthorizationFailed, Name: "CLUSTER_AUTHORIZATION_FAILED"}}
)

// alsoDir makes a broker report one more directory before the others.
func alsoDir(id int32, d kafka.LogDir) change {
	return func(f *facts) {
		all, _ := f.LogDirs.Get()
		all[id] = kafka.LogDirs{Broker: id, Dirs: append([]kafka.LogDir{d}, all[id].Dirs...)}
	}
}

// holds gives a broker replicas in the metadata.
func holds(id int32, replicas int) change {
	return func(f *facts) {
		p, _ := f.Partitions.Get()
		p.Replicas[id] = replicas
	}
}

func listed(id int32, fencing kafka.Fencing) change {
	return func(f *facts) {
		b, _ := f.Brokers.Get()
		b.Brokers = append(b.Brokers, kafka.Broker{ID: id, Fencing: fencing})
		f.Brokers = transitions.Known(b, f.Brokers.At())
	}
}

// old is a Kafka before 4.0, which does not list fenced brokers.
func old(f *facts) {
	b, _ := f.Brokers.Get()
	b.FencingReported = false
	for i := range b.Brokers {
		b.Brokers[i].Fencing = kafka.FencingUnknown
	}
	f.Brokers = transitions.Known(b, now)
}

func brokersSilent(f *facts)    { f.Brokers = transitions.Unreadable[kafka.Brokers](errSilent) }
func partitionsSilent(f *facts) { f.Partitions = transitions.Unreadable[kafka.Partitions](errSilent) }
func dirsSilent(f *facts)       { f.LogDirs = transitions.Unreadable[map[int32]kafka.LogDirs](errSilent) }
func skip(f *facts)             { f.SkipCheck = true }
func justEntered(f *facts)      { f.EnteredAt = now.Add(time.Second) }
func atOnce(f *facts)           { f.EnteredAt = now }
func notRegistered(f *facts)    { f.Answer.Status, f.NotRegistered = kafkaversion.Refused, true }

func frozen(f *facts) {
	f.Refusal = transitions.Problemf("ReplicasCannotChange", "a static quorum cannot change its controllers")
}

func answered(s kafkaversion.Status) change { return func(f *facts) { f.Answer.Status = s } }

func inFlight(sent bool) change {
	return func(f *facts) { f.InFlight = kafkaversion.InFlight{Until: now.Add(time.Minute), Sent: sent} }
}

func stop(id int32) []kraftscaledown.Effect       { return []kraftscaledown.Effect{{Stop: &id}} }
func unregister(id int32) []kraftscaledown.Effect { return []kraftscaledown.Effect{{Unregister: &id}} }
func release(id int32) []kraftscaledown.Effect    { return []kraftscaledown.Effect{{Release: &id}} }
func bringBack(id int32) []kraftscaledown.Effect  { return []kraftscaledown.Effect{{Return: &id}} }

func resting() []row {
	const steady, refused, waiting = kraftscaledown.Steady, kraftscaledown.Refusing, kraftscaledown.AwaitingEmpty
	return []row{
		{Name: "steady: every broker is desired", State: steady, Facts: of()},
		{Name: "steady: a broker is not desired any more", State: steady, Facts: of(runs(3)), Want: want{Event: "broker-leaving", To: waiting, WaitingFor: []string{"broker-empty"}}},
		{Name: "steady: a registration is left from the past", State: steady, Facts: of(listed(9, kafka.Fenced)), Want: want{Event: "broker-leaving", To: waiting}},
		{Name: "steady: an unknown broker that is alive is left alone", State: steady, Facts: of(listed(9, kafka.Unfenced))},
		{Name: "steady: a desired broker that is fenced is left alone", State: steady, Facts: of(listed(2, kafka.Fenced))},
		{Name: "steady: the registrations cannot be read", State: steady, Facts: of(brokersSilent), Want: want{WaitingFor: []string{"broker-leaving"}}},
		{Name: "steady: a node that leaves is known without the list of brokers", State: steady, Facts: of(runs(3), brokersSilent), Want: want{Event: "broker-leaving", To: waiting}},
		{Name: "steady: a controller is not desired any more", State: steady, Facts: of(frozen), Want: want{Event: "removal-refused", To: refused, WaitingFor: []string{"removal-permitted"}}},
		{Name: "steady: a refused controller keeps no broker", State: steady, Facts: of(frozen, runs(3)), Want: want{Event: "broker-leaving", To: waiting}},
		{Name: "refused: the controller is still not desired", State: refused, Facts: of(frozen), Want: want{WaitingFor: []string{"removal-permitted"}}},
		{Name: "refused: every controller is desired again", State: refused, Facts: of(), Want: want{Event: "removal-withdrawn", To: steady}},
		{Name: "refused: a broker leaves as well", State: refused, Facts: of(frozen, runs(3)), Want: want{Event: "broker-leaving", To: waiting}},
		{Name: "refused: every controller is desired again, and a broker leaves", State: refused, Facts: of(runs(3)), Want: want{Event: "broker-leaving", To: waiting}},
		{Name: "refused: the spec changed", State: refused, Attempt: "another", Facts: of(frozen), Want: want{Event: machines.EventTargetChanged, To: waiting}},

		{Name: "no persisted state: every broker is desired", Facts: of(), Want: want{Event: machines.EventInferred, To: steady, Data: hand(roll.None)}},
		{Name: "no persisted state: a broker leaves", Facts: of(runs(3)), Want: want{Event: machines.EventInferred, To: waiting, Data: hand(roll.None)}},
		{Name: "no persisted state: a broker was stopped", Facts: of(stopped(3)), Want: want{Event: machines.EventInferred, To: waiting, Data: hand(roll.None)}},
		{Name: "no persisted state: a stopped broker may be unregistered at any time", Facts: of(runs(4), stopped(3), inFlight(false)), Want: want{Event: machines.EventInferred, To: kraftscaledown.AwaitingSettled, Data: hand(roll.None)}},
		{Name: "data of another release", State: kraftscaledown.AwaitingGone, Coded: map[string]string{"pod": "a"}, Facts: of(stopped(3)), Want: want{Event: machines.EventInferred, To: waiting, Data: hand(roll.None)}},
	}
}

func emptying() []row {
	const state = kraftscaledown.AwaitingEmpty
	stays := func(name string, f facts) row {
		return row{Name: "awaiting empty: " + name, State: state, Facts: f, Want: want{WaitingFor: []string{"broker-empty"}}}
	}
	goes := func(name, event, to string, id int32, f facts) row {
		return row{Name: "awaiting empty: " + name, State: state, Facts: f, Want: want{Event: event, To: to, Data: hand(id)}}
	}
	return []row{
		stays("the metadata lists replicas on the broker", of(runs(3), holds(3, 2), empty(3))),
		stays("the disks hold a replica that the metadata does not list", of(runs(3), dirs(kafka.LogDir{Path: "/data", Replicas: 1, First: []string{"orders-0"}}, 3))),
		stays("a directory cannot be read", of(runs(3), dirs(forbidden, 3))),
		stays("a disk has failed, and the metadata lists replicas on the broker", of(runs(3), holds(3, 2), dirs(failed, 3))),
		stays("a disk has failed, and another one holds a replica", of(runs(3), dirs(kafka.LogDir{Path: "/data-1", Replicas: 1}, 3), alsoDir(3, failed))),
		goes("a disk has failed, and the metadata lists no replica on the broker", "broker-empty", kraftscaledown.StoppingNode, 3, of(runs(3), dirs(failed, 3))),
		stays("the broker does not report its disks", of(runs(3))),
		stays("the disks cannot be read", of(runs(3), dirsSilent)),
		stays("the partitions cannot be read", of(runs(3), empty(3), partitionsSilent)),
		stays("no broker of two is known to be empty", of(runs(4), runs(3), holds(4, 1), empty(4))),
		stays("a node that cannot come back has replicas assigned", of(with(node{ID: 3}), holds(3, 1))),
		stays("a stopped node still runs, and its disks cannot be read", of(with(node{ID: 3, Runs: true, Stopped: true}), dirsSilent)),
		{Name: "awaiting empty: the registrations cannot be read", State: state, Facts: of(runs(3), empty(3), brokersSilent), Reason: "a broker that is stopped now could not be unregistered"},
		stays("whether replicas are assigned to a node that cannot come back is not known", of(with(node{ID: 3}), partitionsSilent)),
		goes("the broker holds nothing", "broker-empty", kraftscaledown.StoppingNode, 3, of(runs(3), empty(3))),
		goes("the second of two holds nothing", "broker-empty", kraftscaledown.StoppingNode, 3, of(runs(4), runs(3), holds(4, 1), empty(3, 4))),
		goes("both hold nothing, and the first is removed first", "broker-empty", kraftscaledown.StoppingNode, 4, of(runs(4), runs(3), empty(3, 4))),
		goes("the check is skipped", "broker-empty", kraftscaledown.StoppingNode, 3, of(runs(3), holds(3, 2), skip)),
		goes("a stopped node that still runs is stopped further", "broker-empty", kraftscaledown.StoppingNode, 3, of(with(node{ID: 3, Runs: true, Stopped: true}), empty(3))),
		goes("a broker never started", "broker-empty", kraftscaledown.StoppingNode, 3, of(unused(3))),
		stays("a broker that was seen to be registered is not listed", of(runs(3))),
		stays("a broker starts for the first time", of(unused(3), listed(3, kafka.Fenced))),
		stays("a broker may never have started, and Kafka before 4.0 does not list it", of(unused(3), old)),
		stays("a broker may never have started, and replicas are assigned to it", of(unused(3), holds(3, 1))),
		{Name: "awaiting empty: a broker may never have started, and the registrations cannot be read", State: state, Facts: of(unused(3), brokersSilent), Reason: "it may be registered", Want: want{WaitingFor: []string{"broker-empty"}}},
		goes("a broker was stopped", "gone-already", kraftscaledown.AwaitingGone, 3, of(runs(4), stopped(3), holds(4, 1), empty(4))),
		goes("a stopped broker has got replicas, which the next state judges", "gone-already", kraftscaledown.AwaitingGone, 3, of(stopped(3), holds(3, 1))),
		goes("a node that cannot come back holds nothing", "gone-already", kraftscaledown.AwaitingGone, 3, of(with(node{ID: 3}))),
		goes("a registration is left from the past", "gone-already", kraftscaledown.AwaitingGone, 9, of(listed(9, kafka.Fenced))),
		goes("a gone broker is not held up by disks that cannot be read", "gone-already", kraftscaledown.AwaitingGone, 3, of(with(node{ID: 4, Runs: true, Stopped: true}), stopped(3), dirsSilent)),
		goes("a stopped node is desired again", "stopped-in-error", kraftscaledown.Returning, 3, of(with(node{ID: 3, Wanted: true, Stopped: true}))),
		goes("a stopped node still runs and has got replicas", "stopped-in-error", kraftscaledown.Returning, 3, of(with(node{ID: 3, Runs: true, Stopped: true}), holds(3, 1))),
		{Name: "awaiting empty: every broker is desired again", State: state, Facts: of(), Want: want{Event: "nothing-leaving", To: kraftscaledown.Steady}},
		{Name: "awaiting empty: another broker leaves as well", State: state, Attempt: "brokers 0, 1, 2, 3", Facts: of(runs(3)), Want: want{Event: machines.EventTargetChanged, To: state}},
	}
}

func stopping() []row {
	const state, gone = kraftscaledown.StoppingNode, kraftscaledown.AwaitingGone
	stays := func(name string, f facts, w want) row {
		return row{Name: "stopping: " + name, State: state, Data: hand(3), Facts: f, Want: w}
	}
	ending := with(node{ID: 3, Runs: true, Stopped: true, Ending: true})
	return []row{
		stays("the pod waits for its eviction", of(ending, empty(3)), want{WaitingFor: []string{"process-gone"}}),
		stays("a replica was created while the pod waits for its eviction", of(ending, holds(3, 1)), want{Event: "replicas-found", To: kraftscaledown.Returning, Data: hand(3)}),
		stays("a replica is on the disk while the pod waits for its eviction", of(ending, dirs(kafka.LogDir{Path: "/data", Replicas: 1}, 3)), want{Event: "replicas-found", To: kraftscaledown.Returning, Data: hand(3)}),
		stays("it is not known whether the broker that waits for its eviction is empty", of(ending, partitionsSilent), want{WaitingFor: []string{"process-gone"}}),
		stays("the node runs", of(runs(3), empty(3)), want{WaitingFor: []string{"process-gone"}, Effects: stop(3)}),
		stays("the node still runs", of(with(node{ID: 3, Runs: true, Stopped: true}), empty(3)), want{WaitingFor: []string{"process-gone"}, Effects: stop(3)}),
		stays("Kafka does not answer", of(runs(3), partitionsSilent), want{WaitingFor: []string{"process-gone"}, Blocked: []string{"selected-broker-empty"}}),
		stays("a replica was created", of(runs(3), empty(3), holds(3, 1)), want{Event: machines.EventPreconditionFailed, To: kraftscaledown.AwaitingEmpty}),
		stays("the node never started", of(unused(3)), want{WaitingFor: []string{"process-gone"}, Effects: stop(3)}),
		stays("the node has just started for the first time", of(unused(3), listed(3, kafka.Unfenced)), want{WaitingFor: []string{"process-gone"}, Blocked: []string{"selected-broker-empty"}}),
		stays("the node has got a replica after it started for the first time", of(with(node{ID: 3, Runs: true, Unused: true, Stopped: true, Ending: true}), listed(3, kafka.Unfenced), holds(3, 1)), want{Event: "replicas-found", To: kraftscaledown.Returning, Data: hand(3)}),
		stays("the process is gone", of(stopped(3)), want{Event: "stopped", To: gone, Data: hand(3)}),
		stays("the node is desired again", of(with(node{ID: 3, Wanted: true, Runs: true}), empty(3)), want{Event: "desired-again", To: kraftscaledown.Returning, Data: hand(3)}),
		stays("the node was stopped and is desired again", of(with(node{ID: 3, Wanted: true, Stopped: true})), want{Event: "desired-again", To: kraftscaledown.Returning, Data: hand(3)}),
		stays("nothing is left of the node", of(), want{Event: "stopped", To: gone, Data: hand(3)}),

		{Name: "returning: the record is changed", State: kraftscaledown.Returning, Data: hand(3), Facts: of(with(node{ID: 3, Wanted: true, Stopped: true})), Want: want{WaitingFor: []string{"node-kept"}, Effects: bringBack(3)}},
		{Name: "returning: it holds a replica", State: kraftscaledown.Returning, Data: hand(3), Facts: of(stopped(3), holds(3, 1)), Want: want{WaitingFor: []string{"node-kept"}, Effects: bringBack(3)}},
		{Name: "returning: it has a replica on its disk", State: kraftscaledown.Returning, Data: hand(3), Facts: of(stopped(3), dirs(kafka.LogDir{Path: "/data", Replicas: 1}, 3)), Want: want{WaitingFor: []string{"node-kept"}, Effects: bringBack(3)}},
		{Name: "returning: it leaves, and is empty", State: kraftscaledown.Returning, Data: hand(3), Facts: of(stopped(3)), Want: want{Event: machines.EventPreconditionFailed, To: kraftscaledown.AwaitingEmpty}},
		{Name: "returning: it leaves, and Kafka does not answer", State: kraftscaledown.Returning, Data: hand(3), Facts: of(stopped(3), partitionsSilent), Want: want{WaitingFor: []string{"node-kept"}, Blocked: []string{"to-run-again"}}},
		{Name: "returning: it is desired, and Kafka does not answer", State: kraftscaledown.Returning, Data: hand(3), Facts: of(with(node{ID: 3, Wanted: true, Stopped: true}), partitionsSilent), Want: want{WaitingFor: []string{"node-kept"}, Effects: bringBack(3)}},
		{Name: "returning: the record permits it", State: kraftscaledown.Returning, Data: hand(3), Facts: of(runs(3)), Want: want{Event: "returned", To: kraftscaledown.AwaitingEmpty}},
		{Name: "returning: nothing is left of the node", State: kraftscaledown.Returning, Data: hand(3), Facts: of(), Want: want{Event: "returned", To: kraftscaledown.AwaitingEmpty}},
	}
}

func unregistering() []row {
	const gone, session, state, settling, refused, releasing, returning = kraftscaledown.AwaitingGone, kraftscaledown.AwaitingSession, kraftscaledown.Unregistering,
		kraftscaledown.AwaitingSettled, kraftscaledown.UnregistrationRefused, kraftscaledown.Releasing, kraftscaledown.Returning
	in := func(state, name string, id int32, f facts, w want) row {
		if w.Event != "" && w.Event != machines.EventPreconditionFailed {
			w.Data = hand(id)
		}
		return row{Name: state + ": " + name, State: state, Data: hand(id), Facts: f, Want: w}
	}
	waits := func(guards ...string) want { return want{WaitingFor: guards} }
	to := func(event, to string) want { return want{Event: event, To: to} }
	fenced := listed(3, kafka.Fenced)
	again := with(node{ID: 3, Wanted: true, Stopped: true})
	return []row{
		in(gone, "the session has not ended", 3, of(stopped(3), listed(3, kafka.Unfenced)), waits("broker-fenced")),
		in(gone, "the pod exists", 3, of(with(node{ID: 3, Runs: true, Stopped: true}), fenced), waits("process-gone")),
		in(gone, "the registrations cannot be read", 3, of(stopped(3), brokersSilent), waits("broker-fenced")),
		in(gone, "the partitions cannot be read", 3, of(stopped(3), fenced, partitionsSilent), waits("no-replica-left")),
		in(gone, "the partitions were read before the stop", 3, of(stopped(3), fenced, justEntered), waits("no-replica-left")),
		in(gone, "the session has ended", 3, of(stopped(3), fenced), to("broker-fenced", state)),
		in(gone, "the session has ended, and the check is skipped", 3, of(stopped(3), fenced, holds(3, 1), skip), to("broker-fenced", state)),
		in(gone, "a replica was created before the stop, the check is skipped, and a drain is requested", 3, of(stopped(3), fenced, holds(3, 1), skip, drain), to("replicas-found", returning)),
		in(gone, "an earlier request does not delay the next", 3, of(stopped(3), fenced, inFlight(true)), to("broker-fenced", state)),
		in(gone, "a registration of the past", 9, of(listed(9, kafka.Fenced), holds(9, 1)), to("broker-fenced", state)),
		in(gone, "a registration of the past whose broker came alive", 9, of(listed(9, kafka.Unfenced)), waits("broker-fenced")),
		in(gone, "a broker that is not registered, and whose pod exists", 3, of(runs(3)), waits("process-gone", "broker-fenced")),
		in(gone, "a broker that is not registered, cannot come back and has replicas assigned", 3, of(with(node{ID: 3}), holds(3, 1)), waits("no-replica-left", "broker-fenced")),
		in(gone, "Kafka before 4.0 does not list the broker, and the partitions cannot be read", 3, of(stopped(3), old, partitionsSilent), waits("no-replica-left", "broker-fenced")),
		in(gone, "a broker that was never registered", 3, of(stopped(3)), to("not-registered", releasing)),
		in(gone, "a broker that was never registered, of which nothing is left", 3, of(), to("not-registered", releasing)),
		in(gone, "an earlier request may unregister the next broker with the id", 3, of(stopped(3), inFlight(true)), waits("broker-fenced")),
		in(gone, "a replica was created before the stop", 3, of(stopped(3), fenced, holds(3, 1)), to("replicas-found", returning)),
		in(gone, "a replica on a node that cannot come back", 3, of(with(node{ID: 3}), fenced, holds(3, 1)), waits("no-replica-left")),
		in(gone, "a replica, and a request that may take effect", 3, of(stopped(3), fenced, holds(3, 1), inFlight(true)), waits("no-replica-left")),
		in(gone, "the node is desired again", 3, of(again, fenced), to("desired-again", returning)),
		in(gone, "the node is desired again, and a request may take effect", 3, of(again, fenced, inFlight(true)), waits("still-leaving")),
		in(gone, "Kafka before 4.0 lists the broker", 3, of(stopped(3), listed(3, kafka.FencingUnknown), old), waits("broker-fenced")),
		{Name: gone + ": " + "a broker that is alive elsewhere, and one that is empty", State: gone, Data: hand(3), Facts: of(stopped(3), listed(3, kafka.Unfenced), runs(4), empty(4)), Want: want{Event: "removal-deferred", To: kraftscaledown.AwaitingEmpty}},
		{Name: gone + ": " + "a broker that is alive elsewhere, and one that is gone", State: gone, Data: hand(3), Facts: of(stopped(3), listed(3, kafka.Unfenced), stopped(4)), Want: want{Event: "removal-deferred", To: kraftscaledown.AwaitingEmpty}},
		{Name: gone + ": " + "a broker that is alive elsewhere, and one that is to be drained", State: gone, Data: hand(3), Facts: of(stopped(3), listed(3, kafka.Unfenced), runs(4), holds(4, 1), drain), Want: want{Event: "removal-deferred", To: kraftscaledown.AwaitingEmpty}},
		in(gone, "a broker that is alive elsewhere, and a request that may take effect", 3, of(stopped(3), listed(3, kafka.Unfenced), stopped(4), inFlight(true)), waits("broker-fenced")),
		{Name: gone + ": " + "a broker that is alive elsewhere, and one that is desired again", State: gone, Data: hand(3), Facts: of(stopped(3), listed(3, kafka.Unfenced), with(node{ID: 4, Stopped: true, Wanted: true})), Want: want{Event: "removal-deferred", To: kraftscaledown.AwaitingEmpty}},
		in(gone, "a session may not have ended, and another broker is empty", 3, of(stopped(3), listed(3, kafka.Unfenced), runs(4), empty(4), atOnce), waits("broker-fenced")),
		in(gone, "two brokers that are alive elsewhere", 3, of(stopped(3), listed(3, kafka.Unfenced), stopped(4), listed(4, kafka.Unfenced)), waits("broker-fenced")),
		in(gone, "a broker that is alive elsewhere, and the partitions cannot be read", 3, of(stopped(3), listed(3, kafka.Unfenced), runs(4), empty(4), partitionsSilent), waits("broker-fenced", "no-replica-left")),
		in(gone, "Kafka before 4.0 does not list the broker", 3, of(stopped(3), old), to("broker-absent", session)),
		in(gone, "Kafka before 4.0 does not list the broker, whose pod exists", 3, of(with(node{ID: 3, Runs: true, Stopped: true}), old), waits("process-gone", "broker-fenced")),

		in(session, "a session may not have ended", 3, of(stopped(3), old, atOnce), waits("absent-for-a-session")),
		in(session, "the session has ended", 3, of(stopped(3), old), to("session-ended", state)),
		in(session, "the broker is listed again", 3, of(stopped(3), listed(3, kafka.FencingUnknown), old), to("listed-again", gone)),
		in(session, "the registrations cannot be read", 3, of(stopped(3), brokersSilent), waits("absent-for-a-session")),
		in(session, "the partitions cannot be read", 3, of(stopped(3), old, partitionsSilent), waits("no-replica-left")),
		in(session, "the pod exists again", 3, of(with(node{ID: 3, Runs: true}), old), waits("process-gone")),
		in(session, "the node is desired again", 3, of(again, old), to("desired-again", gone)),
		in(session, "the node is desired again, and a newer Kafka lists fenced brokers", 3, of(again), to("desired-again", gone)),

		in(state, "it is requested", 3, of(stopped(3), fenced), want{WaitingFor: []string{"unregistration-confirmed"}, Effects: unregister(3)}),
		in(state, "it is requested of a Kafka before 4.0", 3, of(stopped(3), old), want{WaitingFor: []string{"unregistration-confirmed"}, Effects: unregister(3)}),
		in(state, "it is requested for a registration of the past", 9, of(listed(9, kafka.Fenced)), want{WaitingFor: []string{"unregistration-confirmed"}, Effects: unregister(9)}),
		in(state, "it was requested and is not answered", 3, of(stopped(3), fenced, answered(kafkaversion.Asked), inFlight(true)), waits("unregistration-confirmed")),
		in(state, "the pod exists", 3, of(runs(3), fenced), to(machines.EventPreconditionFailed, kraftscaledown.AwaitingEmpty)),
		in(state, "a replica was found", 3, of(stopped(3), fenced, holds(3, 1)), to(machines.EventPreconditionFailed, kraftscaledown.AwaitingEmpty)),
		in(state, "the broker is alive", 3, of(stopped(3), listed(3, kafka.Unfenced)), to(machines.EventPreconditionFailed, kraftscaledown.AwaitingEmpty)),
		in(state, "the registrations cannot be read", 3, of(stopped(3), brokersSilent), want{WaitingFor: []string{"unregistration-confirmed"}, Blocked: []string{"session-ended"}}),
		in(state, "Kafka confirms", 3, of(stopped(3), answered(kafkaversion.Done)), to("unregistered", releasing)),
		in(state, "Kafka confirms, and a broker before 4.0 reports nothing else", 3, of(stopped(3), old, answered(kafkaversion.Done)), to("unregistered", releasing)),
		in(state, "Kafka does not know the broker", 3, of(stopped(3), old, notRegistered), to("unregistered", releasing)),
		in(state, "the registration is gone before the answer", 3, of(stopped(3), answered(kafkaversion.Asked)), waits("unregistration-confirmed")),
		in(state, "Kafka confirms and still lists the broker", 3, of(stopped(3), fenced, answered(kafkaversion.Done)), waits("unregistration-confirmed")),
		in(state, "Kafka confirms, and the registrations cannot be read", 3, of(stopped(3), brokersSilent, answered(kafkaversion.Done)), waits("unregistration-confirmed")),
		in(state, "Kafka refuses", 3, of(stopped(3), fenced, answered(kafkaversion.Refused)), to("unregistration-refused", refused)),
		in(state, "Kafka refuses and lists nothing", 3, of(stopped(3), brokersSilent, answered(kafkaversion.Refused)), to("unregistration-refused", refused)),
		in(state, "the answer is lost", 3, of(stopped(3), fenced, answered(kafkaversion.Unknown)), to("answer-lost", settling)),
		in(state, "the answer is lost and the registration is gone", 3, of(stopped(3), answered(kafkaversion.Unknown)), to("answer-lost", settling)),
		in(state, "an earlier process may have asked", 3, of(stopped(3), fenced, inFlight(false)), to("answer-lost", settling)),
		in(state, "the node is desired again before it is requested", 3, of(again, fenced), to("desired-again", gone)),
		in(state, "the node is desired again after it was requested", 3, of(again, fenced, answered(kafkaversion.Asked)), waits("unregistration-confirmed")),

		in(settling, "a request may take effect", 3, of(stopped(3), fenced, inFlight(true)), waits("requests-settled")),
		{Name: settling + ": no request can take effect any more", State: settling, Data: hand(3), Facts: of(stopped(3), fenced), Want: to("settled", kraftscaledown.AwaitingEmpty)},
		{Name: settling + ": it was inferred, without a broker", State: settling, Data: hand(roll.None), Facts: of(stopped(3), fenced), Want: to("settled", kraftscaledown.AwaitingEmpty)},

		in(refused, "the back-off has not passed", 3, of(stopped(3), fenced, atOnce), waits("time-to-ask-again")),
		{Name: refused + ": the spec changed", State: refused, Data: hand(3), Attempt: "another", Facts: of(stopped(3), fenced), Want: want{Event: machines.EventTargetChanged, To: kraftscaledown.AwaitingEmpty}},
		in(refused, "the back-off has passed", 3, of(stopped(3), fenced), to("ask-again", gone)),
		{Name: refused + ": the next broker is not held up", State: refused, Data: hand(3), Facts: of(stopped(3), stopped(4), fenced), Want: want{Event: "ask-again", To: gone, Data: hand(4)}},
		{Name: refused + ": after the last broker comes the first", State: refused, Data: hand(9), Facts: of(stopped(3), listed(9, kafka.Fenced)), Want: want{Event: "ask-again", To: gone, Data: hand(3)}},
		{Name: refused + ": an empty broker is not held up", State: refused, Data: hand(3), Facts: of(stopped(3), runs(4), empty(4), fenced, atOnce), Want: want{Event: "broker-empty", To: kraftscaledown.StoppingNode, Data: hand(4)}},
		{Name: refused + ": an empty broker is not held up, and the back-off has passed", State: refused, Data: hand(3), Facts: of(stopped(3), runs(4), empty(4), fenced), Want: want{Event: "broker-empty", To: kraftscaledown.StoppingNode, Data: hand(4)}},
		{Name: refused + ": a drain is not held up", State: refused, Data: hand(3), Facts: of(stopped(3), drain, runs(4), holds(4, 1), fenced, atOnce), Want: want{Event: "drain-requested", To: kraftscaledown.Cordoning, Data: hand(4)}},
		{Name: refused + ": a drain is not held up, and the back-off has passed", State: refused, Data: hand(3), Facts: of(stopped(3), drain, runs(4), holds(4, 1), fenced), Want: want{Event: "drain-requested", To: kraftscaledown.Cordoning, Data: hand(4)}},
		{Name: refused + ": the end of a drain is not held up", State: refused, Data: hand(3), Facts: of(stopped(3), with(node{ID: 4, Runs: true, Draining: 2}), fenced, atOnce), Want: want{Event: "drain-withdrawn", To: kraftscaledown.EndingDrain, Data: hand(4)}},
		{Name: refused + ": the end of a drain is not held up, and the back-off has passed", State: refused, Data: hand(3), Facts: of(stopped(3), with(node{ID: 4, Runs: true, Draining: 2}), fenced), Want: want{Event: "drain-withdrawn", To: kraftscaledown.EndingDrain, Data: hand(4)}},
		{Name: refused + ": an empty broker is removed before another is drained", State: refused, Data: hand(3), Facts: of(stopped(3), drain, runs(4), holds(4, 1), runs(5), empty(5), fenced), Want: want{Event: "broker-empty", To: kraftscaledown.StoppingNode, Data: hand(5)}},
		{Name: refused + ": a drain is ended before an empty broker is removed", State: refused, Data: hand(3), Facts: of(stopped(3), with(node{ID: 4, Runs: true, Draining: 2}), runs(5), empty(5), fenced), Want: want{Event: "drain-withdrawn", To: kraftscaledown.EndingDrain, Data: hand(4)}},
		in(refused, "the back-off has not passed, and no drain is requested of a broker that holds replicas", 3, of(stopped(3), runs(4), holds(4, 1), fenced, atOnce), waits("time-to-ask-again")),
		in(refused, "no broker is gone any more", 3, of(runs(3)), to("ask-again", gone)),
		in(refused, "the registrations cannot be read", 9, of(brokersSilent), waits("time-to-ask-again")),

		in(releasing, "the record is deleted", 3, of(stopped(3)), want{WaitingFor: []string{"broker-released"}, Effects: release(3)}),
		in(releasing, "the record is deleted with a Kafka before 4.0", 3, of(stopped(3), old), want{WaitingFor: []string{"broker-released"}, Effects: release(3)}),
		in(releasing, "the broker is registered again", 3, of(stopped(3), fenced), to(machines.EventPreconditionFailed, kraftscaledown.AwaitingEmpty)),
		in(releasing, "the pod exists again", 3, of(runs(3)), to(machines.EventPreconditionFailed, kraftscaledown.AwaitingEmpty)),
		in(releasing, "the node is desired again", 3, of(again), to(machines.EventPreconditionFailed, kraftscaledown.AwaitingEmpty)),
		in(releasing, "the registrations cannot be read", 3, of(stopped(3), brokersSilent), want{WaitingFor: []string{"broker-released"}, Blocked: []string{"broker-unlisted"}}),
		{Name: releasing + ": nothing is left", State: releasing, Data: hand(3), Facts: of(runs(4)), Want: want{Event: "released", To: kraftscaledown.AwaitingEmpty}},
	}
}

func TestDefinitionTransitions(t *testing.T) {
	var rows []row
	for _, of := range [][]row{resting(), emptying(), draining(), stopping(), unregistering()} {
		rows = append(rows, of...)
	}
	machinetest.Run(t, compiled(t), rows)
}

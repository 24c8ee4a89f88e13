package kafkaversion_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

// How long things take in the world.
const (
	tick      = 5 * time.Second
	untilUp   = 5 * time.Second  // from the start of a process until its pod is ready
	untilSync = 30 * time.Second // ... and until it is in every ISR
	session   = 20 * time.Second // from when a process is gone until Kafka notices
	settle    = time.Minute      // how long a request without an answer may take effect
)

// world is a cluster of pods that come back when they are deleted, and die where a real binary would. It knows nothing of
// machines. There is one partition with three replicas, on the first three brokers.
type world struct {
	table       *versions.Table
	now         time.Time
	wanted, pin string
	nodes       []*process
	level       int16
	lowered     time.Time // when the level was last lowered
	interval    time.Duration
	finalize    kafkaversion.Finalize
	request     *request
	// began is when the operator's process did; zero for long ago.
	began time.Time
	// answersAfter is how many ticks Kafka takes to change a level.
	answersAfter int
	// restarts in the order in which they were asked for, updates in which they were done, deaths at start, and restarts that
	// took a partition below its minimum or the quorum below its majority.
	restarts []int32
	updates  []int16
	deaths   []string
	harms    []string
	// dropped is a version that no node comes up on unless it is corrected.
	dropped string
}

// process is one node: what its entry says, what runs, and what its disk knows.
type process struct {
	roll.Node
	entry   string    // the version that its pod is made from
	version string    // the version that its pod carries; empty without a pod
	started string    // the version that its disk was last started with
	logged  int16     // the highest level that its log may still hold
	fixed   bool      // made from a corrected template
	left    time.Time // when its last process was gone
}

// request to change a level.
type request struct {
	requestID machines.RequestID
	update    kafka.FeatureUpdate
	status    kafkaversion.Status
	ticks     int
	// orphan is one whose process ended: it may be carried out, and its answer is lost.
	orphan bool
}

func newWorld(table *versions.Table, nodes roll.Facts, version string, level int16) *world {
	w := &world{table: table, now: rolltest.Now, wanted: version, level: level, interval: 10 * time.Minute}
	for _, n := range nodes.Nodes {
		n.StartedAt, n.ReadySince = w.now.Add(-time.Hour), w.now.Add(-time.Hour)
		w.nodes = append(w.nodes, &process{Node: n, entry: version, version: version, started: version, logged: level})
	}
	return w
}

// runs says whether a version runs the level.
func (w *world) runs(version string, level int16) bool {
	v, err := w.table.Find(version)
	if err != nil {
		return false
	}
	row, known := v.Row()
	if !known {
		return false
	}
	levels, _ := row.Range(versions.FeatureMetadata)
	return levels.Contains(level)
}

// pass lets time pass: pods come back, start, die, join.
func (w *world) pass() {
	w.now = w.now.Add(tick)
	w.settleRequest()
	for _, n := range w.nodes {
		switch {
		case n.version == "" && n.entry != "":
			w.start(n)
		case n.Trouble == nil && !n.StartedAt.IsZero() && !n.Ready && w.now.Sub(n.StartedAt) >= untilUp && w.majority():
			n.Ready, n.ReadySince = true, w.now
		}
		switch {
		case n.Ready:
			n.UnreadySince = time.Time{}
		case n.Running && n.UnreadySince.IsZero():
			n.UnreadySince = w.now
		}
		since := n.StartedAt
		if w.lowered.After(since) {
			since = w.lowered
		}
		if n.Ready && w.interval > 0 && w.now.Sub(since) > w.interval {
			n.logged = w.level
		}
	}
}

func (w *world) start(n *process) {
	n.version, n.Running = n.entry, true
	n.fixed = n.fixed || n.Stale
	n.Stale = false
	switch {
	case n.Controller && !w.runs(n.version, n.logged) || !w.runs(n.version, w.level): // a broker alone survives what its log holds
		n.Trouble = transitions.Problemf(roll.ContainerDied, "died: only supports other levels than %d", max(n.logged, w.level))
		w.deaths = append(w.deaths, n.Pod)
	case n.version == w.dropped && !n.fixed:
		n.Trouble = transitions.Problemf(roll.ContainerDied, "died: unknown setting")
	default:
		n.StartedAt, n.started = w.now, n.version
	}
}

// majority says whether a majority of controllers has a process that has come up or is coming up.
func (w *world) majority() bool {
	voters, up := 0, 0
	for _, n := range w.nodes {
		if n.Controller {
			voters++
			if n.Trouble == nil && !n.StartedAt.IsZero() && w.now.Sub(n.StartedAt) >= untilUp {
				up++
			}
		}
	}
	return 2*up > voters
}

func (w *world) settleRequest() {
	r := w.request
	if r == nil || r.status != kafkaversion.Asked {
		return
	}
	r.ticks++
	if r.ticks <= w.answersAfter {
		return
	}
	r.status = kafkaversion.Done
	for _, n := range w.nodes {
		if n.version != "" && !w.runs(n.version, r.update.Level) {
			r.status = kafkaversion.Refused
			return
		}
	}
	if r.update.Level < w.level {
		w.lowered = w.now
	}
	if r.update.Level != w.level {
		w.updates = append(w.updates, r.update.Level)
	}
	w.level = r.update.Level
	for _, n := range w.nodes {
		n.logged = max(n.logged, w.level)
	}
}

// execute carries out what the machine wants.
func (w *world) execute(e kafkaversion.Effect, requestID machines.RequestID) {
	switch {
	case e.Restart != nil:
		n := w.nodes[e.Restart.Node]
		if n.version != "" {
			w.restarts = append(w.restarts, n.ID)
			w.judge(n)
		}
		n.entry = e.Restart.Version
		w.kill(n)
	case e.Update != nil && (w.request == nil || w.request.requestID != requestID):
		w.request = &request{requestID: requestID, update: *e.Update, status: kafkaversion.Asked}
	}
}

// kill takes the pod of a node away. It comes back from its entry.
func (w *world) kill(n *process) {
	if n.version != "" {
		n.left = w.now
	}
	n.version, n.Running, n.Ready, n.StartedAt, n.UnreadySince, n.Trouble = "", false, false, time.Time{}, time.Time{}, nil
}

// truly reports whether the node takes part, independently of Kafka's snapshot.
func (w *world) truly(n *process) bool {
	since := untilSync
	if !n.Broker {
		since = untilUp
	}
	return n.Ready && w.now.Sub(n.StartedAt) >= since
}

// judge notes what taking the node away does.
func (w *world) judge(n *process) {
	voters, caughtUp, replicas, inSync := 0, 0, 0, 0
	for _, o := range w.nodes {
		there := o != n && w.truly(o)
		if o.Controller {
			voters++
			if there {
				caughtUp++
			}
		}
		if o.Broker && replicas < 3 {
			replicas++
			if there {
				inSync++
			}
		}
	}
	if n.Ready && n.Controller && voters > 2 && 2*caughtUp <= voters {
		w.harms = append(w.harms, fmt.Sprintf("restarting %s left %d of %d voters", n.Pod, caughtUp, voters))
	}
	if w.truly(n) && n.Broker && replicas > 2 && inSync < 2 {
		w.harms = append(w.harms, fmt.Sprintf("restarting %s left %d replicas in sync", n.Pod, inSync))
	}
}

// restartOperator ends the operator's process and begins another.
func (w *world) restartOperator() {
	w.began = w.now
	if w.request != nil {
		w.request.orphan = true
	}
}

// inFlight is what the operator knows of requests with an uncertain outcome.
func (w *world) inFlight() kafkaversion.InFlight {
	if r := w.request; r != nil && r.status == kafkaversion.Asked && !r.orphan {
		return kafkaversion.InFlight{Until: w.now.Add(settle), Sent: true}
	}
	if w.began.IsZero() {
		return kafkaversion.InFlight{}
	}
	return kafkaversion.InFlight{Until: w.began.Add(settle)}
}

// install makes the pods of a cluster that never ran.
func (w *world) install() {
	for _, n := range w.nodes {
		n.entry = w.wanted
	}
}

// observe takes the machine's facts.
func (w *world) observe(ask machines.ObserveOptions) kafkaversion.Facts {
	f := kafkaversion.Facts{
		Situation: decision.Situation{Table: w.table, WantedVersion: w.wanted, WantedMetadata: w.pin},
		Finalize:  w.finalize, Attempt: ask.Attempt, EnteredAt: ask.EnteredAt, Pause: time.Minute,
		Roll: roll.Facts{Now: w.now, SessionTimeout: session, FetchTimeout: 2 * time.Second},
	}
	f.InFlight = w.inFlight()
	if w.request != nil && w.request.requestID == ask.RequestID && !w.request.orphan {
		f.Answer = kafkaversion.Answer{Status: w.request.status, Text: "only supports other levels"}
	}
	for _, n := range w.nodes {
		node := n.Node
		version := n.version
		if version == "" {
			version = n.entry
		}
		node.Outdated = version != "" && version != w.wanted
		f.Roll.Nodes = append(f.Roll.Nodes, node)
		if n.version != "" || n.started != "" {
			f.Situation.Nodes = append(f.Situation.Nodes, decision.NodeVersions{
				ID: n.ID, Name: n.Pod, HasPod: n.version != "", Runs: n.version, LastStarted: n.started, NeverStarted: n.started == "",
			})
		}
		if n.Broker {
			f.Wanted = append(f.Wanted, n.ID)
		}
		if n.logged > w.level {
			f.Disks = append(f.Disks, kafkaversion.Disk{
				Node: n.ID, Interval: w.interval, Highest: map[string]int16{versions.FeatureMetadata: n.logged},
				LoweredAt: map[string]time.Time{versions.FeatureMetadata: w.lowered},
			})
		}
	}
	w.observeKafka(&f, ask)
	return f
}

// observeKafka asks Kafka, which answers while it serves.
func (w *world) observeKafka(f *kafkaversion.Facts, ask machines.ObserveOptions) {
	quorum, brokers, partition := w.cluster()
	members := roll.Members{}
	for _, n := range w.nodes {
		members[n.ID] = roll.Membership{Controller: n.Controller && n.Ready, Broker: n.Broker && n.Ready}
	}
	f.Roll.Members = transitions.Known(members, w.now)
	serves := quorum.Leader != kafka.NoLeader && slices.ContainsFunc(w.nodes, func(n *process) bool { return n.Broker && n.Ready })
	if !serves {
		rolltest.Silent(&f.Roll)
		f.Features = transitions.Unreadable[kafka.Features](rolltest.ErrSilent)
	} else {
		suspect := kafka.Partitions{}
		if len(partition.ISR) < len(partition.Replicas) {
			suspect.Suspect = []kafka.Partition{partition}
		}
		f.Roll.Quorum, f.Roll.Brokers = transitions.Known(quorum, w.now), transitions.Known(brokers, w.now)
		f.Roll.Partitions = transitions.Known(suspect, w.now)
		f.Features = transitions.Known(kafka.Features{Finalized: map[string]int16{versions.FeatureMetadata: w.level}}, w.now)
	}
	blank(f, ask)
}

// blank leaves out what was not asked for.
func blank(f *kafkaversion.Facts, ask machines.ObserveOptions) {
	if !ask.Wants(roll.NeedQuorum) {
		f.Roll.Quorum = transitions.Fact[kafka.Quorum]{}
	}
	if !ask.Wants(roll.NeedPartitions) {
		f.Roll.Partitions = transitions.Fact[kafka.Partitions]{}
	}
	if !ask.Wants(roll.NeedBrokers) {
		f.Roll.Brokers = transitions.Fact[kafka.Brokers]{}
	}
	if !ask.Wants(roll.NeedMembers) {
		f.Roll.Members = transitions.Fact[roll.Members]{}
	}
	if !ask.Wants(kafkaversion.NeedFeatures) {
		f.Features = transitions.Fact[kafka.Features]{}
	}
}

// cluster is Kafka's view of itself.
func (w *world) cluster() (kafka.Quorum, kafka.Brokers, kafka.Partition) {
	quorum := kafka.Quorum{Leader: kafka.NoLeader}
	brokers := kafka.Brokers{FencingReported: true}
	partition := kafka.Partition{Topic: "orders", MinISR: 2}
	for _, n := range w.nodes {
		if n.Controller {
			v := kafka.QuorumReplica{ID: n.ID, LastFetchMillis: kafka.NotReported, LastCaughtUpMillis: kafka.NotReported}
			if n.Ready {
				v.LastFetchMillis, v.LastCaughtUpMillis = w.now.UnixMilli(), w.now.UnixMilli()
			}
			quorum.Voters = append(quorum.Voters, v)
			// The first that is ready leads, if there is a majority.
			if n.Ready && quorum.Leader == kafka.NoLeader && w.majority() {
				quorum.Leader = n.ID
			}
		}
		if !n.Broker {
			continue
		}
		unnoticed := !n.left.IsZero() && w.now.Before(n.left.Add(session))
		inSync := unnoticed || n.Ready && w.now.Sub(n.StartedAt) >= untilSync
		fencing := kafka.Fenced
		if n.Ready || unnoticed {
			fencing = kafka.Unfenced
		}
		brokers.Brokers = append(brokers.Brokers, kafka.Broker{ID: n.ID, Fencing: fencing})
		if len(partition.Replicas) < 3 {
			partition.Replicas = append(partition.Replicas, n.ID)
			if inSync {
				partition.ISR = append(partition.ISR, n.ID)
			}
		}
	}
	return quorum, brokers, partition
}

// carrying lists the nodes that carry, or are about to carry, a version.
func (w *world) carrying(version string) []int32 {
	var out []int32
	for _, n := range w.nodes {
		if n.entry == version {
			out = append(out, n.ID)
		}
	}
	return out
}

// running lists the nodes that have a pod of a version.
func (w *world) running(version string) []int32 {
	var out []int32
	for _, n := range w.nodes {
		if n.version == version {
			out = append(out, n.ID)
		}
	}
	return out
}

// restarted counts restarts per node.
func (w *world) restarted() map[int32]int {
	out := map[int32]int{}
	for _, id := range w.restarts {
		out[id]++
	}
	return out
}

// once is one restart of each of the nodes.
func once(ids []int32) map[int32]int {
	out := map[int32]int{}
	for _, id := range ids {
		out[id] = 1
	}
	return out
}

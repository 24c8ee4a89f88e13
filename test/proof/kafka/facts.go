package kafka

import (
	"errors"
	"fmt"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

var errSilent = errors.New("connection refused")

// observe returns the facts of both machines. Costly facts are only included if they are requested.
func observe(w *World, c *Cluster, v *Snapshot, request *lifecycle.ObserveRequest) kafkaversion.Facts {
	f := kafkaversion.Facts{
		Situation: kafkaversion.Situation{Table: w.table, WantedVersion: c.Version, WantedMetadata: c.Pin},
		Finalize:  kafkaversion.Finalize{Soak: c.Soak, ByApproval: c.ByApproval, Approved: c.Approved},
		Pause:     time.Minute, SpecError: c.Broken, Roll: roll.Facts{Now: request.Now, SessionTimeout: session, FetchTimeout: fetch},
	}
	for i, pod := range v.Pods {
		n := roll.Node{ID: int32(i), Pod: podName(i), Controller: true, Broker: true} //nolint:gosec // three
		known := kafkaversion.NodeVersions{ID: n.ID, Name: n.Pod, LastStarted: w.nodes[i].version, NeverStarted: w.nodes[i].version == ""}
		if pod != nil {
			n.Running, n.Ready, n.StartedAt, n.Trouble = true, pod.Ready, pod.StartedAt, pod.Trouble
			if n.ReadySince = pod.ReadySince; !pod.Ready {
				n.ReadySince, n.UnreadySince = time.Time{}, pod.ReadySince
			}
			n.NeverStarted = pod.StartedAt.IsZero() && (pod.Trouble == "" || pod.Trouble == stuckHere)
			known.HasPod, known.Runs = true, pod.Version
		}
		f.Roll.Nodes = append(f.Roll.Nodes, n)
		f.Situation.Nodes = append(f.Situation.Nodes, known)
		f.Wanted = append(f.Wanted, n.ID)
		if logged := max(w.nodes[i].logged, w.nodes[i].recorded); logged > w.Level { // as its record remembers it
			every := interval
			if w.nodes[i].never {
				every = 0
			}
			f.Disks = append(f.Disks, kafkaversion.Disk{
				Node: n.ID, Interval: every, Highest: map[string]int16{versions.FeatureMetadata: logged},
				LoweredAt: map[string]time.Time{versions.FeatureMetadata: w.lowered},
			})
		}
	}
	switch r := w.request; {
	case r == nil:
	case r.requestID == request.RequestIDs["version"]:
		f.Answer = kafkaversion.Answer{Status: r.status, Text: "refused"}
	case r.status == kafkaversion.Asked:
		f.InFlight = kafkaversion.InFlight{Until: request.Now.Add(settle), Sent: true}
	}
	ask(w, &f, v, request)
	return f
}

// ask reads the requested facts from Kafka.
func ask(w *World, f *kafkaversion.Facts, v *Snapshot, request *lifecycle.ObserveRequest) {
	serves := !w.Silent && w.majority()
	for i := range w.nodes {
		serves = serves || !w.Silent && w.majority() && w.nodes[i].ready
	}
	if request.Wants(kafkaversion.NeedFeatures) {
		f.Features = told(serves, request, kafka.Features{Finalized: map[string]int16{versions.FeatureMetadata: w.Level}})
	}
	if request.Wants(roll.NeedQuorum) {
		f.Roll.Quorum = told(serves, request, w.quorum(request.Now))
	}
	if request.Wants(roll.NeedPartitions) {
		f.Roll.Partitions = told(serves, request, w.partitions(request.Now))
	}
	if request.Wants(roll.NeedBrokers) {
		f.Roll.Brokers = told(serves, request, w.brokers(request.Now))
	}
	if request.Wants(roll.NeedMembers) {
		f.Roll.Members = transitions.Known(w.members(f, v), request.Now)
	}
}

// members returns the answers of nodes that are asked directly: those that are not ready, and all of them while there is no
// majority.
func (w *World) members(f *kafkaversion.Facts, v *Snapshot) roll.Members {
	ready := 0
	for i := range f.Roll.Nodes {
		if f.Roll.Nodes[i].Ready {
			ready++
		}
	}
	out := roll.Members{}
	for i := range f.Roll.Nodes {
		n := &f.Roll.Nodes[i]
		if n.Running && (!n.Ready || 2*ready <= Nodes) {
			serves := !w.Silent && w.majority() && w.nodes[i].ready
			answers := !w.Silent && w.nodes[i].runs() && w.nodes[i].pod == v.Pods[i].UID
			out[n.ID] = roll.Membership{Controller: serves, Broker: serves, Answered: answers}
		}
	}
	return out
}

func told[T any](serves bool, request *lifecycle.ObserveRequest, value T) transitions.Fact[T] {
	if !serves {
		return transitions.Unreadable[T](errSilent)
	}
	return transitions.Known(value, request.Now)
}

func (w *World) quorum(now time.Time) kafka.Quorum {
	q := kafka.Quorum{Leader: kafka.NoLeader}
	for i := range w.nodes {
		n := &w.nodes[i]
		v := kafka.QuorumReplica{ID: int32(i), LastFetchMillis: kafka.NotTold, LastCaughtUpMillis: kafka.NotTold} //nolint:gosec // three
		if n.ready || w.unnoticed(n, now) && now.Before(n.left.Add(fetch)) {
			v.LastFetchMillis = now.UnixMilli()
		}
		if n.synced || w.unnoticed(n, now) && n.inSyncThen && now.Before(n.left.Add(fetch)) {
			v.LastCaughtUpMillis = now.UnixMilli()
		}
		if n.ready && n.synced && q.Leader == kafka.NoLeader {
			q.Leader = v.ID
		}
		q.Voters = append(q.Voters, v)
	}
	return q
}

func (w *World) partitions(now time.Time) kafka.Partitions {
	p := kafka.Partition{Topic: "orders", MinISR: minISR}
	for i := range w.nodes {
		n := &w.nodes[i]
		p.Replicas = append(p.Replicas, int32(i)) //nolint:gosec // three
		if n.synced && !n.behind || w.unnoticed(n, now) && n.inSyncThen {
			p.ISR = append(p.ISR, int32(i)) //nolint:gosec // three
		}
	}
	if len(p.ISR) == 0 {
		p.Leader = kafka.NoLeader
	}
	var out kafka.Partitions
	out.Add(p)
	return out
}

func (w *World) brokers(now time.Time) kafka.Brokers {
	b := kafka.Brokers{FencingTold: true}
	for i := range w.nodes {
		n := &w.nodes[i]
		fencing := kafka.Fenced
		if n.ready || w.unnoticed(n, now) {
			fencing = kafka.Unfenced
		}
		b.Brokers = append(b.Brokers, kafka.Broker{ID: int32(i), Fencing: fencing}) //nolint:gosec // three
	}
	if w.ghost {
		const removed = 7
		b.Brokers = append(b.Brokers, kafka.Broker{ID: removed, Fencing: kafka.Fenced})
	}
	return b
}

func observeVersion(c *Cluster, v *Snapshot, asked machines.ObserveOptions) kafkaversion.Facts {
	f := v.Facts
	f.Attempt, f.EnteredAt = asked.Attempt, asked.EnteredAt
	f.Roll.Nodes = outdated(f.Roll.Nodes, func(i int) bool { return runningVersion(v, i) != c.Version })
	for i := range f.Roll.Nodes {
		f.Roll.Nodes[i].Stale = !f.Roll.Nodes[i].Outdated && runningConfig(v, i) != c.Config
	}
	if !asked.Wants(kafkaversion.NeedFeatures) {
		f.Features = transitions.Fact[kafka.Features]{}
	}
	blank(&f.Roll, asked)
	return f
}

func observeRoll(c *Cluster, v *Snapshot, asked machines.ObserveOptions) noderoll.Facts {
	f := noderoll.Facts{Roll: v.Facts.Roll, Wanted: fmt.Sprint(c.Config), VersionChange: versionChange(c, v), SpecError: c.Broken}
	if asked.Wants(noderoll.NeedSlot) {
		f.Slot = transitions.Known(v.Slot, v.Facts.Roll.Now)
	}
	f.Roll.Nodes = outdated(f.Roll.Nodes, func(i int) bool { return runningConfig(v, i) != c.Config })
	blank(&f.Roll, asked)
	return f
}

// versionChange returns why the version change owns the restarts for now. A refused version change leaves them to the roll.
func versionChange(c *Cluster, v *Snapshot) string {
	for i := range v.Pods {
		if runningVersion(v, i) == c.Version {
			continue
		}
		s := v.Facts.Situation
		if v.Facts.Features.Asked() {
			if features, known := v.Facts.Features.Get(); known {
				s.Finalized = kafkaversion.FinalizedLevels{Known: true, Levels: features.Finalized}
			}
		}
		if d := kafkaversion.Decide(s); d.Outcome == kafkaversion.OutcomeRefused {
			return ""
		}
		return podName(i) + " is on its way to another version"
	}
	return ""
}

func outdated(nodes []roll.Node, is func(int) bool) []roll.Node {
	out := make([]roll.Node, len(nodes))
	for i := range nodes {
		out[i] = nodes[i]
		out[i].Outdated = is(i)
	}
	return out
}

// blank clears the facts that were not requested.
func blank(f *roll.Facts, asked machines.ObserveOptions) {
	if !asked.Wants(roll.NeedQuorum) {
		f.Quorum = transitions.Fact[kafka.Quorum]{}
	}
	if !asked.Wants(roll.NeedPartitions) {
		f.Partitions = transitions.Fact[kafka.Partitions]{}
	}
	if !asked.Wants(roll.NeedBrokers) {
		f.Brokers = transitions.Fact[kafka.Brokers]{}
	}
	if !asked.Wants(roll.NeedMembers) {
		f.Members = transitions.Fact[roll.Members]{}
	}
}

// availability returns which nodes are available, from a live snapshot.
func availability(_ *Cluster, v *Snapshot) lifecycle.Availability {
	f := v.Facts.Roll
	f.Quorum, f.Partitions = orUnreadable(f.Quorum), orUnreadable(f.Partitions)
	f.Brokers, f.Members = orUnreadable(f.Brokers), orUnreadable(f.Members)
	a := lifecycle.Availability{NothingServing: roll.NothingServing(&f).Answer == transitions.Yes}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		m := lifecycle.Member{
			Name: fmt.Sprint(i), Running: n.Running && (!n.StartedAt.IsZero() || n.Trouble != ""), Ready: n.Ready,
			Serving: roll.Serving(&f, n).Answer, InSync: !f.Now.Before(n.StartedAt.Add(session)) && !behind(&f, n.ID),
		}
		if m.Serving == transitions.Yes && !n.Ready && !roll.Available(&f, n) {
			m.Serving = transitions.Unknown
		}
		if v.Pods[i] != nil {
			m.Instance = string(v.Pods[i].UID)
		}
		a.Members = append(a.Members, m)
	}
	return a
}

func orUnreadable[T any](fact transitions.Fact[T]) transitions.Fact[T] {
	if !fact.Asked() {
		return transitions.Unreadable[T](errSilent)
	}
	return fact
}

func behind(f *roll.Facts, id int32) bool {
	partitions, known := f.Partitions.Get()
	return known && len(kafka.OutOfSync(partitions.Suspect, id)) > 0
}

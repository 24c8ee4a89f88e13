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

// observe takes the facts that both machines rest on. Costly ones are there only if they are wanted.
func observe(w *World, c *Cluster, v *View, look *lifecycle.Viewing) kafkaversion.Facts {
	f := kafkaversion.Facts{
		Situation: kafkaversion.Situation{Table: w.table, WantedVersion: c.Version, WantedMetadata: c.Pin},
		Finalize:  kafkaversion.Finalize{Soak: c.Soak, ByApproval: c.ByApproval, Approved: c.Approved},
		Pause:     time.Minute, Obstacle: c.Broken, Roll: roll.Facts{Now: look.Now, SessionTimeout: session, FetchTimeout: fetch},
	}
	ready := 0
	last := time.Time{}
	for i, pod := range v.Pods {
		n := roll.Node{ID: int32(i), Pod: podName(i), Controller: true, Broker: true} //nolint:gosec // three
		known := kafkaversion.NodeVersions{ID: n.ID, Name: n.Pod, LastStarted: w.nodes[i].version, NeverStarted: w.nodes[i].version == ""}
		if pod != nil {
			n.Running, n.Ready, n.ReadySince, n.StartedAt, n.Trouble = true, pod.Ready, pod.ReadySince, pod.StartedAt, pod.Trouble
			known.HasPod, known.Runs = true, pod.Version
			if pod.Ready {
				ready++
			} else if pod.ReadySince.After(last) {
				last = pod.ReadySince
			}
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
	const lull = 10 * time.Second
	f.Roll.NothingServing = 2*ready <= Nodes && look.Now.Sub(last) >= lull
	switch r := w.request; {
	case r == nil:
	case r.ticket == look.Tickets["version"]:
		f.Answer = kafkaversion.Answer{Status: r.status, Text: "refused"}
	case r.status == kafkaversion.Asked:
		f.Doubt = kafkaversion.Doubt{Until: look.Now.Add(settle), Sent: true}
	}
	ask(w, &f, look)
	return f
}

// ask asks Kafka for what is wanted.
func ask(w *World, f *kafkaversion.Facts, look *lifecycle.Viewing) {
	serves := !w.Silent && w.majority()
	for i := range w.nodes {
		serves = serves || !w.Silent && w.majority() && w.nodes[i].ready
	}
	if look.Wants(kafkaversion.NeedFeatures) {
		f.Features = told(serves, look, kafka.Features{Finalized: map[string]int16{versions.FeatureMetadata: w.Level}})
	}
	if look.Wants(roll.NeedQuorum) {
		f.Roll.Quorum = told(serves, look, w.quorum(look.Now))
	}
	if look.Wants(roll.NeedPartitions) {
		f.Roll.Partitions = told(serves, look, w.partitions(look.Now))
	}
	if look.Wants(roll.NeedBrokers) {
		f.Roll.Brokers = told(serves, look, w.brokers(look.Now))
	}
}

func told[T any](serves bool, look *lifecycle.Viewing, value T) transitions.Fact[T] {
	if !serves {
		return transitions.Unreadable[T](errSilent)
	}
	return transitions.Known(value, look.Now)
}

func (w *World) quorum(now time.Time) kafka.Quorum {
	q := kafka.Quorum{Leader: kafka.NoLeader}
	for i := range w.nodes {
		n := &w.nodes[i]
		v := kafka.QuorumReplica{ID: int32(i), LastCaughtUpMillis: kafka.NotTold} //nolint:gosec // three
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

func observeVersion(c *Cluster, v *View, asked machines.Ask) kafkaversion.Facts {
	f := v.Facts
	f.Attempt, f.EnteredAt = asked.Attempt, asked.EnteredAt
	f.Roll.Nodes = outdated(f.Roll.Nodes, func(i int) bool { return runningVersion(v, i) != c.Version })
	for i := range f.Roll.Nodes {
		f.Roll.Nodes[i].Stale = !f.Roll.Nodes[i].Outdated && runningConfig(v, i) != c.Config
	}
	if !asked.For(kafkaversion.NeedFeatures) {
		f.Features = transitions.Fact[kafka.Features]{}
	}
	blank(&f.Roll, asked)
	return f
}

func observeRoll(c *Cluster, v *View, asked machines.Ask) noderoll.Facts {
	f := noderoll.Facts{Roll: v.Facts.Roll, Wanted: fmt.Sprint(c.Config), VersionChange: versionChange(c, v), Obstacle: c.Broken}
	f.Roll.Nodes = outdated(f.Roll.Nodes, func(i int) bool { return runningConfig(v, i) != c.Config })
	blank(&f.Roll, asked)
	return f
}

// versionChange says why restarts are the version change's for now. One that is refused leaves them to the roll.
func versionChange(c *Cluster, v *View) string {
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

// blank leaves out what was not asked for.
func blank(f *roll.Facts, asked machines.Ask) {
	if !asked.For(roll.NeedQuorum) {
		f.Quorum = transitions.Fact[kafka.Quorum]{}
	}
	if !asked.For(roll.NeedPartitions) {
		f.Partitions = transitions.Fact[kafka.Partitions]{}
	}
	if !asked.For(roll.NeedBrokers) {
		f.Brokers = transitions.Fact[kafka.Brokers]{}
	}
}

// disturbed says which nodes are not fully serving, from a live view.
func disturbed(_ *Cluster, v *View) lifecycle.Disturbance {
	f := v.Facts.Roll
	d := lifecycle.Disturbance{NothingServing: f.NothingServing, Instances: map[string]string{}}
	for i := range f.Nodes {
		n, target := &f.Nodes[i], fmt.Sprint(i)
		if v.Pods[i] != nil {
			d.Instances[target] = string(v.Pods[i].UID)
		}
		switch {
		case !n.Running || n.StartedAt.IsZero() && n.Trouble == "":
			d.Restarting = append(d.Restarting, target)
			fallthrough
		case !n.Ready:
			d.Down = append(d.Down, target)
			fallthrough
		case f.Now.Before(n.StartedAt.Add(session)) || behind(&f, n.ID):
			d.Targets = append(d.Targets, target)
		}
	}
	return d
}

func behind(f *roll.Facts, id int32) bool {
	if !f.Partitions.Asked() {
		return false
	}
	partitions, known := f.Partitions.Get()
	return known && len(kafka.OutOfSync(partitions.Suspect, id)) > 0
}

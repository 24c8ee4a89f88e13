package kafka

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

var errSilent = errors.New("connection refused")

// observe returns the facts of all machines. Costly facts are only included if they are requested.
func observe(w *World, c *Cluster, v *Snapshot, request *lifecycle.ObserveRequest) kafkaversion.Facts {
	f := kafkaversion.Facts{
		Situation: decision.Situation{Table: w.table, WantedVersion: c.Version, WantedMetadata: c.Pin},
		Finalize:  kafkaversion.Finalize{Soak: c.Soak, ByApproval: c.ByApproval, Approved: c.approved(approveRaise)},
		Pause:     time.Minute, SpecError: c.specError(), Roll: roll.Facts{Now: request.Now, SessionTimeout: session, FetchTimeout: fetch},
		Answer: w.answerTo(request.RequestIDs["version"]), InFlight: w.inFlight(request.RequestIDs["version"], request.Now),
	}
	for i, pod := range v.Pods {
		n := roll.Node{ID: int32(i), Pod: podName(i), Controller: true, Broker: true} //nolint:gosec // three
		known := decision.NodeVersions{ID: n.ID, Name: n.Pod, LastStarted: w.nodes[i].version, NeverStarted: w.nodes[i].version == ""}
		if pod != nil {
			n.Running, n.Ready, n.StartedAt, n.Trouble = true, pod.Ready, pod.StartedAt, pod.trouble()
			if n.ReadySince = pod.ReadySince; !pod.Ready {
				n.ReadySince, n.UnreadySince = time.Time{}, pod.ReadySince
			}
			n.NeverStarted = pod.neverStarted()
			known.HasPod, known.Runs = true, v.version(i)
			if !sameNumber(pod.Version, known.Runs) {
				known.Contradiction = transitions.Problemf(decision.ReasonPodContradicted, "%s runs another version than recorded", pod.Name)
			}
		}
		known.Unproven = v.unproven(i)
		f.Roll.Nodes = append(f.Roll.Nodes, n)
		f.Situation.Nodes = append(f.Situation.Nodes, known)
		f.Wanted = append(f.Wanted, n.ID)
		if d, remembered := w.disk(i); remembered {
			f.Disks = append(f.Disks, d)
		}
	}
	ask(w, &f, v, request)
	return f
}

// remembers returns the highest level that the log of the node may hold, by its record.
func (w *World) remembers(i int) int16 { return max(w.nodes[i].logged, w.nodes[i].recorded, w.Level) }

// disk returns what the record of the node contains about levels in its log that are not finalized any more.
func (w *World) disk(i int) (kafkaversion.Disk, bool) {
	logged := w.remembers(i)
	if logged <= w.Level {
		return kafkaversion.Disk{}, false
	}
	return kafkaversion.Disk{
		Node: int32(i), Interval: w.nodes[i].interval(), Highest: map[string]int16{versions.FeatureMetadata: logged}, //nolint:gosec // three
		LoweredAt: map[string]time.Time{versions.FeatureMetadata: w.lowered},
	}, true
}

// version returns the version of the node's pod, by its entry and its record, which the pod's image may confirm; without a pod the
// version on which it would be recreated.
func (v *Snapshot) version(i int) string {
	entry, recorded, pod := v.entry(i).Version, v.Started[i], v.Pods[i]
	switch {
	case pod == nil:
		return cmp.Or(entry, recorded)
	case entry == "" && recorded == "":
		return pod.Version
	case entry == "":
		return recorded
	case recorded == "", recorded == entry:
		return entry
	case !sameNumber(pod.Version, entry), pod.Version != entry && pod.Version == recorded:
		return recorded
	}
	return entry
}

// specError returns why the spec is invalid; nil if it is valid.
func (c *Cluster) specError() *transitions.Problem {
	if c.Broken == "" {
		return nil
	}
	return transitions.Problemf(nodeids.ReasonRefused, "%s", c.Broken)
}

// trouble returns why the pod does not come up; nil if it does.
func (p *Pod) trouble() *transitions.Problem {
	switch p.Trouble {
	case "":
		return nil
	case stuckHere:
		return transitions.Problemf(roll.ContainerNotStarted, "%s", p.Trouble)
	default:
		return transitions.Problemf(roll.ContainerDied, "%s", p.Trouble)
	}
}

// unproven returns why the node is not proven to run the version of its pod; nil if it is.
func (v *Snapshot) unproven(i int) *transitions.Problem {
	switch pod := v.Pods[i]; {
	case pod == nil:
		return transitions.Problemf("PodMissing", "has no pod")
	case !sameNumber(pod.Version, v.version(i)):
		return transitions.Problemf(decision.ReasonPodContradicted, "its image is of another version")
	case v.Started[i] != v.version(i):
		return transitions.Problemf("StartNotRecorded", "its record does not contain its version yet")
	case v.entry(i) != pod.Entry:
		return transitions.Problemf("PodDiffersFromEntry", "its pod is not the one of its entry")
	}
	return nil
}

// entry returns the entry of the node in the set; the zero Entry if it has none.
func (v *Snapshot) entry(i int) Entry {
	if v.Set == nil {
		return Entry{}
	}
	return v.Set.Entries[i]
}

// runs returns what the pod of the node was created from, or would be.
func (v *Snapshot) runs(i int) Entry {
	if p := v.Pods[i]; p != nil {
		return p.Entry
	}
	return v.entry(i)
}

// outdated reports whether the node differs from its desired state on the version that it runs.
func (v *Snapshot) outdated(c *Cluster, i int) bool {
	runs := v.runs(i)
	return runs.Version != "" && runs != (Entry{Version: v.version(i), Config: c.Config})
}

// sameNumber reports whether two versions are builds of the same release.
func sameNumber(a, b string) bool {
	core := func(version string) string { number, _, _ := strings.Cut(version, "-"); return number }
	return core(a) == core(b)
}

// ask reads the requested facts from Kafka.
func ask(w *World, f *kafkaversion.Facts, v *Snapshot, request *lifecycle.ObserveRequest) {
	serves := w.serves()
	if request.Wants(kafkaversion.NeedFeatures) {
		f.Features = answered(serves, request, w.features())
	}
	if request.Wants(roll.NeedQuorum) {
		f.Roll.Quorum = answered(serves, request, w.quorum(request.Now))
	}
	if request.Wants(roll.NeedPartitions) {
		f.Roll.Partitions = answered(serves, request, w.partitions(request.Now))
	}
	if request.Wants(roll.NeedBrokers) {
		f.Roll.Brokers = answered(serves, request, w.brokers(request.Now))
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
			out[n.ID] = w.member(i, v.Pods[i])
		}
	}
	return out
}

func answered[T any](serves bool, request *lifecycle.ObserveRequest, value T) transitions.Fact[T] {
	if !serves {
		return transitions.Unreadable[T](errSilent)
	}
	return transitions.Known(value, request.Now)
}

func observeVersion(c *Cluster, v *Snapshot, asked machines.ObserveOptions) kafkaversion.Facts {
	f := v.Facts
	f.Attempt, f.EnteredAt = asked.Attempt, asked.EnteredAt
	f.Roll.Nodes = outdated(f.Roll.Nodes, func(i int) bool { return v.version(i) != "" && v.version(i) != c.Version })
	for i := range f.Roll.Nodes {
		f.Roll.Nodes[i].Stale = !f.Roll.Nodes[i].Outdated && v.outdated(c, i)
	}
	if !asked.Wants(kafkaversion.NeedFeatures) {
		f.Features = transitions.Fact[kafka.Features]{}
	}
	blank(&f.Roll, asked)
	return f
}

func observeRoll(c *Cluster, v *Snapshot, asked machines.ObserveOptions) noderoll.Facts {
	f := noderoll.Facts{Roll: v.Facts.Roll, Wanted: fmt.Sprint(c.Config), VersionChange: versionChange(c, v), SpecError: c.specError()}
	for i := range v.Pods {
		f.Wanted += " " + v.version(i) // what is desired of a node includes its version
	}
	if asked.Wants(noderoll.NeedSlot) {
		f.Slot = transitions.Known(v.Slot, v.Facts.Roll.Now)
	}
	f.Roll.Nodes = outdated(f.Roll.Nodes, func(i int) bool { return v.outdated(c, i) })
	blank(&f.Roll, asked)
	return f
}

func observeStorage(c *Cluster, v *Snapshot, asked machines.ObserveOptions) nodestorage.Facts {
	f := nodestorage.Facts{Roll: v.Facts.Roll, Namespace: namespace, Cluster: cluster, Approved: c.approved(approveFormat)}
	f.Roll.Nodes = outdated(f.Roll.Nodes, func(int) bool { return false })
	blank(&f.Roll, asked)
	if asked.RequestID.State != nodestorage.Intact {
		f.Attempt = asked.Attempt
	}
	for i, pod := range v.Pods {
		if v.Format[i] == formatNew {
			continue // it has never run
		}
		n := nodestorage.Node{ID: int32(i), Pod: podName(i), Controller: true, Broker: true} //nolint:gosec // three
		if pod != nil {
			n.Trouble = pod.trouble()
			if !pod.Ready {
				n.DownSince = pod.ReadySince
			}
		}
		switch {
		case v.Format[i] == formatAgain:
			n.Storage = nodestorage.Allowed
		case pod == nil:
		case pod.Trouble == storageLost:
			n.Storage = nodestorage.Lost
		case !pod.neverStarted():
			n.Storage = nodestorage.Kept
		}
		if pod != nil && pod.Trouble == storageLost {
			n.Directories = []string{logDirectory}
		}
		f.Nodes = append(f.Nodes, n)
	}
	return f
}

// versionChange returns why the version change owns the restarts for now. A refused version change leaves them to the roll.
func versionChange(c *Cluster, v *Snapshot) *transitions.Problem {
	for i := range v.Pods {
		if version := v.version(i); version == "" || version == c.Version {
			continue
		}
		f := v.Facts
		f.Roll.Nodes = outdated(f.Roll.Nodes, func(i int) bool { return v.version(i) != c.Version })
		if f.Refused() {
			return nil
		}
		return transitions.Problemf("VersionChange", "%s is not on the desired version yet", podName(i))
	}
	return nil
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
			Name: fmt.Sprint(i), Title: podName(i), Running: n.Running && (!n.StartedAt.IsZero() || n.Trouble != nil), Lost: n.Stranded(), Ready: n.Ready,
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

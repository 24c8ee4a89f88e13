package kafka

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
)

const (
	session = 9 * time.Second // from when a process is gone until Kafka notices
	fetch   = 2 * time.Second // how far behind the leader a voter may be
	minISR  = 2
	// interval after which a process takes a snapshot of its log.
	interval = 20 * time.Second
	// settle is the time in which a request may take effect.
	settle = time.Minute
)

// World is Kafka: processes, disks, and what the brokers report.
type World struct {
	table *versions.Table
	// Level of metadata.version.
	Level int16
	nodes [Nodes]process
	// lowered is when the level was last lowered.
	lowered time.Time
	// request is the last request to change the level.
	request *request
	// Silent means that Kafka does not answer.
	Silent bool
	// staleRegistration means that a removed broker is still registered.
	staleRegistration bool
	// noSlot means that another cluster holds the only slot.
	noSlot bool
	// meddled means that another writer has changed an entry.
	meddled bool
	// Harm is the first damage that was done. Every state is checked for it.
	Harm string
}

// process of a node, and its disk.
type process struct {
	// pod whose process runs; empty if none runs.
	pod types.UID
	// version that runs, or ran last. The node's record contains it.
	version string
	started time.Time
	// ready is the readiness that the process reports. synced means that it is in every ISR and has caught up with the quorum.
	ready, synced bool
	// left is when the previous process ended, or the zero time if Kafka has noticed.
	left time.Time
	// inSyncThen means that the previous process was in every ISR when it ended.
	inSyncThen bool
	// logged is the highest level in its log.
	logged int16
	// broken means that its pod does not come up.
	broken bool
	// behind means that it is out of an ISR although it has caught up with the quorum.
	behind bool
	// recorded is a level that its record contains although its log does not contain it any more.
	recorded int16
	// never means that it takes no snapshots by time.
	never bool
	// format is whether its record permits formatting. empty means that its volume came back empty.
	format format
	empty  bool
	// test means that it was down when it was restarted: its start on its log is then an attempt, which may fail without harm.
	test bool
}

// format is what the record of a node says about formatting its storage.
type format byte

const (
	// formatDone forbids formatting: the node has registered with its storage.
	formatDone format = iota
	// formatNew permits formatting: the node has never registered.
	formatNew
	// formatAgain permits formatting storage that held data.
	formatAgain
)

// interval returns the interval between snapshots of the node's process; 0 means that it takes none by time.
func (n *process) interval() time.Duration {
	if n.never {
		return 0
	}
	return interval
}

type request struct {
	requestID machines.RequestID
	level     int16
	status    kafkaversion.Status
}

// NewWorld returns a cluster at rest: every process has run at the version and level for a long time.
func NewWorld(table *versions.Table, version string, level int16) *World {
	w := &World{table: table, Level: level}
	for i := range w.nodes {
		w.nodes[i] = process{version: version, logged: level}
	}
	return w
}

// self returns the world, also from a wrapper.
func (w *World) self() *World { return w }

// Clone implements explore.World.
func (w *World) Clone() explore.World { return w.copied() }

func (w *World) copied() *World {
	out := *w
	if w.request != nil {
		r := *w.request
		out.request = &r
	}
	return &out
}

// AppendCanonical implements explore.World.
func (w *World) AppendCanonical(dst []byte, at *explore.Scenario) []byte {
	dst = append(dst, byte(w.Level), bit(w.Silent), bit(w.staleRegistration), bit(w.meddled), bit(w.noSlot), at.Age(w.lowered))
	dst = append(dst, w.Harm...)
	pods := podsOf(at)
	for i := range w.nodes {
		n := &w.nodes[i]
		dst = append(dst, n.version...)
		dst = append(dst, bit(n.pod != ""), bit(n.ready), bit(n.synced), byte(w.holds(n, at.Now())), bit(n.broken), bit(pods[i] != nil && pods[i].UID == n.pod))
		dst = append(dst, bit(n.behind), bit(n.never), bit(n.test), byte(n.recorded), byte(n.format), bit(n.empty))
		dst = append(dst, at.Age(n.started), bit(w.unnoticed(n, at.Now())), bit(n.inSyncThen))
		if pods[i] != nil {
			dst = append(dst, at.Age(pods[i].ReadySince))
		}
	}
	if r := w.request; r != nil {
		dst = append(dst, byte(r.level), byte(r.status), bit(r.requestID == at.RequestID("version")), 0xff)
	}
	return dst
}

// runs reports whether a version supports the level.
func (w *World) runs(version string, level int16) bool {
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

func (n *process) runs() bool { return n.pod != "" && !n.broken }

// unnoticed reports whether Kafka still counts the previous process as alive.
func (w *World) unnoticed(n *process, now time.Time) bool {
	return !n.left.IsZero() && now.Before(n.left.Add(session))
}

// holds returns the highest level in the log of a node. A process that has run for long enough since the level was lowered has
// taken a snapshot without the higher level.
func (w *World) holds(n *process, now time.Time) int16 {
	if n.ready && !n.never && now.After(kafkaversion.SnapshotDue(n.started, w.lowered, interval)) {
		return w.Level
	}
	return n.logged
}

// ends records the end of a node's process.
func (w *World) ends(node int, now time.Time) {
	n := &w.nodes[node]
	n.logged = w.holds(n, now)
	if n.runs() {
		n.left, n.inSyncThen = now, n.synced
	}
	n.pod, n.ready, n.synced, n.behind, n.broken, n.started = "", false, false, false, false, time.Time{}
}

// majority reports whether a majority of controllers runs.
func (w *World) majority() bool {
	up := 0
	for i := range w.nodes {
		if w.nodes[i].runs() {
			up++
		}
	}
	return 2*up > Nodes
}

// taken records harm if the operator disrupts a node that serves.
func (w *World) taken(node int, pods [Nodes]*Pod) {
	n := &w.nodes[node]
	n.test = !n.ready
	if !n.ready || w.Harm != "" {
		return
	}
	down, left := 0, 0
	for i := range w.nodes {
		o := &w.nodes[i]
		switch {
		case i == node:
		case !o.ready, pods[i] == nil, pods[i].UID != o.pod:
			down++
		case o.synced && !o.behind:
			left++
		}
	}
	serving := Nodes - down
	switch {
	case 2*serving <= Nodes:
		// The majority is lost already: nothing serves, so that there is nothing to protect.
	case down > 0:
		w.Harm = fmt.Sprintf("node %d is taken away while another one is down", node)
	case n.synced && !n.behind && left < minISR:
		w.Harm = fmt.Sprintf("taking node %d away leaves %d replicas in sync, fewer than the minimum", node, left)
	}
}

// permitted notes the permission to format the storage of a node, and records harm if data may be lost by it.
func (w *World) permitted(node int, approved bool, now time.Time) {
	if w.nodes[node].format == formatDone {
		w.nodes[node].format = formatAgain
	}
	holding := 0
	for i := range w.nodes {
		if n := &w.nodes[i]; i != node && (n.synced || w.unnoticed(n, now) && n.inSyncThen) {
			holding++
		}
	}
	switch {
	case w.Harm != "":
	case !approved:
		w.Harm = fmt.Sprintf("the storage of node %d is permitted to be formatted without approval", node)
	case w.inISR(&w.nodes[node], now):
		w.Harm = fmt.Sprintf("the storage of node %d is permitted to be formatted while it counts as in sync", node)
	case 2*holding < Nodes:
		w.Harm = fmt.Sprintf("the storage of node %d is permitted to be formatted while %d of the other nodes hold all data, no majority", node, holding)
	}
}

// asked accepts a request to change the level, once per request ID.
func (w *World) asked(requestID machines.RequestID, update *kafka.FeatureUpdate) {
	if w.request != nil && w.request.requestID == requestID {
		return
	}
	if w.staleRegistration && update.Level > w.Level {
		w.Harm = "the level is asked to be raised while a broker that is gone is registered"
	}
	w.request = &request{requestID: requestID, level: update.Level, status: kafkaversion.Asked}
}

// settle lets Kafka carry out a request, or refuse it as a real cluster does.
func (w *World) settle(status kafkaversion.Status, at time.Time) {
	r := w.request
	r.status = status
	for i := range w.nodes {
		if n := &w.nodes[i]; n.runs() && !w.runs(n.version, r.level) {
			r.status = kafkaversion.Refused
			return
		}
	}
	if !w.majority() {
		r.status = kafkaversion.Refused
		return
	}
	if r.level < w.Level {
		w.lowered = at
	}
	w.Level = r.level
	for i := range w.nodes {
		w.nodes[i].logged = max(w.nodes[i].logged, w.Level)
	}
}

package connect

import (
	"fmt"
	"slices"
)

// Settings are the time limits of the workers, in milliseconds.
type Settings struct {
	// Flush is offset.flush.interval.ms.
	Flush int64
	// Rebalance is how long a rebalance takes if all workers answer.
	Rebalance int64
	// Session is session.timeout.ms: how long the group keeps a worker that does not answer.
	Session int64
	// Forward is how long a worker waits for the leader's answer; 0 for without limit, as Kafka 3.9 does.
	Forward int64
}

// DefaultSettings are those of Kafka, with a short interval between two commits.
func DefaultSettings() Settings {
	return Settings{Flush: 1000, Rebalance: 500, Session: 10_000, Forward: 30_000}
}

// Process is the state of a worker's process.
type Process int

// States of a process.
const (
	// Up: it runs.
	Up Process = iota
	// Frozen: it keeps its memory and its connections, and does nothing.
	Frozen
	// Dead: it has ended.
	Dead
)

// Worker is one worker process.
type Worker struct {
	Process Process
	// ExactlyOnce is exactly.once.source.support.
	ExactlyOnce bool
	// silentSince is when it stopped answering.
	silentSince int64
	// held are the offsets that its tasks had not committed when it froze.
	held []held
	// queue are the requests that it received while it was frozen.
	queue []Request
}

// held is an uncommitted offset. Fenced offsets cannot be committed any more.
type held struct {
	connector, partition, offset string
	fenced                       bool
}

// Cluster is a group of workers with the source topics that their connectors mirror. The zero value is not usable.
type Cluster struct {
	Now      int64
	Settings Settings
	Workers  []Worker
	Leader   int
	// Topics are the numbers of records by topic and partition.
	Topics map[string][]int64
	// Faults are the failures of the next requests.
	Faults []Fault

	connectors map[string]*connector
	// rebalanced is when the present rebalance ends.
	rebalanced int64
	nextFlush  int64
}

// New returns a group of workers that have joined. The first leads.
func New(settings Settings, workers int, exactlyOnce bool) *Cluster {
	c := &Cluster{Settings: settings, Topics: map[string][]int64{}, connectors: map[string]*connector{}, nextFlush: settings.Flush}
	for range workers {
		c.Workers = append(c.Workers, Worker{ExactlyOnce: exactlyOnce})
	}
	return c
}

// CreateTopic creates a source topic.
func (c *Cluster) CreateTopic(name string, partitions int) {
	c.Topics[name] = make([]int64, partitions)
}

// Produce adds records to every partition of a topic. Tasks read them at the next tick.
func (c *Cluster) Produce(topic string, records int64) {
	for p := range c.Topics[topic] {
		c.Topics[topic][p] += records
	}
}

// Mirrored returns how many records a connector has written, replayed ones included.
func (c *Cluster) Mirrored(name string) int64 {
	if k := c.connectors[name]; k != nil {
		return k.mirrored
	}
	return 0
}

// Fail lets a connector fail. Its tasks go on, and follow requests for another state.
func (c *Cluster) Fail(name string) {
	if k := c.find(name); k != nil {
		k.failed = true
	}
}

// Freeze stops the process of a worker without ending it.
func (c *Cluster) Freeze(worker int) {
	w := &c.Workers[worker]
	if w.Process != Up {
		return
	}
	w.Process, w.silentSince = Frozen, c.Now
	for _, name := range c.names() {
		k := c.connectors[name]
		for p := range k.cursors {
			if cur := &k.cursors[p]; cur.worker == worker && cur.reading && cur.next > cur.committed {
				w.held = append(w.held, held{connector: name, partition: k.partition(p), offset: offsetOf(cur.next - 1)})
			}
		}
	}
	c.rebalance()
}

// Thaw continues a frozen worker. Its tasks commit what they hold before they learn that they were revoked, unless another worker
// has fenced them, and it executes the requests it received.
func (c *Cluster) Thaw(worker int) {
	w := &c.Workers[worker]
	if w.Process != Frozen {
		return
	}
	w.Process = Up
	for _, h := range w.held {
		if k := c.connectors[h.connector]; k != nil && !h.fenced {
			k.offsets[h.partition] = h.offset
		}
	}
	queue := w.queue
	w.held, w.queue = nil, nil
	c.rebalance()
	for _, r := range queue {
		c.Handle(worker, r) // the client does not wait for the answer
	}
}

// Kill ends the process of a worker. What its tasks had not committed is mirrored again.
func (c *Cluster) Kill(worker int) {
	c.Workers[worker] = Worker{Process: Dead, ExactlyOnce: c.Workers[worker].ExactlyOnce, silentSince: c.Now}
	c.rebalance()
}

// Start starts a worker whose process has ended.
func (c *Cluster) Start(worker int, exactlyOnce bool) {
	if c.Workers[worker].Process != Dead {
		return
	}
	c.Workers[worker] = Worker{ExactlyOnce: exactlyOnce}
	c.rebalance()
}

// rebalance begins a rebalance. It ends when every worker has answered or lost its session.
func (c *Cluster) rebalance() {
	c.rebalanced = c.Now + c.Settings.Rebalance
	for _, w := range c.Workers {
		if w.Process != Up {
			c.rebalanced = max(c.rebalanced, w.silentSince+c.Settings.Session)
		}
	}
}

// Rebalancing reports whether tasks are being assigned.
func (c *Cluster) Rebalancing() bool { return c.Now < c.rebalanced }

// Tick advances the time. Each commit and the end of a rebalance happen when they are due.
func (c *Cluster) Tick(to int64) {
	for c.Now < to {
		next := min(to, c.nextFlush)
		if c.Rebalancing() {
			next = min(next, c.rebalanced)
		}
		assigns := c.Rebalancing() && next == c.rebalanced
		c.Now = next
		c.follow()
		c.mirror()
		if c.Now == c.nextFlush {
			c.commit()
			c.nextFlush += c.Settings.Flush
		}
		if assigns {
			c.assign()
		}
	}
}

// serving returns the workers that run, and elects a leader among them if the last one lost its session.
func (c *Cluster) serving() []int {
	var up []int
	for i, w := range c.Workers {
		if w.Process == Up {
			up = append(up, i)
		}
	}
	return up
}

// assign ends a rebalance: connectors and tasks move to workers that run, and the tasks of stopped connectors end.
func (c *Cluster) assign() {
	up := c.serving()
	if len(up) == 0 {
		return
	}
	if !slices.Contains(up, c.Leader) {
		c.Leader = up[0]
	}
	for n, name := range c.names() {
		k := c.connectors[name]
		if !slices.Contains(up, k.owner) {
			k.owner = up[n%len(up)]
		}
		k.follow()
		k.assign(up)
	}
}

// follow lets the owners of connectors publish the requested state. They do so before a rebalance ends.
func (c *Cluster) follow() {
	for _, k := range c.connectors {
		if c.Workers[k.owner].Process == Up {
			k.follow()
		}
	}
}

// mirror lets running tasks read to the end of their partitions.
func (c *Cluster) mirror() {
	for _, k := range c.connectors {
		for p := range k.cursors {
			cur := &k.cursors[p]
			if end := c.end(k, p); cur.reading && c.Workers[cur.worker].Process == Up && end > cur.next {
				k.mirrored += end - cur.next
				cur.next = end
			}
		}
	}
}

func (c *Cluster) end(k *connector, partition int) int64 {
	if ends := c.Topics[k.config["topics"]]; partition < len(ends) {
		return ends[partition]
	}
	return 0
}

// commit lets running tasks commit their offsets.
func (c *Cluster) commit() {
	for _, k := range c.connectors {
		for p := range k.cursors {
			if c.Workers[k.cursors[p].worker].Process == Up {
				k.commit(p)
			}
		}
	}
}

// names returns the names of the connectors, sorted.
func (c *Cluster) names() []string {
	var names []string
	for name, k := range c.connectors {
		if !k.deleted {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func offsetOf(n int64) string { return fmt.Sprintf(`{"offset":%d}`, n) }

// address is how a worker names itself.
func address(worker int) string { return fmt.Sprintf("worker-%d:8083", worker) }

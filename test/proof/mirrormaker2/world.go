package mirrormaker2

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
)

const (
	workers = 2
	// longest is how long a task that was stopped may take to commit its last offsets.
	longest = 20 * time.Second
	// slowly is when a slow task commits them.
	slowly = 15 * time.Second
	// patience is after how long a lost node is back, and the kubelet ends a frozen process whose liveness probe fails. It is longer than a
	// real probe takes, so that the operator acts first where it does.
	patience = 3 * time.Minute
	// progress is what a task mirrors before it is stopped.
	progress = 10
	// none stands for no committed offset.
	none = -1
)

// World is Connect with one connector, and the processes of its workers.
type World struct {
	connector connector
	processes []process
	// sent are the last commands by the entry of their lifecycle, late those that may still be carried out.
	sent map[string]command
	late []command
	// lost is since when each node is lost; zero if it is not. The last node is never lost.
	lost [workers]time.Time
	// silent means that Connect does not answer.
	silent bool
	// request is the request whose effect is being executed. executed are those whose change was executed.
	request  string
	executed []string
	// harm is the first damage that was done. Every state is checked for it.
	harm string
}

type connector struct {
	exists bool
	config map[string]string
	// target is the requested state, state the published one.
	target, state connect.State
	// offset is the committed one. changes counts the changes of it by requests.
	offset  int64
	changes int
}

// process is a worker process.
type process struct {
	worker int
	pod    types.UID
	// node is its number; workers for the one that is never lost.
	node        int
	exactlyOnce bool
	// frozen is since when it does nothing; zero if it runs.
	frozen time.Time
	// held is the offset that its task has not committed, zero if there is none. since is the number of changes when the task read it.
	held  int64
	since int
	// learned is when it learned that the connector is stopped; zero if it has not. slow means that its task then commits slowly.
	learned time.Time
	slow    bool
}

// command was sent by an operator.
type command struct {
	id     machines.RequestID
	do     connection.Command
	answer external.Answer
	// request is the id of the request for offsets. since is when the outcome became unknown.
	request string
	since   time.Time
}

// runs reports whether the process executes anything that Connect notices.
func (w *World) runs(p *process) bool { return p.frozen.IsZero() && !w.isLost(p.node) }

func (w *World) isLost(node int) bool { return node < workers && !w.lost[node].IsZero() }

// answers reports whether any worker answers.
func (w *World) answers() bool {
	return !w.silent && slices.ContainsFunc(w.processes, func(p process) bool { return w.runs(&p) })
}

// advance lets tasks commit that have no more time to do so.
func (w *World) advance(now time.Time) {
	for i := range w.processes {
		if p := &w.processes[i]; w.runs(p) && !p.learned.IsZero() && !now.Before(p.learned.Add(longest)) {
			w.commit(p)
		}
	}
}

// commit lets the task of a process commit what it holds. Connect fences processes with exactly-once support when it changes offsets.
func (w *World) commit(p *process) {
	held, since := p.held, p.since
	p.held = 0
	switch {
	case held == 0 || p.exactlyOnce && since != w.connector.changes:
	case since != w.connector.changes:
		w.hurt(fmt.Sprintf("worker %d commits old offsets over changed ones", p.worker))
	default:
		w.connector.offset = max(w.connector.offset, held)
	}
}

// carryOut lets Connect carry out a command, and returns its answer.
func (w *World) carryOut(c *command) external.Answer {
	const conflict, badRequest = 409, 400
	k := &w.connector
	refused := func(code int, text string) external.Answer {
		return external.Answer{RequestID: c.id, State: external.Refused, Code: code, Text: text}
	}
	switch c.do.Verb {
	case connection.Create:
		if k.exists {
			return refused(conflict, "connector already exists")
		}
		k.exists, k.config, k.target, k.state = true, c.do.Config, c.do.Initial, connect.Unassigned
	case connection.Configure:
		k.config = c.do.Config
	case connection.Stop:
		k.target = connect.Stopped
	case connection.Pause:
		k.target = connect.Paused
	case connection.Resume:
		k.target = connect.Running
	case connection.Alter, connection.Reset:
		if k.target != connect.Stopped {
			return refused(badRequest, "connectors must be in the STOPPED state before their offsets can be modified")
		}
		w.change(c)
	case connection.Delete, connection.Restart, connection.RestartTask:
		w.hurt(fmt.Sprintf("%s of a declared connector", c.do.Verb))
	}
	return external.Answer{RequestID: c.id, State: external.Done}
}

// change carries out a change of the offsets.
func (w *World) change(c *command) {
	if slices.Contains(w.executed, c.request) {
		w.hurt("the change of one request is executed twice")
	}
	w.executed = append(slices.Clip(w.executed), c.request)
	w.connector.offset = none
	if c.do.Verb == connection.Alter {
		w.connector.offset = offsetIn(c.do.Body)
	}
	w.connector.changes++
}

// hurt records the first damage.
func (w *World) hurt(what string) {
	if w.harm == "" {
		w.harm = what
	}
}

// document returns offsets as Connect answers them.
func document(offset int64) string {
	if offset == none {
		return `{"offsets":[]}`
	}
	return fmt.Sprintf(`{"offsets":[{"partition":{"cluster":"east","partition":0,"topic":"orders"},"offset":{"offset":%d}}]}`, offset)
}

// offsetIn returns the offset in a document; none if it has none.
func offsetIn(text string) int64 {
	parsed, err := connect.ParseOffsets(text)
	if err != nil {
		panic(err) // every document here was written by document
	}
	for _, offset := range parsed {
		var n int64
		if _, err := fmt.Sscanf(offset, `{"offset":%d}`, &n); err != nil {
			panic(err)
		}
		return n
	}
	return none
}

// Clone implements explore.World.
func (w *World) Clone() explore.World {
	out := *w
	out.processes, out.sent, out.late = slices.Clone(w.processes), maps.Clone(w.sent), slices.Clone(w.late)
	return &out
}

// AppendCanonical implements explore.World.
func (w *World) AppendCanonical(dst []byte, at *explore.Scenario) []byte {
	k := &w.connector
	dst = fmt.Appendf(dst, "%t%s%s%d,%t%s/", k.exists, k.target, k.state, k.offset, w.silent, w.harm)
	for _, since := range w.lost {
		dst = append(dst, bit(since.IsZero()), at.Age(since))
	}
	for i := range w.processes {
		p := &w.processes[i]
		dst = fmt.Appendf(dst, "%d%s%t%t%d%t%t", p.worker, p.pod, p.frozen.IsZero(), p.slow, p.held, p.since == k.changes, p.learned.IsZero())
		dst = append(dst, at.Age(p.learned), at.Age(p.frozen))
	}
	for _, entry := range slices.Sorted(maps.Keys(w.sent)) {
		c := w.sent[entry]
		dst = fmt.Appendf(dst, "%s%s%s%t%t", entry, c.do.Verb, c.answer.State, c.id == at.RequestID(entry), slices.Contains(w.executed, c.request))
	}
	for _, c := range w.mayCome(at.Now()) {
		dst = append(fmt.Appendf(dst, "/%s%d", c.do.Verb, len(c.do.Body)), at.Age(c.since))
	}
	return dst
}

func bit(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}

// mayCome returns the commands that may still be carried out.
func (w *World) mayCome(now time.Time) []command {
	return slices.DeleteFunc(slices.Clone(w.late), func(c command) bool { return !now.Before(c.since.Add(connection.Settle)) })
}

// of returns the world of the present state.
func of(at *explore.Scenario) *World {
	w, ok := at.World().(*World)
	if !ok {
		panic("a state without a Connect")
	}
	w.advance(at.Now())
	return w
}

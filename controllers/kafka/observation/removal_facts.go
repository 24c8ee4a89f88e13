package observation

import (
	"slices"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// removalQuestions calls ask with the questions that the facts of the removal of brokers need. Without a broker that leaves or is
// drained there are none, and without a drain none about moves.
func (v *Snapshot) removalQuestions(request lifecycle.ObserveRequest, ask func(transitions.Need, kafkaclient.Question)) {
	dirs, moves, cordons := request.Wants(kraftscaledown.NeedLogDirs), request.Wants(kraftscaledown.NeedMoves), request.Wants(kraftscaledown.NeedCordons)
	if !dirs && !moves && !cordons {
		return
	}
	if cordons {
		v.targetQuestions(ask)
	}
	drained := false
	for i := range v.Nodes {
		n := &v.Nodes[i]
		leaves := n.Removal() != Stays
		if !leaves && !n.remembered() {
			continue
		}
		drained = drained || v.drained(n)
		answers := n.answers()
		if dirs && answers {
			ask(kraftscaledown.NeedLogDirs, kafkaclient.Question{About: kafkaclient.AboutLogDirs, Broker: n.ID})
		}
		if cordons && answers {
			ask(kraftscaledown.NeedCordons, kafkaclient.Question{About: kafkaclient.AboutConfigs, Broker: n.ID})
		}
		if moves && leaves && v.drains {
			ask(kraftscaledown.NeedMoves, kafkaclient.Question{About: kafkaclient.AboutReplicas, Broker: n.ID})
		}
	}
	if moves && drained {
		ask(kraftscaledown.NeedMoves, kafkaclient.Question{About: kafkaclient.AboutMoves})
	}
}

// targetQuestions calls ask with the questions whether the brokers that stay are cordoned: they may get the replicas of a drain.
func (v *Snapshot) targetQuestions(ask func(transitions.Need, kafkaclient.Question)) {
	if !v.drains || !slices.ContainsFunc(v.Nodes, func(n Node) bool { return n.Removal() != Stays }) {
		return
	}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Removal() == Stays && !n.remembered() && n.answers() {
			ask(kraftscaledown.NeedCordons, kafkaclient.Question{About: kafkaclient.AboutConfigs, Broker: n.ID})
		}
	}
}

// answers reports whether a process that may answer runs as a broker.
func (n *Node) answers() bool { return n.Pod.Exists && n.RolesRunning.Broker }

// remembered reports whether the record says that the node was stopped or that its drain was begun.
func (n *Node) remembered() bool { return n.Recorded && (n.Record.Stop || n.Record.Draining > 0) }

// drained reports whether a drain of a broker is requested, or was begun.
func (v *Snapshot) drained(n *Node) bool { return v.drains || n.Recorded && n.Record.Draining > 0 }

// removalReadings collects the answers about the removal of brokers.
type removalReadings struct {
	logDirs, cordons, moves readings
	dirs                    map[int32]kafkaclient.LogDirs
	cordoned                map[int32]string
	moving                  kraftscaledown.Moves
}

// readings is the state of all answers to one need.
type readings struct {
	// at is the time of the oldest answer.
	at      time.Time
	pending bool
	err     error
}

// add adds one answer. A broker that did not answer is missing in the directories and the cordons, which is no evidence.
func (m *removalReadings) add(q kafkaclient.Question, r *connection.Reading) {
	switch q.About {
	case kafkaclient.AboutLogDirs:
		if m.logDirs.add(r) && r.Answer.LogDirs != nil {
			m.dirs = with(m.dirs, q.Broker, *r.Answer.LogDirs)
		}
	case kafkaclient.AboutConfigs:
		if m.cordons.add(r) {
			m.cordoned = with(m.cordoned, q.Broker, r.Answer.Configs[kafkaclient.ConfigCordonedLogDirs])
		}
	case kafkaclient.AboutReplicas:
		if m.moves.add(r) && r.Answer.Replicas != nil {
			m.moving.Replicas = append(m.moving.Replicas, *r.Answer.Replicas)
		}
	case kafkaclient.AboutMoves:
		if m.moves.add(r) && r.Answer.Moves != nil {
			m.moving.Moving = *r.Answer.Moves
		}
	default:
	}
}

// add reports whether the reading is an answer.
func (m *readings) add(r *connection.Reading) bool {
	switch {
	case r.Pending():
		m.pending = true
	case r.Err != nil:
		m.err = r.Err
	default:
		if m.at.IsZero() || r.At.Before(m.at) {
			m.at = r.At
		}
		return true
	}
	return false
}

func with[T any](m map[int32]T, id int32, value T) map[int32]T {
	if m == nil {
		m = map[int32]T{}
	}
	m[id] = value
	return m
}

// set sets the requested facts of the snapshot. Without a broker to ask they are known and empty.
func (m *removalReadings) set(v *Snapshot, request lifecycle.ObserveRequest) {
	if request.Wants(kraftscaledown.NeedLogDirs) {
		m.logDirs.err = nil
		v.LogDirs = factOf(&m.logDirs, m.dirs, v.Now)
	}
	if request.Wants(kraftscaledown.NeedCordons) {
		m.cordons.err = nil
		v.Cordons = factOf(&m.cordons, v.cordons(m.cordoned), v.Now)
	}
	if request.Wants(kraftscaledown.NeedMoves) {
		v.Moves = factOf(&m.moves, m.moving, v.Now)
	}
}

// cordons returns which of the brokers are cordoned. A broker that leaves or is drained is so only by a cordon of all its directories, as a
// drain sets it: one of some of them keeps no replica away, and is not the drain's to lift. A broker that stays gets no replica from a
// drain if a user has cordoned any of its directories.
func (v *Snapshot) cordons(values map[int32]string) map[int32]bool {
	var out map[int32]bool
	for id, value := range values {
		n := v.Node(id)
		drained := n != nil && (n.Removal() != Stays || n.remembered())
		out = with(out, id, value == kafkaclient.CordonedAll || value != "" && !drained)
	}
	return out
}

func factOf[T any](m *readings, value T, now time.Time) transitions.Fact[T] {
	switch {
	case m.pending:
		return transitions.Pending[T]()
	case m.err != nil:
		return transitions.Unreadable[T](m.err)
	case m.at.IsZero():
		return transitions.Known(value, now)
	}
	return transitions.Known(value, m.at)
}

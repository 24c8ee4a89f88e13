package kafkaversion_test

import (
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
)

// lingering is a downgrade within the finalized levels, on logs that may still hold a higher one for most of an hour.
func (k scenes) lingering() *scene {
	return k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Minute, time.Hour)
}

// unrecorded says that the record of a node is not written yet.
func (s *scene) unrecorded(ids ...int32) *scene {
	s.unrecordedIDs = append(s.unrecordedIDs, ids...)
	return s
}

func (k scenes) awaitingSnapshot() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "awaiting snapshots: " + name, Reason: reason, State: kafkaversion.AwaitingSnapshot, Facts: s.facts(), Want: want}
	}
	changed := at("another version is desired", "", k.lingering(), moves(machines.EventTargetChanged, kafkaversion.Checking))
	changed.Attempt = older
	first := func(id int32) machineWant {
		w := moves("node-stuck", roll.RestartingNode)
		w.Data = rolltest.Hand(id)
		return w
	}
	ran := func() *scene {
		return k.cluster(3).at(oldLevel).wanting(old).lowered(1, 3*time.Hour, time.Hour).but(rolltest.Restarted(1, 5*time.Hour))
	}
	return []machineRow{
		at("a process has not run long enough", "", k.lingering(), waits("snapshots-taken")),
		at("every process has snapshotted", "", k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Hour+31*time.Second, time.Hour).but(rolltest.Restarted(1, 2*time.Hour)), moves("snapshots-taken", roll.SelectingNode)),
		at("a process has run for just long enough", "the snapshot comes with the next record", k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Hour+30*time.Second, time.Hour).but(rolltest.Restarted(1, 2*time.Hour)), waits("snapshots-taken")),
		at("a process that is not ready has run for long enough, and Kafka counts on it", "readiness is not service", ran().but(rolltest.Lapsed(1, 2*time.Hour)), moves("snapshots-taken", roll.SelectingNode)),
		at("a process that is not ready has run for long enough, and is out of sync", "", ran().but(rolltest.Lapsed(1, 2*time.Hour), rolltest.Behind(1)), waits("snapshots-taken")),
		at("a process that is not ready has run for long enough, and Kafka is silent", "", ran().but(rolltest.Lapsed(1, 2*time.Hour), rolltest.Silent), waits("snapshots-taken")),
		at("a process that is not ready has run for long enough, and its kubelet is lost", "another process may run by now", ran().but(rolltest.Lapsed(1, 2*time.Hour), rolltest.KubeletLost(1)), waits("snapshots-taken")),
		at("a process that is not ready has not run long enough", "", k.lingering().but(rolltest.Lapsed(1, 2*time.Hour)), waits("snapshots-taken")),
		at("a node is not running anyway", "it goes first, as the test", k.lingering().but(rolltest.Down(2)), first(2)),
		at("the node whose log holds the level is not running anyway", "", k.lingering().but(rolltest.Down(1)), first(1)),
		at("a node is not running anyway and every other has snapshotted", "", k.cluster(3).at(oldLevel).wanting(old).but(rolltest.Down(1)), first(1)),
		at("a process keeps dying, which Kafka has noticed", "it goes first, as the test", k.lingering().but(rolltest.Dead(2)), first(2)),
		at("a process keeps dying, and Kafka counts on it", "it may be up at the moment; the older binary might die on its log", k.lingering().but(rolltest.Looping(2)), waits("snapshots-taken")),
		at("a process keeps dying, and whether Kafka counts on it is not known", "", k.lingering().but(rolltest.Looping(2), rolltest.Silent), waits("snapshots-taken")),
		at("a node is just starting", "it is left alone: restarting it would be sent back by its precondition for ten minutes", k.lingering().but(rolltest.Starting(1, time.Minute)), waits("snapshots-taken")),
		at("a node has been starting for ten minutes", "it may be recovering its logs; the older binary might die on them", k.lingering().but(rolltest.Starting(1, 10*time.Minute)), waits("snapshots-taken")),
		at("the API server refuses the pod of a node", "it does not come back by itself; it goes first, as the test", k.lingering().but(rolltest.Refused(2)), first(2)),
		at("the API server refuses the pod of the node whose log holds the level", "", k.lingering().but(rolltest.Refused(1)), first(1)),
		at("the API server has refused a pod for a moment", "a webhook may be restarting; on the older binary the node would die", k.lingering().but(rolltest.RefusedFor(1, 2*time.Minute-time.Second)), waits("snapshots-taken")),
		at("the API server has refused a pod for two minutes", "", k.lingering().but(rolltest.RefusedFor(1, 2*time.Minute)), first(1)),
		at("a pod cannot start since a moment", "it may be waiting for a machine or an image", k.lingering().but(rolltest.DownFor(1, 2*time.Minute-time.Second)), waits("snapshots-taken")),
		at("a pod cannot start for two minutes", "", k.lingering().but(rolltest.DownFor(1, 2*time.Minute)), first(1)),
		at("a pod is away for a moment", "it comes back as it last ran; on the older binary it would die", k.lingering().but(rolltest.Gone(1)), waits("snapshots-taken")),
		at("a node that was moved already is down", "", k.lingering().moved(2).but(rolltest.Down(2)), waits("snapshots-taken")),
		at("a node came up that never snapshots", "", k.lingering().lowered(2, time.Minute, 0), moves("snapshots-off", kafkaversion.Refusing)),
		at("a node came up that never snapshots, and another is down", "", k.lingering().lowered(2, time.Minute, 0).but(rolltest.Down(0)), moves("snapshots-off", kafkaversion.Refusing)),
		changed,
	}
}

// permissions are what is asked again just before a restart, besides what the roll asks itself.
func (k scenes) permissions() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "restarting: " + name, Reason: reason, State: roll.RestartingNode, Data: rolltest.Hand(1), Facts: s.facts(), Want: want}
	}
	back := moves(machines.EventPreconditionFailed, kafkaversion.Checking)
	restarts := waits("node-restarted")
	restarts.Effects = []kafkaversion.Effect{restartOf(1, old)}
	blocked := waits("node-restarted")
	blocked.Blocked = []string{"path-allowed"}
	unknown := waits("node-restarted")
	unknown.Blocked = []string{"any(selected-node-stuck, snapshots-taken)", "restart-safe"}
	return []machineRow{
		at("the declaration broke", "", k.cluster(3).on(old).wanting(newer).broken(), back),
		at("the path closed", "the level was raised since", k.cluster(3).wanting(old), back),
		at("whether the path is open cannot be read", "a downgrade is never based on a guess", k.cluster(3).wanting(old).mute(), blocked),
		at("a raise may still take effect", "the older binary would die of it", k.cluster(3).at(oldLevel).wanting(old).inFlightUntil(time.Second, true), blocked),
		at("a log still holds a level too high", "", k.lingering(), back),
		at("a log still holds a level too high, and the pod is away for a moment", "", k.lingering().but(rolltest.Gone(1)), back),
		at("a log still holds a level too high, and the pod is refused for a moment", "", k.lingering().but(rolltest.RefusedFor(1, time.Minute)), back),
		at("a log still holds a level too high, but the node does not come up", "it goes, as the test", k.lingering().but(rolltest.Down(1)), restarts),
		at("a log still holds a level too high, and whether Kafka counts on the dying node is not known", "", k.lingering().but(rolltest.Looping(1), rolltest.Silent), unknown),
	}
}

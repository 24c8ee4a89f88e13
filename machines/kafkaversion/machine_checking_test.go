package kafkaversion_test

import (
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
)

func moves(event, state string) machineWant { return machineWant{Event: event, To: state} }

func waits(guards ...string) machineWant { return machineWant{WaitingFor: guards} }

// inferred rows are the states that a lifecycle without persisted state, or with a contradicted one, infers.
func (k scenes) inferred() []machineRow {
	at := func(name, reason string, s *scene, to string) machineRow {
		return machineRow{Name: "no persisted state: " + name, Reason: reason, Facts: s.facts(), Want: moves(machines.EventInferred, to)}
	}
	foreign := at("data of another release", "", k.cluster(3).on(old).wanting(newer), kafkaversion.Checking)
	foreign.State, foreign.Coded = roll.AwaitingReady, map[string]string{"pod": "a"}
	return []machineRow{
		at("every node runs the desired version", "", k.cluster(3), kafkaversion.Settled),
		at("a new cluster", "it begins by its edge install, like one whose nodes and records were all removed", k.cluster(3).fresh(), kafkaversion.Settled),
		at("the metadata level is still open", "", k.cluster(3).at(oldLevel), kafkaversion.Settled),
		at("in the middle of a roll", "to rest would show Ready in the middle of a generation", k.cluster(3).on(old).wanting(newer).moved(0), kafkaversion.Checking),
		at("in the middle of a roll, and Kafka is silent", "", k.cluster(3).on(old).wanting(newer).moved(0).silent(), kafkaversion.Checking),
		at("a declaration that cannot be applied", "", k.cluster(3).broken(), kafkaversion.Checking),
		at("a young cluster without its pools", "it is no cluster to rest on", k.cluster(3).withoutPools(), kafkaversion.Checking),
		foreign,
	}
}

// firstStart rows are about a declaration that breaks while the nodes of a new cluster start.
func (k scenes) firstStart() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "first start: " + name, Reason: reason, State: roll.AwaitingReady, Facts: s.facts(), Want: want}
	}
	hand := at("the declaration breaks while a node is selected", "the roll goes on, and decides at its end", k.cluster(3).on(old).wanting(newer).moved(1).but(rolltest.Starting(1, time.Second)).broken(), waits("node-ready"))
	hand.Data = rolltest.Hand(1)
	return []machineRow{
		at("the declaration breaks", "the user learns of it at once, and not from a deadline", k.cluster(3).but(rolltest.Starting(1, time.Second)).broken(), moves("declaration-broken", kafkaversion.Checking)),
		at("the declaration breaks before there is a node", "", k.cluster(0).broken(), moves("declaration-broken", kafkaversion.Checking)),
		at("the declaration breaks as the last node becomes ready", "what is left is decided there", k.cluster(3).broken(), moves("all-ready", kafkaversion.Verifying)),
		at("a pool is taken away for a moment", "", k.cluster(3).but(rolltest.Starting(1, time.Second)).withoutPools(), waits("node-ready")),
		hand,
	}
}

func (k scenes) settled() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "settled: " + name, Reason: reason, State: kafkaversion.Settled, Attempt: machinetest.NoAttempt, Facts: s.facts(), Want: want}
	}
	starts := func(event string) machineWant { return moves(event, kafkaversion.Checking) }
	return []machineRow{
		at("nothing to do", "", k.cluster(3), machineWant{}),
		at("nothing to do, and Kafka is silent", "silence alone is no reason to begin anything", k.cluster(3).silent(), waits("not(on-level)")),
		at("a pinned level below the highest", "it is respected and not unfinished", k.cluster(3).at(oldLevel).pinned("4.0"), machineWant{}),
		at("a stale registration while no level is to be raised", "a stale registration blocks the raise and nothing else", k.cluster(3).but(rolltest.Registered(7)), machineWant{}),
		at("a node is down", "a node comes back exactly as it last ran, without this machine", k.cluster(3).but(rolltest.Down(1)), machineWant{}),
		at("a removed node is still on record with another version", "its disk will never start again", k.cluster(3).formerly(3, old), machineWant{}),
		at("no node ever ran", "", k.cluster(3).fresh(), starts("install")),
		at("nothing but the status remembers the cluster", "it is started again, and comes from where the status says", k.cluster(3).rememberedOn(newer), starts("install")),
		at("another version is desired", "", k.cluster(3).on(old).wanting(newer), starts("version-changed")),
		at("another version is desired, and Kafka is silent", "a silent Kafka does not hide what the user desires", k.cluster(3).on(old).wanting(newer).silent(), starts("version-changed")),
		at("another version is desired and no pod is left", "the disks say where the cluster comes from", k.cluster(3).on(old).wanting(newer).lost(), starts("version-changed")),
		at("one node runs another version", "", k.cluster(3).on(old).wanting(newer).moved(0, 1), starts("version-changed")),
		at("the declaration is broken", "", k.cluster(3).broken(), starts("declaration-broken")),
		at("the declaration is broken, and Kafka is silent", "", k.cluster(3).broken().silent(), starts("declaration-broken")),
		at("the declaration of a cluster that never ran is broken", "", k.cluster(3).fresh().broken(), starts("install")),
		at("the declaration is broken and another version is desired", "", k.cluster(3).on(old).wanting(newer).broken(), starts("version-changed")),
		at("the pinned metadata version is none", "", k.cluster(3).pinned("4.1-IV9"), starts("path-closed")),
		at("a version that is not in the table", "", k.cluster(3).on("9.9.9").at(newerLevel), starts("path-closed")),
		at("the declaration is broken and the pinned metadata version is none", "", k.cluster(3).pinned("4.1-IV9").broken(), starts("declaration-broken")),
		at("the level is below the highest", "somebody lowered it, or the last attempt left it", k.cluster(3).at(oldLevel), starts("level-changed")),
		at("the level is above the pinned one", "", k.cluster(3).pinned("4.0"), starts("level-changed")),
		at("the level is below the highest and the declaration is broken", "", k.cluster(3).at(oldLevel).broken(), starts("declaration-broken")),
		at("a node carries the desired version and has not started on it", "the level is not where it belongs before the last process runs", k.cluster(3).on(old).wanting(newer).moved(0, 1).unstartedOn(2), starts("level-changed")),
		at("a feature was finalized that the version does not run", "", k.cluster(3).on(older).at(olderLevel).finalizing("group.version", 1), starts("path-closed")),
	}
}

func (k scenes) checking() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "checking: " + name, Reason: reason, State: kafkaversion.Checking, Facts: s.facts(), Want: want}
	}
	changed := at("the target changes again", "", k.cluster(3).on(old).wanting(newer), moves(machines.EventTargetChanged, kafkaversion.Checking))
	changed.Attempt = older
	undecided := waits("on-version", "path-allowed", "on-level")
	return []machineRow{
		at("an upgrade", "", k.cluster(3).on(old).wanting(newer), moves("path-clear", roll.SelectingNode)),
		at("an upgrade of a cluster without pods", "", k.cluster(3).on(old).wanting(newer).lost(), moves("path-clear", roll.SelectingNode)),
		at("an upgrade while Kafka is silent", "the newer version runs every level that the old one can have finalized", k.cluster(3).on(old).wanting(newer).silent(), moves("path-clear", roll.SelectingNode)),
		at("an upgrade of which Kafka has not been heard yet", "silence is taken for silence only once Kafka failed to answer", k.cluster(3).on(old).wanting(newer).unanswered(), machineWant{}),
		at("a downgrade within the levels", "", k.cluster(3).at(oldLevel).wanting(old), moves("path-clear", roll.SelectingNode)),
		at("a downgrade below the level", "", k.cluster(3).wanting(old), moves("path-forbidden", kafkaversion.Refusing)),
		at("a downgrade below the level of another feature", "", k.cluster(3).on(old).at(olderLevel).finalizing("group.version", 1).wanting(older), moves("path-forbidden", kafkaversion.Refusing)),
		at("a downgrade while Kafka is silent", "never guess on the way down", k.cluster(3).wanting(old).silent(), undecided),
		at("a downgrade to a version that was never started by any node", "a bad step up may be taken back without Kafka's word", k.cluster(3).on(old).wanting(newer).unstartedOn(0).back(), moves("path-clear", roll.SelectingNode)),
		at("a downgrade while a raise may still take effect", "an older binary would die of it", k.cluster(3).at(oldLevel).wanting(old).inFlightUntil(time.Second, false), waits("on-version", "path-allowed", "on-level")),
		at("a downgrade, and the levels were read before a raise could not take effect any more", "", k.cluster(3).at(oldLevel).wanting(old).inFlightUntil(-time.Second, true).readAgo(2*time.Second), waits("on-version", "path-allowed", "on-level")),
		at("a downgrade, and the levels were read since", "", k.cluster(3).at(oldLevel).wanting(old).inFlightUntil(-time.Second, true).readAgo(time.Second), moves("path-clear", roll.SelectingNode)),
		at("a downgrade on the status's word, while a raise may have been sent", "", k.cluster(3).at(oldLevel).remembering("4.0-IV3").wanting(old).silent().inFlightUntil(time.Second, false), undecided),
		at("a downgrade on the status's word, when no raise can take effect any more", "the downgrade may be what saves the cluster", k.cluster(3).at(oldLevel).remembering("4.0-IV3").wanting(old).silent().inFlightUntil(0, false), moves("path-clear", roll.SelectingNode)),
		at("a downgrade on the status's word, and a raise was sent", "only Kafka knows what became of it", k.cluster(3).at(oldLevel).remembering("4.0-IV3").wanting(old).silent().inFlightUntil(-time.Hour, true), undecided),
		at("a downgrade below the level while a raise may still take effect", "", k.cluster(3).wanting(old).inFlightUntil(time.Second, true), moves("path-forbidden", kafkaversion.Refusing)),
		at("an upgrade while a raise may still take effect", "a newer binary runs what is raised", k.cluster(3).on(old).wanting(newer).inFlightUntil(time.Second, true), moves("path-clear", roll.SelectingNode)),
		at("a version that is not in the table", "", k.cluster(3).wanting("9.9.9"), moves("path-forbidden", kafkaversion.Refusing)),
		at("no version at all", "", k.cluster(3).wanting("latest"), moves("path-forbidden", kafkaversion.Refusing)),
		at("a version that is not in the table, and Kafka is silent", "", k.cluster(3).wanting("9.9.9").silent(), moves("path-forbidden", kafkaversion.Refusing)),
		at("another build of the same version", "", k.cluster(3).wanting(acme), moves("path-clear", roll.SelectingNode)),
		at("the declaration is broken", "", k.cluster(3).on(old).wanting(newer).broken(), moves("declaration-refused", kafkaversion.Refusing)),
		at("the declaration is broken, and Kafka is silent", "", k.cluster(3).wanting(old).broken().silent(), moves("declaration-refused", kafkaversion.Refusing)),
		at("a new cluster", "", k.cluster(3).fresh(), moves("pods-starting", roll.AwaitingReady)),
		at("a new cluster whose pools are not there yet", "they may be applied a moment later", k.cluster(0).fresh().withoutPools(), waits("declaration-sound", "ever-started", "on-level")),
		at("a new cluster whose pools are not there yet, on a version that is not in the table", "no pool repairs that", k.cluster(0).on("9.9.9").fresh().withoutPools(), moves("path-forbidden", kafkaversion.Refusing)),
		at("pools are not there yet of a cluster that is where it belongs", "", k.cluster(3).withoutPools(), waits("declaration-sound")),
		at("a new cluster on a version that is not in the table", "", k.cluster(3).on("9.9.9").fresh(), moves("path-forbidden", kafkaversion.Refusing)),
		at("nothing but the status remembers the cluster", "", k.cluster(3).rememberedOn(old), moves("pods-starting", roll.AwaitingReady)),
		at("nothing but the status remembers the cluster, on a newer version", "never guess on the way down", k.cluster(3).on(old).rememberedOn(newer), waits("ever-started", "path-allowed", "on-level")),
		at("taken back before a node moved", "", k.cluster(3), moves("settled", kafkaversion.Settled)),
		at("taken back, and Kafka is silent", "the level may be open", k.cluster(3).silent(), waits("on-level")),
		at("the nodes are there and the level is not", "", k.cluster(3).at(oldLevel), moves("binaries-done", kafkaversion.Verifying)),
		at("the nodes are there and the last has not started", "", k.cluster(3).on(old).wanting(newer).moved(0, 1).unstartedOn(2), moves("binaries-done", kafkaversion.Verifying)),
		at("a lowered level lingers in a log that the older version cannot read", "the node would die at start", k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Minute, time.Hour), moves("snapshots-needed", kafkaversion.AwaitingSnapshot)),
		at("a lowered level was snapshotted away", "", k.cluster(3).at(oldLevel).wanting(old).lowered(1, 2*time.Hour, 10*time.Minute), moves("path-clear", roll.SelectingNode)),
		at("a lowered level was snapshotted away by a process that is not ready and serves", "", k.cluster(3).at(oldLevel).wanting(old).lowered(1, 3*time.Hour, time.Hour).but(rolltest.Restarted(1, 5*time.Hour), rolltest.Lapsed(1, 2*time.Hour)), moves("path-clear", roll.SelectingNode)),
		at("a lowered level was snapshotted away by a process that is not ready, unless another runs", "whether it serves is not known", k.cluster(3).at(oldLevel).wanting(old).lowered(1, 3*time.Hour, time.Hour).but(rolltest.Restarted(1, 5*time.Hour), rolltest.Lapsed(1, 2*time.Hour), rolltest.Silent), waits("on-level", "on-version")),
		at("a lowered level lingers on a process that never snapshots", "the wait would never end", k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Minute, 0), moves("snapshots-off", kafkaversion.Refusing)),
		at("a lowered level lingers on a node that is down and never snapshots", "it goes first, as the test: gates do not block recovery", k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Minute, 0).but(rolltest.Down(1)), moves("snapshots-needed", kafkaversion.AwaitingSnapshot)),
		at("a lowered level lingers on a process that never snapshots, and Kafka is silent", "", k.cluster(3).wanting(old).lowered(1, time.Minute, 0).silent(), moves("snapshots-off", kafkaversion.Refusing)),
		at("a lowered level lingers in the log of a broker alone", "it logs the fault and lives", k.split(3, 3).at(oldLevel).wanting(old).lowered(4, time.Minute, 0), moves("path-clear", roll.SelectingNode)),
		at("a lowered level is within what the desired version runs", "", k.cluster(3).on(old).at(oldLevel).wanting(newer).lowered(1, time.Minute, 0), moves("path-clear", roll.SelectingNode)),
		changed,
	}
}

func (k scenes) refused() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "refused: " + name, Reason: reason, State: kafkaversion.Refusing, Facts: s.facts(), Want: want}
	}
	changed := at("another version is desired", "", k.cluster(3), moves(machines.EventTargetChanged, kafkaversion.Checking))
	changed.Attempt = old
	open := moves("path-open", kafkaversion.Checking)
	return []machineRow{
		at("the level is still too high", "it stays refused until the spec error is gone", k.cluster(3).wanting(old), waits("path-allowed")),
		at("the level was lowered", "", k.cluster(3).at(oldLevel).wanting(old), open),
		at("Kafka is silent", "", k.cluster(3).wanting(old).silent(), waits("path-allowed")),
		at("the declaration is still broken", "", k.cluster(3).broken(), waits("declaration-sound")),
		at("the declaration was mended", "", k.cluster(3), open),
		at("everything is wrong", "the user sees all of it at once", k.cluster(3).wanting(old).broken().lowered(1, time.Minute, 0), waits("declaration-sound", "path-allowed", "snapshots-possible")),
		at("a process still never snapshots", "", k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Minute, 0), waits("snapshots-possible")),
		at("the process was restarted with an interval", "", k.cluster(3).at(oldLevel).wanting(old).lowered(1, time.Minute, time.Hour), open),
		at("the pinned metadata version was mended", "", k.cluster(3).pinned("4.1"), open),
		changed,
	}
}

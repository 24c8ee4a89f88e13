package kafkaversion_test

import (
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
)

// raising is a cluster whose nodes run the desired version at the level of the one before.
func (k scenes) raising() *scene { return k.cluster(3).from(old).at(oldLevel) }

// lowering is a cluster whose level is above the pinned one.
func (k scenes) lowering() *scene { return k.cluster(3).from(newer).pinned("4.0") }

func (k scenes) verifying() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "verifying: " + name, Reason: reason, State: kafkaversion.Verifying, Facts: s.facts(), Want: want}
	}
	changed := at("another version is desired", "", k.raising(), moves(machines.EventTargetChanged, kafkaversion.Checking))
	changed.Attempt = old
	finalize, lower := moves("finalize", kafkaversion.SettingMetadata), moves("lower", kafkaversion.SettingMetadata)
	stale := moves("registrations-stale", kafkaversion.AwaitingUnregistration)
	settled := moves("verified", kafkaversion.Settled)
	staleRegistration := rolltest.Registered(7)
	builds := func() *scene { return k.cluster(3).wanting(acme).moved(0, 1, 2).from(newer) }
	return []machineRow{
		at("binaries and level are where they belong", "", k.cluster(3).from(old), settled),
		at("a pinned level is respected", "it is not unfinished", k.raising().pinned("4.0"), settled),
		at("a pinned level that no Kafka has yet changes nothing", "it is a warning", k.cluster(3).pinned("5.11"), settled),
		at("the level is where it belongs and a stale registration is left", "a stale registration blocks the raise and nothing else", k.cluster(3).from(old).but(staleRegistration), settled),
		at("the level is where it belongs and registrations cannot be read", "", k.cluster(3).from(old).but(rolltest.Without(roll.NeedBrokers)), settled),
		at("a node is down", "", k.cluster(3).from(old).but(rolltest.Down(1)), waits("nodes-ready")),
		at("a node has not started on the desired version", "its record says what its disk last ran", k.cluster(3).on(old).wanting(newer).moved(0, 1).unstartedOn(2), waits("on-level")),
		at("the level cannot be read", "", k.raising().mute(), waits("on-level")),
		at("a node came back on another version", "", k.cluster(3).on(old).wanting(newer).moved(0, 1), moves("node-outdated", kafkaversion.Checking)),
		at("a node came back on another version and the declaration broke", "", k.cluster(3).on(old).wanting(newer).moved(0, 1).broken(), moves("node-outdated", kafkaversion.Checking)),
		at("the declaration broke", "nothing one-way is done on it", k.raising().broken(), moves("declaration-broken", kafkaversion.Checking)),
		at("the declaration of a cluster that is where it belongs broke", "", k.cluster(3).broken(), moves("declaration-broken", kafkaversion.Checking)),
		at("the declaration broke after another build", "", builds().broken(), moves("declaration-broken", kafkaversion.Checking)),
		at("the desired version is not allowed any more", "", k.raising().pinned("4.1-IV9"), moves("path-closed", kafkaversion.Checking)),
		at("the declaration broke and the desired version is not allowed any more", "", k.raising().pinned("4.1-IV9").broken(), moves("declaration-broken", kafkaversion.Checking)),

		at("another build of the same version", "it is a roll: the level stays for this attempt", builds().at(oldLevel), moves("build-rolled", kafkaversion.Settled)),
		at("another build of the same version, and the last node has not started on it", "", k.cluster(3).wanting(acme).moved(0, 1).unstartedOn(2).from(newer), waits("on-level")),
		at("another build of the same version, and Kafka is silent", "", builds().silent(), moves("build-rolled", kafkaversion.Settled)),
		at("another build of the same version, and a node is down", "", builds().at(oldLevel).but(rolltest.Down(1)), waits("nodes-ready", "on-level")),
		at("another build of the same version with a pin that is none", "", builds().pinned("4.1-IV9"), moves("build-rolled", kafkaversion.Settled)),
		at("an attempt whose start is no version", "", k.raising().from(""), finalize),

		at("the level may be raised", "", k.raising(), finalize),
		at("the level may be raised and a removed node is on record with the old version", "its disk will never start again", k.raising().formerly(3, old), finalize),
		at("the level may be raised although a leaving broker is registered", "it runs the desired version like the others", k.cluster(4).from(old).at(oldLevel).leavingNode(3), finalize),
		at("the level may be raised although a leaving broker is down", "it may never be ready", k.cluster(4).from(old).at(oldLevel).leavingNode(3).but(rolltest.Down(3)), finalize),
		at("the level may be raised and a node is down beside a leaving broker", "", k.cluster(4).from(old).at(oldLevel).leavingNode(3).but(rolltest.Down(1)), waits("nodes-ready", "on-level")),
		at("the level may be raised and a node is down", "", k.raising().but(rolltest.Down(1)), waits("nodes-ready", "on-level")),
		at("a stale registration binds the level", "Kafka would refuse, because of a binary that is gone", k.raising().but(staleRegistration), stale),
		at("a stale registration binds the level and a node is down", "", k.raising().but(staleRegistration, rolltest.Down(1)), stale),
		at("registrations cannot be read", "the user reads which answer is missing", k.raising().but(rolltest.Without(roll.NeedBrokers)), waits("on-level", "no-stale-registration", "binaries-proven")),
		at("registrations can be read and the level cannot", "", k.raising().mute().but(staleRegistration), waits("on-level", "no-stale-registration", "binaries-proven")),

		at("a pod is not proven to run the desired version", "a node that dies of the level is not brought back by any restart", k.raising().unproven(1, "its record does not say yet that Kafka 4.1.2 was started"), waits("on-level", "binaries-proven")),
		at("a pod contradicts the version that was written for it", "", k.raising().unproven(1, "it runs image apache/kafka:4.0.2"), waits("on-level", "binaries-proven")),
		at("a pod is not proven to run the desired version, and no level is to be raised", "", k.cluster(3).unproven(1, "its pod is not the one that its StrimziPodSet describes"), settled),
		at("a broker is registered on a node that has no pod", "", k.raising().formerly(7, newer).wantingBroker(7).but(staleRegistration), waits("on-level", "binaries-proven")),
		at("a voter is no node of the cluster", "its binary is not known, and it has to read the level", k.raising().but(rolltest.Voting(8)), waits("on-level", "binaries-proven")),
		at("Kafka lists no voters", "what is not there proves nothing", k.raising().but(rolltest.Voterless), waits("on-level", "binaries-proven")),
		at("the voters cannot be read", "", k.raising().but(rolltest.Without(roll.NeedQuorum)), waits("on-level", "binaries-proven")),
		at("the voters cannot be read, and a lower level is desired", "", k.lowering().but(rolltest.Without(roll.NeedQuorum)), lower),
		at("a broker reports a binary that does not run the level", "Kafka's own report outranks what was written", k.raising().reporting(1, 7, oldLevel), waits("on-level", "binaries-proven")),
		at("a broker reports a binary that runs the level", "", k.raising().reporting(1, 7, newerLevel), finalize),

		at("the soaking time has not passed", "", k.raising().soaking(2*time.Hour), moves("soak", kafkaversion.Soaking)),
		at("the soaking time has passed", "", k.raising().soaking(time.Hour), finalize),
		at("the soaking time has not passed since a node restarted", "the newest process counts", k.raising().soaking(30*time.Minute).but(rolltest.Restarted(2, time.Minute)), moves("soak", kafkaversion.Soaking)),
		at("the soaking time has not passed and a stale registration is left", "", k.raising().soaking(2*time.Hour).but(staleRegistration), stale),
		at("the soaking time has not passed and an approval is missing", "", k.raising().soaking(2*time.Hour).byApproval(), moves("soak", kafkaversion.Soaking)),
		at("the level is where it belongs before the soaking time has passed", "", k.cluster(3).soaking(2*time.Hour), settled),

		at("the soaking time cannot be read", "the time is unknown, and the raise cannot be undone", k.raising().soakingUnreadably(), moves("soak", kafkaversion.Soaking)),
		at("the soaking time cannot be read and an approval is there", "", k.raising().soakingUnreadably().approved(approvedRaise), moves("soak", kafkaversion.Soaking)),
		at("the soaking time cannot be read and a lower level is desired", "", k.lowering().soakingUnreadably(), lower),
		at("the soaking time cannot be read and the level is where it belongs", "", k.cluster(3).soakingUnreadably(), settled),

		at("an approval is missing", "", k.raising().byApproval(), moves("approval-needed", kafkaversion.AwaitingApproval)),
		at("another attempt was approved", "going back and forth does not carry an approval along", k.raising().approved("000000/4.1-IV1"), moves("approval-needed", kafkaversion.AwaitingApproval)),
		at("this attempt was approved", "", k.raising().approved(approvedRaise), finalize),
		at("another level was approved", "a higher level closes more ways back", k.raising().approved(attemptID+"/4.1-IV0"), moves("approval-needed", kafkaversion.AwaitingApproval)),
		at("the level that was approved is not the pinned one any more", "", k.raising().pinned("4.1-IV0").approved(approvedRaise), moves("approval-needed", kafkaversion.AwaitingApproval)),
		at("the pinned level was approved", "", k.raising().pinned("4.1-IV0").approved(attemptID+"/4.1-IV0"), finalize),
		at("an attempt was approved without a level", "", k.raising().approved(attemptID), moves("approval-needed", kafkaversion.AwaitingApproval)),
		at("an approval and a stale registration are open", "", k.raising().byApproval().but(staleRegistration), stale),
		at("the level is where it belongs without an approval", "", k.cluster(3).byApproval(), settled),

		at("a lower level is desired", "", k.lowering(), lower),
		at("a lower level is desired while a stale registration is left", "nothing old binds a lower level", k.lowering().but(staleRegistration), lower),
		at("a lower level is desired before the soaking time has passed, without an approval", "both are only for a raise, which cannot be undone", k.lowering().soaking(2*time.Hour).byApproval(), lower),
		at("a lower level is desired and the record of a controller cannot be written", "nothing would show that its log holds the higher level", k.lowering().unrecorded(1), waits("on-level")),
		at("the level cannot be read and the record of a controller cannot be written", "", k.lowering().unrecorded(1).mute(), waits("on-level")),
		at("the level may be raised and the record of a controller cannot be written", "", k.raising().unrecorded(1), finalize),
		at("the level is where it belongs and the record of a controller cannot be written", "", k.cluster(3).from(old).unrecorded(1), settled),
		at("a lower level is desired and a node is down", "", k.lowering().but(rolltest.Down(1)), waits("nodes-ready", "on-level")),
		changed,
	}
}

func (k scenes) awaitingWhatRaises() []machineRow {
	at := func(state, name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: name, Reason: reason, State: state, Facts: s.facts(), Want: want}
	}
	const (
		unregistration = kafkaversion.AwaitingUnregistration
		soaking        = kafkaversion.Soaking
		approval       = kafkaversion.AwaitingApproval
	)
	changed := func(state, name string) machineRow {
		r := at(state, name, "", k.raising(), moves(machines.EventTargetChanged, kafkaversion.Checking))
		r.Attempt = old
		return r
	}
	staleRegistration := rolltest.Registered(7)
	withdrawn := moves("nothing-to-raise", kafkaversion.Verifying)
	return []machineRow{
		at(unregistration, "awaiting unregistration: a broker that is gone is still registered", "", k.raising().but(staleRegistration), waits("no-stale-registration")),
		at(unregistration, "awaiting unregistration: none is left", "", k.raising(), moves("unregistered", kafkaversion.Verifying)),
		at(unregistration, "awaiting unregistration: registrations cannot be read", "", k.raising().but(rolltest.Without(roll.NeedBrokers)), waits("no-stale-registration")),
		at(unregistration, "awaiting unregistration: the level is pinned where it is", "nothing is bound any more", k.raising().pinned("4.0").but(staleRegistration), moves("unregistered", kafkaversion.Verifying)),
		changed(unregistration, "awaiting unregistration: another version is desired"),

		at(soaking, "soaking: the time has not passed", "", k.raising().soaking(2*time.Hour), waits("soaked")),
		at(soaking, "soaking: the time has passed", "", k.raising().soaking(time.Hour), moves("soaked", kafkaversion.Verifying)),
		at(soaking, "soaking: a leaving broker dies again and again", "it need not be ready", k.cluster(4).from(old).at(oldLevel).leavingNode(3).soaking(30*time.Minute).but(rolltest.Restarted(3, time.Minute)), moves("soaked", kafkaversion.Verifying)),
		at(soaking, "soaking: the time cannot be read any more", "", k.raising().soakingUnreadably(), waits("soaked")),
		at(soaking, "soaking: the time cannot be read and the level was raised by hand", "", k.cluster(3).soakingUnreadably(), withdrawn),
		at(soaking, "soaking: it is not requested any more", "", k.raising(), moves("soaked", kafkaversion.Verifying)),
		at(soaking, "soaking: the time has passed and the level was raised by hand", "", k.cluster(3).soaking(time.Hour), moves("soaked", kafkaversion.Verifying)),
		at(soaking, "soaking: the level was raised by hand", "", k.cluster(3).soaking(2*time.Hour), withdrawn),
		at(soaking, "soaking: the level is pinned where it is", "", k.raising().pinned("4.0").soaking(2*time.Hour), withdrawn),
		at(soaking, "soaking: Kafka is silent", "", k.raising().soaking(2*time.Hour).silent(), waits("soaked", "not(raise-due)")),
		changed(soaking, "soaking: another version is desired"),

		at(approval, "awaiting approval: not approved", "", k.raising().byApproval(), waits("approved")),
		at(approval, "awaiting approval: another attempt was approved", "", k.raising().approved("000000/4.1-IV1"), waits("approved")),
		at(approval, "awaiting approval: another level was approved", "", k.raising().approved(attemptID+"/4.1-IV0"), waits("approved")),
		at(approval, "awaiting approval: this attempt was approved", "", k.raising().approved(approvedRaise), moves("approved", kafkaversion.Verifying)),
		at(approval, "awaiting approval: no approval is needed any more", "", k.raising(), moves("approved", kafkaversion.Verifying)),
		at(approval, "awaiting approval: approved, and the level was raised by hand", "", k.cluster(3).approved(approvedRaise), moves("approved", kafkaversion.Verifying)),
		at(approval, "awaiting approval: the level was raised by hand", "what has happened needs no approval", k.cluster(3).byApproval(), withdrawn),
		at(approval, "awaiting approval: Kafka is silent", "", k.raising().byApproval().silent(), waits("approved")),
		changed(approval, "awaiting approval: another version is desired"),
	}
}

func updateTo(level int16, kind kafka.UpdateKind) kafkaversion.Effect {
	return kafkaversion.Effect{Update: &kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: level, Kind: kind}}
}

func (k scenes) settingMetadata() []machineRow {
	at := func(name, reason string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "setting metadata: " + name, Reason: reason, State: kafkaversion.SettingMetadata, Facts: s.facts(), Want: want}
	}
	asks := func(level int16, kind kafka.UpdateKind) machineWant {
		w := waits("on-level")
		w.Effects = []kafkaversion.Effect{updateTo(level, kind)}
		return w
	}
	back := moves(machines.EventPreconditionFailed, kafkaversion.Verifying)
	again := moves("overtaken", kafkaversion.Verifying)
	staleRegistration := rolltest.Registered(7)
	blocked := waits("on-level")
	blocked.Blocked = []string{"any(lower-due, all(no-stale-registration, binaries-proven, soaked, approved))"}
	return []machineRow{
		at("Kafka is asked to raise", "", k.raising(), asks(newerLevel, kafka.Upgrade)),
		at("Kafka is asked to raise to the pinned level", "", k.raising().pinned("4.1-IV0"), asks(26, kafka.Upgrade)),
		at("Kafka is asked to lower", "a safe downgrade only", k.lowering(), asks(oldLevel, kafka.SafeDowngrade)),
		at("Kafka is asked to lower while a stale registration is left, without soaking and approval", "", k.lowering().but(staleRegistration).soaking(2*time.Hour).byApproval(), asks(oldLevel, kafka.SafeDowngrade)),
		at("Kafka was asked and has not answered", "", k.raising().answered(kafkaversion.Asked), waits("on-level", "update-answered")),
		at("Kafka did as asked and does not show it yet", "", k.raising().answered(kafkaversion.Done).after(29*time.Second), waits("on-level")),
		at("the level is reached", "", k.cluster(3).answered(kafkaversion.Done), moves("level-reached", kafkaversion.Settled)),
		at("the level is reached although the answer was lost", "", k.cluster(3).answered(kafkaversion.Unknown), moves("level-reached", kafkaversion.Settled)),
		at("the level is reached although Kafka refused", "somebody else raised it", k.cluster(3).answered(kafkaversion.Refused), moves("level-reached", kafkaversion.Settled)),
		at("Kafka refused", "", k.raising().answered(kafkaversion.Refused), moves("refused", kafkaversion.MetadataRefused)),
		at("Kafka refused and its level cannot be read", "", k.raising().answered(kafkaversion.Refused).mute(), moves("refused", kafkaversion.MetadataRefused)),
		at("the answer was lost", "the level itself is the evidence", k.raising().answered(kafkaversion.Unknown), moves("answer-lost", kafkaversion.Verifying)),
		at("the answer was lost and the level cannot be read", "", k.raising().answered(kafkaversion.Unknown).mute(), moves("answer-lost", kafkaversion.Verifying)),
		at("the level cannot be read", "nothing is requested while the level of Kafka is unknown", k.raising().mute(), waits("on-level")),
		at("Kafka was asked and its level cannot be read", "", k.raising().answered(kafkaversion.Asked).mute(), waits("on-level", "update-answered")),

		at("another version is desired before Kafka was asked", "", k.cluster(3).at(oldLevel).wanting(old), again),
		at("another version is desired before Kafka was asked, and Kafka is silent", "", k.cluster(3).at(oldLevel).wanting(old).silent(), again),
		at("another version is desired while Kafka has not answered", "a level that is raised after all kills the nodes that went back: the answer comes first", k.cluster(3).at(oldLevel).wanting(old).answered(kafkaversion.Asked), waits("on-level", "update-answered")),
		at("another version is desired, Kafka did as asked and was not read since for long", "the reading may be older than the answer", k.cluster(3).at(oldLevel).wanting(old).answered(kafkaversion.Done).readAgo(40*time.Second), waits("on-level")),
		at("another version is desired and Kafka did as asked", "", k.cluster(3).wanting(old).answered(kafkaversion.Done), again),
		at("another level is desired, and Kafka did as asked", "", k.lowering().answered(kafkaversion.Done), again),
		at("another level is desired before Kafka was asked, and it is the one that is", "", k.raising().pinned("4.0"), moves("level-reached", kafkaversion.Settled)),
		at("another level is desired while Kafka has not answered, and it is the one that is", "Kafka may settle the request yet: it would leave the level that is wanted again", k.raising().pinned("4.0").answered(kafkaversion.Asked), waits("update-answered")),
		at("the desired version is not allowed any more", "", k.raising().pinned("4.1-IV9"), again),

		at("the declaration broke", "", k.raising().broken(), back),
		at("a lower level is desired and the record of a controller is not written yet", "", k.lowering().unrecorded(1), back),
		at("a node went down", "", k.raising().but(rolltest.Down(1)), back),
		at("a stale registration appeared", "", k.raising().but(staleRegistration), back),
		at("a pod is not proven to run the desired version any more", "", k.raising().unproven(1, "it runs image apache/kafka:4.0.2"), back),
		at("a voter that is no node of the cluster appeared", "", k.raising().but(rolltest.Voting(8)), back),
		at("the voters cannot be read", "", k.raising().but(rolltest.Without(roll.NeedQuorum)), blocked),
		at("a node restarted during the soaking time", "", k.raising().soaking(30*time.Minute).but(rolltest.Restarted(2, time.Minute)), back),
		at("the soaking time cannot be read any more", "", k.raising().soakingUnreadably(), blocked),
		at("a higher level is desired than was approved", "", k.raising().approved(attemptID+"/4.1-IV0"), back),
		at("the approval was withdrawn", "", k.raising().byApproval(), back),
		at("registrations cannot be read", "", k.raising().but(rolltest.Without(roll.NeedBrokers)), blocked),
	}
}

func (k scenes) metadataRefused() []machineRow {
	at := func(name string, s *scene, want machineWant) machineRow {
		return machineRow{Name: "metadata refused: " + name, State: kafkaversion.MetadataRefused, Facts: s.facts(), Want: want}
	}
	changed := at("another version is desired", k.raising(), moves(machines.EventTargetChanged, kafkaversion.Checking))
	changed.Attempt = old
	return []machineRow{
		at("the pause has not passed", k.raising().answered(kafkaversion.Refused).after(59*time.Second), waits("time-to-ask-again")),
		at("the back-off has passed", k.raising().after(time.Minute), moves("ask-again", kafkaversion.Verifying)),
		changed,
	}
}

package kraftscaledown_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

type effects = []kraftscaledown.Effect

func level(l int16) kafka.Features {
	return kafka.Features{Finalized: map[string]int16{kafka.MetadataVersion: l}}
}

func drain(f *facts)          { f.Drain = true }
func featuresSilent(f *facts) { f.Features = transitions.Unreadable[kafka.Features](errSilent) }
func movesSilent(f *facts)    { f.Moves = transitions.Unreadable[kraftscaledown.Moves](errSilent) }
func cordonsSilent(f *facts)  { f.Cordons = transitions.Unreadable[map[int32]bool](errSilent) }
func beforeCordons(f *facts)  { f.Features = transitions.Known(level(kafka.MetadataCordons-1), now) }

// drained is a node whose drain was begun when it had two partitions.
func drained(id int32) change { return with(node{ID: id, Runs: true, Draining: 2}) }

// cordoned makes a broker report whether it is cordoned.
func cordoned(id int32, is bool) change {
	return func(f *facts) {
		all, _ := f.Cordons.Get()
		all[id] = is
	}
}

// partition gives broker the only partition orders-0, with this number of replicas.
func partition(id int32, wide int) change {
	return func(f *facts) {
		holds(id, 1)(f)
		m, _ := f.Moves.Get()
		r := kafka.Replicas{Broker: id}
		replicas := []int32{id, 0, 1, 2}[:wide]
		r.Add(kafka.Partition{Topic: "orders", Replicas: replicas}, 0)
		m.Replicas = append(m.Replicas, r)
		f.Moves = transitions.Known(m, now)
		listed(1, kafka.Unfenced)(f)
	}
}

// down is a broker that neither answers nor is ready, and that Kafka lists as fenced. Its drain was begun if it had partitions then.
func down(id int32, partitions int) change {
	return func(f *facts) {
		with(node{ID: id, Runs: true, Down: true, Draining: partitions})(f)
		listed(id, kafka.Fenced)(f)
	}
}

// moving takes orders-0 off the broker.
func moving(id int32) change {
	return func(f *facts) {
		m, _ := f.Moves.Get()
		m.Moving.Add(kafka.Reassignment{Topic: "orders", Replicas: []int32{id, 0, 1}, Adding: []int32{1}, Removing: []int32{id}})
		f.Moves = transitions.Known(m, now)
	}
}

func manyMoving(f *facts) {
	f.Moves = transitions.Known(kraftscaledown.Moves{Moving: kafka.Reassignments{Total: 101}}, now)
}

func beginDrain(id int32, partitions int) effects {
	return effects{{Drain: &kraftscaledown.Drain{Broker: id, Partitions: partitions}}}
}
func setCordon(id int32, is bool) effects {
	return effects{{Cordon: &kafka.Cordon{Broker: id, Cordoned: is}}}
}
func endDrain(id int32) effects { return effects{{EndDrain: &id}} }
func move(replicas ...int32) effects {
	return effects{{Move: []kafka.Move{{Topic: "orders", Replicas: replicas}}}}
}

func draining() []row {
	const waiting, cordoning, state, ending, refused = kraftscaledown.AwaitingEmpty, kraftscaledown.Cordoning, kraftscaledown.Draining, kraftscaledown.EndingDrain, kraftscaledown.DrainRefused
	free := func(state, name string, f facts, w want) row {
		return row{Name: state + ": " + name, State: state, Facts: f, Want: w}
	}
	in := func(state, name string, f facts, w want) row {
		r := free(state, name, f, w)
		r.Data = hand(3)
		return r
	}
	waits := func(does effects, guards ...string) want { return want{WaitingFor: guards, Effects: does} }
	to := func(event, to string, id int32) want { return want{Event: event, To: to, Data: hand(id)} }
	lost := with(node{ID: 3, Draining: 2})
	again := with(node{ID: 3, Wanted: true, Runs: true, Draining: 2})
	return []row{
		free(waiting, "a drain is requested", of(drain, runs(3), partition(3, 2)), to("drain-requested", cordoning, 3)),
		free(waiting, "a drain is requested, and the check is skipped", of(drain, skip, runs(3), partition(3, 2)), to("drain-requested", cordoning, 3)),
		free(waiting, "a drain is requested, the check is skipped, and the partitions cannot be read", of(drain, skip, runs(3), empty(3), partitionsSilent), waits(nil, "broker-empty")),
		free(waiting, "a drain is requested, and the first of two is drained first", of(drain, runs(4), runs(3), partition(4, 2), partition(3, 2)), to("drain-requested", cordoning, 4)),
		free(waiting, "a drain that was begun comes before another", of(drain, runs(4), drained(3), partition(4, 2)), to("drain-requested", cordoning, 3)),
		free(waiting, "a drain that was begun is ended although the broker holds nothing", of(drain, drained(3), empty(3)), to("drain-requested", cordoning, 3)),
		free(waiting, "the disks of another broker cannot be read", of(drain, runs(4), runs(3), dirsSilent, partition(3, 2)), to("drain-requested", cordoning, 3)),
		free(waiting, "a broker that is empty is removed before another is drained", of(drain, runs(4), runs(3), partition(4, 2), empty(3)), to("broker-empty", kraftscaledown.StoppingNode, 3)),
		free(waiting, "a drain is requested, and the moves cannot be read", of(drain, runs(3), holds(3, 1), movesSilent), waits(nil, "broker-empty")),
		free(waiting, "a drain is requested, and the partitions cannot be read", of(drain, runs(3), empty(3), partitionsSilent), waits(nil, "broker-empty")),
		free(waiting, "a drain is requested, and the disks hold what the metadata does not list", of(drain, runs(3), dirs(kafka.LogDir{Path: "/data", Replicas: 1}, 3)), waits(nil, "broker-empty")),
		free(waiting, "a drain cannot end", of(drain, runs(3), partition(3, 4)), want{Event: "drain-refused", To: refused}),
		free(waiting, "a drain cannot end, and another node cannot come back", of(drain, with(node{ID: 4}), holds(4, 1), runs(3), partition(3, 4)), waits(nil, "broker-empty")),
		free(waiting, "a node that is drained is desired again", of(drain, again), to("drain-withdrawn", ending, 3)),
		free(waiting, "the drain is not requested any more", of(drained(3), holds(3, 1)), to("drain-withdrawn", ending, 3)),
		free(waiting, "the drain is not requested any more, and another broker is gone", of(drained(3), stopped(4)), to("drain-withdrawn", ending, 3)),
		free(waiting, "the drain is not requested any more, and the disks cannot be read", of(with(node{ID: 4, Runs: true, Stopped: true}), drained(3), dirsSilent), to("drain-withdrawn", ending, 3)),
		free(waiting, "a node that was drained cannot come back and holds nothing", of(drain, lost), to("gone-already", kraftscaledown.AwaitingGone, 3)),
		free(waiting, "a node that was drained cannot come back and holds replicas", of(drain, lost, partition(3, 2)), waits(nil, "broker-empty")),

		free(waiting, "a broker that answers is drained before one that is down", of(drain, down(4, 0), runs(3), partition(4, 2), partition(3, 2)), to("drain-requested", cordoning, 3)),
		free(waiting, "a broker is drained before one whose disk has failed", of(drain, runs(4), runs(3), partition(4, 2), partition(3, 2), dirs(failed, 4)), to("drain-requested", cordoning, 3)),
		free(waiting, "a broker whose disk has failed is drained after the others", of(drain, runs(4), partition(4, 2), dirs(failed, 4)), to("drain-requested", cordoning, 4)),
		free(waiting, "a broker that is down is drained after the others", of(drain, down(4, 0), partition(4, 2)), to("drain-requested", cordoning, 4)),
		free(waiting, "a broker that is down was drained", of(drain, down(3, 0)), to("broker-empty", kraftscaledown.StoppingNode, 3)),
		free(waiting, "a broker that is down holds nothing by the metadata, and no drain is requested", of(down(3, 0)), waits(nil, "broker-empty")),
		free(waiting, "a broker holds nothing by the metadata, and only its kubelet reports it as down", of(drain, with(node{ID: 3, Runs: true, Down: true}), listed(3, kafka.Unfenced)), waits(nil, "broker-empty")),
		free(waiting, "a broker holds nothing by the metadata, and only Kafka reports it as down", of(drain, runs(3), listed(3, kafka.Fenced)), waits(nil, "broker-empty")),

		free(refused, "the drain cannot end", of(drain, runs(3), partition(3, 4)), waits(nil, "drain-possible")),
		free(refused, "the moves cannot be read", of(drain, runs(3), holds(3, 1), movesSilent), waits(nil, "drain-possible")),
		free(refused, "the partitions cannot be read", of(drain, runs(3), partition(3, 4), partitionsSilent), waits(nil, "drain-possible")),
		free(refused, "the registrations cannot be read", of(drain, runs(3), partition(3, 4), brokersSilent), waits(nil, "drain-possible")),
		free(refused, "the topics have fewer replicas", of(drain, runs(3), partition(3, 3)), want{Event: "drain-possible", To: waiting}),
		free(refused, "the drain is not requested any more", of(runs(3), partition(3, 4)), want{Event: "drain-possible", To: waiting}),
		free(refused, "another broker is empty", of(drain, runs(4), runs(3), partition(3, 4)), want{Event: "drain-possible", To: waiting}),
		free(refused, "a registration is left from the past", of(drain, runs(3), partition(3, 4), listed(9, kafka.Fenced)), want{Event: "drain-possible", To: waiting}),
		free(refused, "every broker is desired", of(drain), want{Event: "drain-possible", To: waiting}),
		{Name: refused + ": the spec changed", State: refused, Attempt: "another", Facts: of(drain, runs(3), partition(3, 4)), Want: want{Event: machines.EventTargetChanged, To: waiting}},

		in(cordoning, "the drain is remembered", of(drain, runs(3), holds(3, 7)), waits(beginDrain(3, 7), "broker-cordoned")),
		in(cordoning, "the drain cannot be remembered without the number of partitions", of(drain, runs(3), partitionsSilent), waits(nil, "broker-cordoned")),
		in(cordoning, "the cordon is set", of(drain, drained(3), cordoned(3, false)), waits(setCordon(3, true), "broker-cordoned")),
		in(cordoning, "the broker does not report a cordon", of(drain, drained(3)), waits(nil, "broker-cordoned")),
		in(cordoning, "the cordons cannot be read", of(drain, drained(3), cordonsSilent), waits(nil, "broker-cordoned")),
		in(cordoning, "the metadata level cannot be read", of(drain, drained(3), cordoned(3, false), featuresSilent), waits(nil, "broker-cordoned")),
		in(cordoning, "the broker is cordoned", of(drain, drained(3), cordoned(3, true)), to("cordoned", state, 3)),
		in(cordoning, "Kafka does not know cordons", of(drain, drained(3), cordoned(3, false), beforeCordons), to("cordoned", state, 3)),
		in(cordoning, "the drain of a broker that is down is remembered", of(drain, down(3, 0), holds(3, 7)), waits(beginDrain(3, 7), "broker-cordoned")),
		in(cordoning, "a broker that is down cannot be cordoned", of(drain, down(3, 2), partition(3, 2)), to("cordoned", state, 3)),
		in(cordoning, "whether the broker is down is not known", of(drain, down(3, 2), brokersSilent), waits(nil, "broker-cordoned")),
		in(cordoning, "a directory cannot be read, and another broker is to be drained", of(drain, drained(3), dirs(forbidden, 3), runs(4), holds(4, 1), cordoned(3, false)), to("drain-deferred", ending, 3)),
		in(cordoning, "the metadata level cannot be read, the broker is down, and another one is to be drained", of(drain, down(3, 2), featuresSilent, runs(4), holds(4, 1)), to("drain-deferred", ending, 3)),
		in(cordoning, "the broker is down, and another one is to be drained", of(drain, down(3, 2), runs(4), holds(4, 1)), to("drain-deferred", ending, 3)),
		in(cordoning, "the broker answers, and another one is to be drained", of(drain, drained(3), runs(4), holds(4, 1), cordoned(3, false)), waits(setCordon(3, true), "broker-cordoned")),
		in(cordoning, "the node is desired again", of(drain, again, cordoned(3, true)), to("drain-withdrawn", ending, 3)),
		in(cordoning, "nothing is left of the node", of(drain), to("drain-withdrawn", ending, 3)),

		in(state, "replicas are moved", of(drain, drained(3), partition(3, 2), cordoned(3, true)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "replicas are moved with a Kafka that does not know cordons", of(drain, drained(3), beforeCordons, partition(3, 2)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the cordon cannot be read", of(drain, drained(3), partition(3, 2), cordonsSilent), want{WaitingFor: []string{"selected-broker-empty"}, Blocked: []string{"broker-cordoned"}}),
		in(state, "somebody else lifted the cordon", of(drain, drained(3), partition(3, 2), cordoned(3, false)), want{Event: machines.EventPreconditionFailed, To: waiting}),
		in(state, "further brokers leave, and too few stay", of(drain, drained(3), partition(3, 4), cordoned(3, true)), to("drain-refused", ending, 3)),
		in(state, "replicas are being moved", of(drain, drained(3), partition(3, 2), moving(3)), waits(nil, "selected-broker-empty")),
		in(state, "a broker that stays is cordoned, and another one gets the replica", of(drain, drained(3), partition(3, 2), cordoned(3, true), cordoned(1, true), listed(2, kafka.Unfenced)), waits(move(2, 0), "selected-broker-empty")),
		in(state, "the only broker that can get the replica is cordoned", of(drain, drained(3), partition(3, 2), cordoned(3, true), cordoned(1, true)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the broker is down, and the cordons of the others cannot be read", of(drain, down(3, 2), partition(3, 2), cordonsSilent), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the moves cannot be read", of(drain, drained(3), holds(3, 1), movesSilent), waits(nil, "selected-broker-empty")),
		in(state, "the registrations cannot be read", of(drain, drained(3), partition(3, 2), brokersSilent), waits(nil, "selected-broker-empty")),
		in(state, "the partitions cannot be read", of(drain, drained(3), partition(3, 2), partitionsSilent), waits(nil, "selected-broker-empty")),
		in(state, "the broker that gets the replica died, and another one gets it", of(drain, drained(3), partition(3, 2), moving(3), cordoned(3, true), listed(2, kafka.Unfenced), fenced(1), downOf(1)), waits(move(0, 2), "selected-broker-empty")),
		in(state, "the broker that gets the replica restarts", of(drain, drained(3), partition(3, 2), moving(3), cordoned(3, true), listed(2, kafka.Unfenced), fenced(1)), waits(nil, "selected-broker-empty")),
		in(state, "the broker that gets the replica died, and no other is alive", of(drain, drained(3), partition(3, 2), moving(3), cordoned(3, true), fenced(1), downOf(1)), waits(nil, "selected-broker-empty")),
		in(state, "the broker that would get the replica is fenced", of(drain, drained(3), partition(3, 2), fencedOthers), waits(nil, "selected-broker-empty")),
		in(state, "the disks still hold a replica", of(drain, drained(3), dirs(kafka.LogDir{Path: "/data", Replicas: 1}, 3)), waits(nil, "selected-broker-empty")),
		in(state, "the disks cannot be read", of(drain, drained(3), dirsSilent), waits(nil, "selected-broker-empty")),
		in(state, "the broker is empty", of(drain, drained(3), empty(3)), to("drained", ending, 3)),
		in(state, "whether the broker is empty is not known, and too few stay", of(drain, drained(3), partition(3, 4), partitionsSilent), waits(nil, "selected-broker-empty")),
		in(state, "the drain is not requested any more", of(drained(3), partition(3, 2)), to("drain-withdrawn", ending, 3)),
		in(state, "the node cannot come back", of(drain, lost, partition(3, 2)), to("drain-withdrawn", ending, 3)),
		in(state, "the check is skipped as well, which has no effect on a drain", of(drain, skip, drained(3), partition(3, 2), cordoned(3, true)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the check is skipped, and the drain is not requested any more", of(skip, drained(3), partition(3, 2)), to("drain-withdrawn", ending, 3)),
		in(state, "the node is desired again", of(drain, again, partition(3, 2)), to("drain-withdrawn", ending, 3)),

		in(state, "replicas are moved off a broker that is down", of(drain, down(3, 2), partition(3, 2)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "replicas are moved off a broker that Kafka does not list", of(drain, with(node{ID: 3, Runs: true, Down: true, Draining: 2}), partition(3, 2)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "a broker that is down holds nothing by the metadata", of(drain, down(3, 2)), to("drained", ending, 3)),
		in(state, "whether a broker that is down holds something is not known", of(drain, down(3, 2), partitionsSilent), waits(nil, "selected-broker-empty")),
		in(state, "the broker is down, and another one is to be drained", of(drain, down(3, 2), runs(4), partition(3, 2), holds(4, 1)), to("drain-deferred", ending, 3)),
		in(state, "the broker is down, and another one is empty", of(drain, down(3, 2), runs(4), partition(3, 2), empty(4)), to("drain-deferred", ending, 3)),
		in(state, "the broker is down, and the disks of another one cannot be read", of(drain, down(3, 2), runs(4), partition(3, 2)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the broker is down, and another one as well", of(drain, down(3, 2), down(4, 0), partition(3, 2), holds(4, 1)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the broker may be down, and the registrations cannot be read", of(drain, down(3, 2), runs(4), partition(3, 2), holds(4, 1), brokersSilent), waits(nil, "selected-broker-empty")),
		in(state, "the broker is down, and another one is desired", of(drain, down(3, 2), with(node{ID: 4, Wanted: true, Runs: true, Stopped: true}), partition(3, 2), holds(4, 1)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the broker answers, and its disk has failed, and nothing is left on it", of(drain, drained(3), dirs(failed, 3)), to("drained", ending, 3)),
		in(state, "a directory cannot be read, and another broker is to be drained", of(drain, drained(3), dirs(forbidden, 3), runs(4), holds(4, 1)), to("drain-deferred", ending, 3)),
		in(state, "a disk has failed, and another broker is to be drained", of(drain, drained(3), partition(3, 2), dirs(failed, 3), runs(4), holds(4, 1)), to("drain-deferred", ending, 3)),
		in(state, "a directory cannot be read, and another broker is empty", of(drain, drained(3), dirs(forbidden, 3), runs(4), empty(4)), to("drain-deferred", ending, 3)),
		in(state, "a directory cannot be read, and another broker has such a one as well", of(drain, drained(3), dirs(forbidden, 3, 4), runs(4), holds(4, 1)), waits(nil, "selected-broker-empty")),
		in(state, "a directory cannot be read, and no other broker leaves", of(drain, drained(3), dirs(forbidden, 3)), waits(nil, "selected-broker-empty")),
		in(state, "the disks cannot be read, and another broker is to be drained", of(drain, drained(3), dirsSilent, runs(4), holds(4, 1)), waits(nil, "selected-broker-empty")),
		in(state, "the broker answers, and another one is to be drained", of(drain, drained(3), runs(4), partition(3, 2), holds(4, 1), cordoned(3, true)), waits(move(1, 0), "selected-broker-empty")),
		in(state, "the drain of a broker that is down is not requested any more", of(down(3, 2), partition(3, 2)), to("drain-withdrawn", ending, 3)),

		in(ending, "moves off a broker that is down are cancelled", of(down(3, 2), partition(3, 2), moving(3)), waits(move(), "drain-ended")),
		in(ending, "the cordon of a broker that is down is left", of(down(3, 2)), waits(endDrain(3), "drain-ended")),
		in(ending, "the cordon of a broker that is down and answers is lifted", of(down(3, 2), cordoned(3, true)), waits(setCordon(3, false), "drain-ended")),
		in(ending, "a broker that is down, and the registrations cannot be read", of(down(3, 2), brokersSilent), waits(nil, "drain-ended")),
		in(ending, "Kafka does not know cordons", of(again, beforeCordons), waits(endDrain(3), "drain-ended")),
		in(ending, "the broker does not report a cordon, and the metadata level cannot be read", of(again, featuresSilent), waits(nil, "drain-ended")),
		in(ending, "the drain of a broker that is down was ended", of(down(3, 0)), want{Event: "drain-ended", To: waiting}),
		in(ending, "moves are cancelled first", of(again, partition(3, 2), moving(3), cordoned(3, true)), waits(move(), "drain-ended")),
		in(ending, "the moves cannot be read", of(again, movesSilent, cordoned(3, true)), waits(nil, "drain-ended")),
		in(ending, "not all reassignments are listed", of(again, manyMoving, cordoned(3, true)), waits(nil, "drain-ended")),
		in(ending, "the cordon is lifted", of(again, cordoned(3, true)), waits(setCordon(3, false), "drain-ended")),
		in(ending, "the cordons cannot be read", of(again, cordonsSilent), waits(nil, "drain-ended")),
		in(ending, "the broker does not report a cordon", of(again), waits(nil, "drain-ended")),
		in(ending, "the record is changed last", of(again, cordoned(3, false)), waits(endDrain(3), "drain-ended")),
		in(ending, "the node cannot come back, and its cordon cannot be lifted", of(lost), want{Event: "process-gone", To: waiting}),
		in(ending, "the node cannot come back, and its moves continue", of(lost, partition(3, 2), moving(3), cordoned(3, true)), want{Event: "process-gone", To: waiting}),
		in(ending, "the record is changed", of(runs(3), cordoned(3, false)), want{Event: "drain-ended", To: waiting}),
		in(ending, "nothing is left of the node", of(), want{Event: "drain-ended", To: waiting}),

		in(kraftscaledown.StoppingNode, "a drain has to end before the stop", of(drained(3), empty(3)), want{Event: machines.EventPreconditionFailed, To: waiting}),
		free("", "no persisted state: a node that was drained is desired again", of(again), want{Event: machines.EventInferred, To: waiting, Data: hand(roll.None)}),
	}
}

// fenced fences a broker that is listed.
func fenced(id int32) change {
	return func(f *facts) {
		brokers, _ := f.Brokers.Get()
		brokers = brokers.Clone()
		for i := range brokers.Brokers {
			if brokers.Brokers[i].ID == id {
				brokers.Brokers[i].Fencing = kafka.Fenced
			}
		}
		f.Brokers = transitions.Known(brokers, now)
	}
}

// downOf is a desired broker whose pod is down.
func downOf(id int32) change { return func(f *facts) { f.Down = append(f.Down, id) } }

func fencedOthers(f *facts) {
	f.Brokers = transitions.Known(kafka.Brokers{FencingReported: true, Brokers: []kafka.Broker{{ID: 0, Fencing: kafka.Unfenced}, {ID: 1, Fencing: kafka.Fenced}}}, now)
}

func held(id int32, partitions int) change {
	return func(f *facts) {
		for i := range f.Nodes {
			if f.Nodes[i].ID == id {
				f.Nodes[i].Held = &partitions
			}
		}
	}
}

func TestDefinitionProgress(t *testing.T) {
	count := kraftscaledown.Definition().Progress.Of
	for name, tc := range map[string]struct {
		facts facts
		want  machines.Count
	}{
		"no drain":                      {facts: of(runs(3), held(3, 2))},
		"nothing is left of the node":   {facts: of()},
		"one of two partitions":         {facts: of(drained(3), held(3, 1)), want: machines.Count{Done: 1, Total: 2, Current: "my-cluster-pool-3"}},
		"more partitions than at first": {facts: of(drained(3), held(3, 5)), want: machines.Count{Total: 2, Current: "my-cluster-pool-3"}},
		"the partitions are not known":  {facts: of(drained(3)), want: machines.Count{Unknown: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, count(&tc.facts, roll.Data{Node: 3})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

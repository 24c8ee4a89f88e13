// Package dynamicconfig is the lifecycle of the configurations of brokers that Kafka changes without a restart. A changed value is
// set as the dynamic value of all brokers while a broker runs that was started with another one. When every broker was started with
// the declared value, for any reason, the dynamic value is deleted: Kafka then keeps nothing that the spec does not declare.
package dynamicconfig

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "kafka-dynamic-configuration"

// States of the machine.
const (
	Settled       = "Settled"
	Remembering   = "Remembering"
	Altering      = "Altering"
	AwaitingRetry = "AwaitingRetry"
	Refusing      = "Refused"
	Forgetting    = "Forgetting"
)

// Effect is one request. Exactly one of its fields is set.
type Effect struct {
	// Remember is what the record of the cluster is to contain, in the form of Facts.Recorded.
	Remember *[]string
	// Alter changes dynamic values.
	Alter []kafka.Alteration
}

const (
	workDeadline  = 5 * time.Minute
	retryDeadline = time.Hour // a cluster without a controller takes no change
)

// Definition returns the machine: Settled -> Remembering -> Altering -> Settled (-> Forgetting -> Settled).
func Definition() machines.Definition[Facts, struct{}, Effect] {
	type (
		state = machines.State[Facts, struct{}, Effect]
		row   = machines.Transition[Facts, struct{}]
	)
	all := transitions.All[Facts, struct{}]
	due := transitions.Not(asDeclared, "a value that differs from the spec")
	always := transitions.AlwaysBecause[Facts, struct{}]("its transitions read the values that the brokers report, and one of them is due whenever they or the spec change")
	work := func(name, onTargetChange string, action *machines.Action[Facts, struct{}, Effect], doc string) state {
		return state{State: states.State{Name: name, Kind: states.Work, Doc: doc, Deadline: workDeadline}, Invariant: always, OnTargetChange: onTargetChange, Action: action}
	}
	return machines.Definition[Facts, struct{}, Effect]{
		Name: Name, Doc: "changes the configuration of running brokers, as far as Kafka takes it without a restart",
		States: []state{
			{State: states.State{Name: Settled, Kind: states.Rest, Doc: "every broker uses the declared values of its dynamic configurations"}},
			work(Remembering, Remembering, remember, "the configurations that are about to be altered are being recorded"),
			work(Altering, Remembering, alter, "dynamic values are being changed"),
			{
				State:     states.State{Name: AwaitingRetry, Kind: states.Wait, Doc: "the last request failed, has no answer or had no effect; repeated after a pause", Deadline: retryDeadline},
				Invariant: always, OnTargetChange: Remembering,
			},
			{State: states.State{Name: Refusing, Kind: states.Hold, HoldReason: states.Refusal, Doc: "Kafka refused a value; the brokers keep the values that they have; retried after a back-off", Poll: states.DefaultPoll}, OnTargetChange: Remembering},
			work(Forgetting, machines.KeepAttempt, forget, "configurations without a dynamic value are being removed from the record"),
		},
		Transitions: []row{
			{Event: "value-differs", From: Settled, To: Remembering, NewAttempt: true, When: all(due, sound), Doc: "a broker uses another value than the declared one"},
			{Event: "value-gone", From: Settled, To: Forgetting, NewAttempt: true, When: all(surplus, quiet), Doc: "a recorded configuration has no dynamic value any more"},

			{Event: "nothing-to-alter", From: Remembering, To: Settled, When: asDeclared, Outranks: true, Doc: "every broker uses the declared values"},
			{Event: "declaration-broken", From: Remembering, To: Settled, When: transitions.Not(sound, "a spec that cannot be applied"), EvenIfUnknown: true, Outranks: true, Doc: "the spec cannot be applied any more"},
			{Event: "recorded", From: Remembering, To: Altering, When: all(due, recorded), Awaited: true, Doc: "the record names what is about to be altered"},

			{Event: "altered", From: Altering, To: Settled, When: all(asDeclared, answered), Awaited: true, Outranks: true, Doc: "every broker reports the declared values"},
			{Event: "own-value-refused", From: Altering, To: AwaitingRetry, When: all(refused, ownOnly), Outranks: true, Doc: "Kafka refused to change the value of a single broker, with which no process is started"},
			{Event: "refused", From: Altering, To: Refusing, When: refused, EvenIfUnknown: true, Outranks: true, Doc: "Kafka refused a value"},
			{Event: "step-taken", From: Altering, To: Remembering, When: stepped, Outranks: true, Doc: "Kafka changes the size of a thread pool at most to the double or the half: the next step is due"},
			{Event: "failed", From: Altering, To: AwaitingRetry, When: failed, EvenIfUnknown: true, Doc: "the outcome is not known, or the values have not changed"},

			{Event: "altered", From: AwaitingRetry, To: Settled, When: asDeclared, Outranks: true, Doc: "every broker reports the declared values"},
			{Event: "retried", From: AwaitingRetry, To: Remembering, When: rested, Awaited: true, EvenIfUnknown: true, Doc: "the pause has passed"},
			{Event: "retried", From: Refusing, To: Remembering, When: backedOff, Awaited: true, Doc: "the back-off has passed"},

			{Event: "forgotten", From: Forgetting, To: Settled, When: transitions.Not(surplus, "a recorded configuration without a dynamic value"), Awaited: true, Doc: "the record names dynamic values only"},
		},
		Needs:  []machines.Need{{Name: NeedSettings, Doc: "the dynamic configurations of each broker, by source (DescribeConfigs)"}},
		Target: func(f *Facts) machines.Target { return machines.Target{To: f.target()} },
		Infer: machines.Inference[Facts, struct{}]{States: []string{Settled}, Find: func(*Facts) (machines.InferredState[struct{}], transitions.Verdict) {
			return machines.InferredState[struct{}]{State: Settled}, transitions.Allow()
		}},
		Records: []machines.Record{
			{Name: "altered", Home: "ConfigMap <cluster>-dynamic-configuration", Doc: "the configurations whose dynamic value is Detent's, and the values; without it a value that is not declared any more is taken for a user's and stays"},
		},
	}
}

// remember adds to the record. Nothing is altered before.
var remember = &machines.Action[Facts, struct{}, Effect]{
	Name: "remember", Doc: "adds the configurations that are about to be altered to the record", Needs: settings(),
	Effects: func(f *Facts, _ struct{}) []Effect {
		due, known := f.due()
		if !known || f.covers(due) {
			return nil
		}
		names := f.recordFor(due)
		return []Effect{{Remember: &names}}
	},
}

// alter sends one request in each visit.
var alter = &machines.Action[Facts, struct{}, Effect]{
	Name: "alter", Doc: "sets and deletes dynamic values", Needs: settings(), ResolvedBy: NeedSettings,
	Precondition: transitions.All(sound, recorded), OnPreconditionFailed: Remembering,
	Effects: func(f *Facts, _ struct{}) []Effect {
		due, known := f.due()
		if !known || due.none() || unasked.Verdict(f, struct{}{}).Answer != transitions.Yes {
			return nil
		}
		return []Effect{{Alter: due.alterations()}}
	},
}

// forget removes from the record, once nothing that was requested can take effect any more.
var forget = &machines.Action[Facts, struct{}, Effect]{
	Name: "forget", Doc: "removes configurations without a dynamic value from the record", Needs: settings(),
	Precondition: quiet, OnPreconditionFailed: Settled,
	Effects: func(f *Facts, _ struct{}) []Effect {
		left := f.left()
		if len(left) == 0 {
			return nil
		}
		names := slices.DeleteFunc(slices.Clone(f.Recorded), func(name string) bool { return slices.Contains(left, name) })
		return []Effect{{Remember: &names}}
	},
}

//test:norace
package dynamicconfig_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

type (
	row   = machinetest.Row[dynamicconfig.Facts, struct{}, dynamicconfig.Effect]
	want  = machinetest.Want[struct{}, dynamicconfig.Effect]
	facts = dynamicconfig.Facts
)

const (
	name = "compression.type"
	size = "message.max.bytes"
	pool = "num.io.threads"
)

var (
	now       = machinetest.Start
	errSilent = errors.New("connection refused")
)

// setting is a value on one broker: static, of all brokers, and its own; empty for none.
func setting(static, cluster, own string) kafka.Setting {
	s := kafka.Setting{Default: new("producer")}
	for _, v := range []struct {
		of   **string
		text string
	}{{&s.Static, static}, {&s.Cluster, cluster}, {&s.Broker, own}} {
		if v.text != "" {
			*v.of = &v.text
		}
	}
	return s
}

// declared returns brokers with these settings, in a cluster that declares zstd and entered its state a minute ago.
func declared(all ...kafka.Setting) facts {
	f := facts{Now: now, EnteredAt: now.Add(-time.Minute), Pause: time.Minute, Declared: map[string]string{name: "zstd"}}
	reported := map[int32]kafka.Settings{}
	for i, s := range all {
		id := int32(i) //nolint:gosec // two or three
		f.Brokers = append(f.Brokers, dynamicconfig.Broker{ID: id, Pod: "pool-" + string(rune('0'+i))})
		reported[id] = kafka.Settings{name: s}
	}
	f.Settings = transitions.Known(reported, now)
	return f
}

func changed(f facts, change func(*facts)) facts {
	change(&f)
	return f
}

func undeclared(f facts) facts { return changed(f, func(f *facts) { f.Declared = nil }) }

func recorded(f facts) facts { return changed(f, func(f *facts) { f.Recorded = []string{name} }) }

// set is a record of values that Detent has set.
func set(f facts, values ...string) facts {
	return changed(f, func(f *facts) {
		f.Recorded = nil
		for _, value := range values {
			f.Recorded = append(f.Recorded, name+"="+value)
		}
	})
}

func broken(f facts) facts {
	return changed(f, func(f *facts) { f.Problem = transitions.Problemf("NodeIDsRefused", "two pools claim node id 3") })
}

func silent(f facts) facts {
	return changed(f, func(f *facts) { f.Settings = transitions.Unreadable[map[int32]kafka.Settings](errSilent) })
}

func answer(f facts, status kafkaversion.Status) facts {
	return changed(f, func(f *facts) { f.Answer.Status = status })
}

func entered(f facts, ago time.Duration) facts {
	return changed(f, func(f *facts) { f.EnteredAt = now.Add(-ago) })
}

// absent adds a broker that does not answer.
func absent(f facts) facts {
	return changed(f, func(f *facts) { f.Brokers = append(f.Brokers, dynamicconfig.Broker{ID: 9, Pod: "pool-9"}) })
}

// The situations: started with the declared value, with another one, and with that but altered.
func same() facts  { return declared(setting("zstd", "", ""), setting("zstd", "", "")) }
func other() facts { return declared(setting("zstd", "", ""), setting("gzip", "", "")) }
func altered() facts {
	return recorded(declared(setting("zstd", "zstd", ""), setting("gzip", "zstd", "")))
}
func spare() facts {
	return recorded(declared(setting("zstd", "zstd", ""), setting("zstd", "zstd", "")))
}

// ownThreads is a broker that was started with the declared 8 threads and has a value of its own.
func ownThreads(own string) facts {
	f := threads("8", "8", "")
	reported, _ := f.Settings.Get()
	s := reported[0][pool]
	s.Broker = &own
	reported[0][pool] = s
	return f
}

// threads is a broker with sizes of a thread pool: the declared one, the one that it was started with, and the dynamic one.
func threads(wanted, static, cluster string) facts {
	return changed(declared(setting("", "", "")), func(f *facts) {
		s := setting(static, cluster, "")
		s.Default = new("8")
		f.Declared, f.Recorded = map[string]string{pool: wanted}, []string{pool}
		f.Settings = transitions.Known(map[int32]kafka.Settings{0: {pool: s}}, now)
	})
}

// minISR is a broker with values of min.insync.replicas: the declared one, the one that it was started with, and the one that Kafka has
// written for all brokers; empty for none.
func minISR(wanted, static, cluster string) facts {
	return changed(declared(setting("", "", "")), func(f *facts) {
		s := setting(static, cluster, "")
		s.Default = new("1")
		if f.Declared = nil; wanted != "" {
			f.Declared = map[string]string{kafka.ConfigMinISR: wanted}
		}
		f.Settings = transitions.Known(map[int32]kafka.Settings{0: {kafka.ConfigMinISR: s}}, now)
	})
}

// recordedMinISR is a record of a value that Detent has set, or of the name alone, as earlier releases wrote it.
func recordedMinISR(f facts, value ...string) facts {
	return changed(f, func(f *facts) {
		f.Recorded = []string{strings.Join(append([]string{kafka.ConfigMinISR}, value...), "=")}
	})
}

func remembers(names ...string) []dynamicconfig.Effect {
	return []dynamicconfig.Effect{{Remember: &names}}
}

func alters(all ...kafka.Alteration) []dynamicconfig.Effect {
	return []dynamicconfig.Effect{{Alter: all}}
}

func rows() []row {
	begins := want{Event: "value-differs", To: dynamicconfig.Remembering}
	sets := alters(kafka.Alteration{Set: map[string]string{name: "zstd"}})
	deletes := alters(kafka.Alteration{Delete: []string{name}})
	settled := func(text string, f facts, w want) row {
		return row{Name: "settled: " + text, State: dynamicconfig.Settled, Facts: f, Want: w}
	}
	remembering := func(text string, f facts, w want) row {
		return row{Name: "remembering: " + text, State: dynamicconfig.Remembering, Facts: f, Want: w}
	}
	altering := func(text string, f facts, w want) row {
		return row{Name: "altering: " + text, State: dynamicconfig.Altering, Facts: f, Want: w}
	}
	waits := func(effects ...dynamicconfig.Effect) want {
		return want{WaitingFor: []string{"values-as-declared"}, Effects: effects}
	}
	return []row{
		settled("every broker was started with the value", same(), want{}),
		settled("a broker was started with another value", other(), begins),
		settled("it was altered", altered(), want{}),
		settled("it was altered to another value", declared(setting("gzip", "lz4", ""), setting("gzip", "lz4", "")), begins),
		settled("no broker needs the dynamic value any more", spare(), begins),
		settled("a broker that may need it does not answer", absent(spare()), want{}),
		settled("a user's dynamic value is not the declared one", declared(setting("zstd", "lz4", ""), setting("zstd", "lz4", "")), begins),
		settled("a broker has its own value", declared(setting("zstd", "", "gzip"), setting("zstd", "", "")), begins),
		settled("its own value is the declared one", declared(setting("zstd", "", "zstd"), setting("zstd", "", "")), want{}),
		settled("it was removed from the spec", undeclared(declared(setting("gzip", "", ""))), begins),
		settled("it was removed from the spec, and altered to Kafka's default", recorded(undeclared(declared(setting("gzip", "producer", "")))), want{}),
		settled("a user's dynamic value of what is not declared", undeclared(declared(setting("", "lz4", ""))), want{}),
		settled("a broker's own value of what is not declared", undeclared(declared(setting("", "", "lz4"))), want{}),
		settled("Detent's dynamic value of what is not declared any more", recorded(undeclared(declared(setting("", "lz4", "")))), begins),
		settled("Detent's dynamic value of what a process resolves at its start", changed(undeclared(altered()), func(f *facts) { f.Excluded = []string{name} }), begins),
		settled("what a process resolves at its start", changed(undeclared(other()), func(f *facts) { f.Excluded = []string{name} }), want{}),
		settled("a release that does not know it", changed(same(), func(f *facts) {
			f.Settings = transitions.Known(map[int32]kafka.Settings{0: {}, 1: {}}, now)
		}), want{}),
		settled("no broker runs", declared(), want{}),
		settled("no broker is ready", absent(declared()), want{}),
		settled("the brokers cannot be read", silent(other()), want{WaitingFor: []string{"not(values-as-declared)"}}),
		settled("the spec cannot be applied", broken(other()), want{}),
		settled("the record names what has no dynamic value", recorded(same()), want{Event: "value-gone", To: dynamicconfig.Forgetting}),
		settled("a request may still set it", changed(recorded(same()), func(f *facts) { f.InFlight.Until = now.Add(time.Second) }), want{}),
		settled("the record names it, and no broker runs", recorded(declared()), want{}),
		settled("the record names it, and the brokers cannot be read", silent(recorded(same())), want{WaitingFor: []string{"not(values-as-declared)"}}),

		settled("Kafka has written another value itself", minISR("2", "2", "1"), begins),
		settled("Kafka has written the declared value itself", minISR("2", "2", "2"), want{}),
		settled("Kafka has written the declared value itself, and it is recorded", recordedMinISR(minISR("2", "2", "2")), want{}),
		settled("Kafka has written none itself", minISR("2", "1", ""), want{}),
		settled("what Kafka wrote was declared with the start of a broker", minISR("", "2", "2"), begins),
		settled("what Kafka wrote was recorded", recordedMinISR(minISR("", "", "2")), begins),
		settled("what Kafka wrote is the default again", recordedMinISR(minISR("", "", "1"), "2"), want{Event: "value-gone", To: dynamicconfig.Forgetting}),
		settled("a user wrote another value over what Kafka wrote", minISR("", "2", "3"), want{}),
		settled("what a user wrote was never declared", minISR("", "", "3"), want{}),
		settled("what Kafka wrote was taken away with the level of its feature", recordedMinISR(minISR("2", "2", "")), want{Event: "value-gone", To: dynamicconfig.Forgetting}),
		settled("what is not declared has Detent's value", set(undeclared(declared(setting("zstd", "zstd", ""))), "zstd"), begins),
		settled("what is not declared has an earlier value of Detent's", set(undeclared(declared(setting("zstd", "lz4", ""))), "lz4", "producer"), begins),
		settled("what is not declared has Kafka's default, set by Detent", set(undeclared(declared(setting("zstd", "producer", ""))), "producer"), want{}),
		settled("what is not declared was set by hand", undeclared(declared(setting("zstd", "lz4", ""))), want{}),
		settled("what is not declared was set by hand after Detent's value", set(undeclared(declared(setting("zstd", "lz4", ""))), "producer"), want{Event: "value-gone", To: dynamicconfig.Forgetting}),
		settled("what is declared was set by hand", set(declared(setting("gzip", "lz4", "")), "zstd"), begins),
		settled("a value before the present one is in the record", set(declared(setting("gzip", "zstd", "")), "lz4", "zstd"), want{Event: "value-gone", To: dynamicconfig.Forgetting}),

		remembering("another value of it is recorded", set(other(), "lz4"), want{WaitingFor: []string{"recorded"}, Effects: remembers(name+"=lz4", name+"=zstd")}),
		remembering("its value is recorded", set(other(), "zstd"), want{Event: "recorded", To: dynamicconfig.Altering}),
		remembering("it is recorded first", other(), want{WaitingFor: []string{"recorded"}, Effects: remembers(name + "=zstd")}),
		remembering("it is added to what is recorded", changed(other(), func(f *facts) { f.Recorded = []string{"log.cleanup.policy"} }),
			want{WaitingFor: []string{"recorded"}, Effects: remembers(name+"=zstd", "log.cleanup.policy")}),
		remembering("it is recorded", recorded(other()), want{Event: "recorded", To: dynamicconfig.Altering}),
		remembering("what is only deleted needs no record", declared(setting("zstd", "lz4", "")), want{Event: "recorded", To: dynamicconfig.Altering}),
		remembering("the spec was reverted", same(), want{Event: "nothing-to-alter", To: dynamicconfig.Settled}),
		remembering("the spec cannot be applied any more", broken(recorded(other())), want{Event: "declaration-broken", To: dynamicconfig.Settled}),
		remembering("the spec cannot be applied and the brokers cannot be read", broken(silent(other())), want{Event: "declaration-broken", To: dynamicconfig.Settled}),
		remembering("the brokers cannot be read", silent(other()), want{WaitingFor: []string{"not(values-as-declared)", "recorded"}}),

		altering("the value is set", recorded(other()), waits(sets...)),
		altering("a dynamic value that is not needed is deleted", spare(), waits(deletes...)),
		altering("what Kafka wrote itself is set", recordedMinISR(minISR("2", "2", "1")), waits(alters(kafka.Alteration{Set: map[string]string{kafka.ConfigMinISR: "2"}})...)),
		altering("what Kafka wrote itself is set to the default and not deleted", recordedMinISR(minISR("", "2", "2")),
			waits(alters(kafka.Alteration{Set: map[string]string{kafka.ConfigMinISR: "1"}})...)),
		altering("a broker's own value is deleted there", declared(setting("zstd", "", ""), setting("zstd", "", "gzip")),
			waits(alters(kafka.Alteration{Broker: new(int32(1)), Delete: []string{name}})...)),
		altering("Kafka's default is set for what is not declared", recorded(undeclared(declared(setting("gzip", "", "")))),
			waits(alters(kafka.Alteration{Set: map[string]string{name: "producer"}})...)),
		altering("all brokers first, then each", changed(recorded(declared(setting("gzip", "", "lz4"))), func(f *facts) {
			f.Declared = map[string]string{name: "zstd", size: "2000"}
			f.Settings = transitions.Known(map[int32]kafka.Settings{0: {name: setting("gzip", "", "lz4"), size: {Static: new("2000"), Cluster: new("1000"), Default: new("1")}}}, now)
		}), waits(alters(kafka.Alteration{Set: map[string]string{name: "zstd"}, Delete: []string{size}}, kafka.Alteration{Broker: new(int32(0)), Delete: []string{name}})...)),
		altering("a request is sent once", answer(recorded(other()), kafkaversion.Asked), want{WaitingFor: []string{"request-answered", "values-as-declared"}}),
		altering("Kafka has not shown it yet", entered(answer(recorded(other()), kafkaversion.Done), 14*time.Second), waits()),
		altering("a value that is no size is not shown yet", entered(answer(recorded(declared(setting("gzip", "lz4", ""))), kafkaversion.Done), 14*time.Second), waits()),
		altering("threads are doubled", threads("32", "8", ""), waits(alters(kafka.Alteration{Set: map[string]string{pool: "16"}})...)),
		altering("threads are doubled again", threads("32", "8", "16"), waits(alters(kafka.Alteration{Set: map[string]string{pool: "32"}})...)),
		altering("threads are halved", threads("2", "2", "8"), waits(alters(kafka.Alteration{Set: map[string]string{pool: "4"}})...)),
		altering("threads are halved, and the dynamic value is not needed any more", threads("2", "2", "4"), waits(alters(kafka.Alteration{Delete: []string{pool}})...)),
		altering("a broker's own threads are halved before its value is deleted", ownThreads("32"), waits(alters(kafka.Alteration{Broker: new(int32(0)), Set: map[string]string{pool: "16"}})...)),
		altering("a broker's own threads are near enough to delete its value", ownThreads("16"), waits(alters(kafka.Alteration{Broker: new(int32(0)), Delete: []string{pool}})...)),
		altering("a broker's own threads were halved", entered(answer(ownThreads("16"), kafkaversion.Done), 5*time.Second), want{Event: "step-taken", To: dynamicconfig.Remembering}),
		altering("Kafka refuses to change a broker's own value", answer(ownThreads("32"), kafkaversion.Refused), want{Event: "own-value-refused", To: dynamicconfig.AwaitingRetry}),
		altering("the first step is confirmed and shown", entered(answer(threads("32", "8", "16"), kafkaversion.Done), 5*time.Second), want{Event: "step-taken", To: dynamicconfig.Remembering}),
		altering("a step is confirmed just now", entered(answer(threads("32", "8", "16"), kafkaversion.Done), 4*time.Second), waits()),
		altering("a step is confirmed and not shown", entered(answer(threads("32", "8", ""), kafkaversion.Done), 14*time.Second), waits()),
		altering("a step is not answered", entered(answer(threads("32", "8", "16"), kafkaversion.Asked), 14*time.Second), want{WaitingFor: []string{"request-answered", "values-as-declared"}}),
		altering("a step is confirmed, and Kafka cannot be read", entered(answer(silent(threads("32", "8", "")), kafkaversion.Done), 14*time.Second), waits()),
		altering("Kafka shows it", answer(altered(), kafkaversion.Done), want{Event: "altered", To: dynamicconfig.Settled}),
		altering("Kafka shows it and has not answered", answer(altered(), kafkaversion.Asked), want{WaitingFor: []string{"request-answered"}}),
		altering("Kafka shows it although the answer was lost", answer(altered(), kafkaversion.Unknown), want{Event: "altered", To: dynamicconfig.Settled}),
		altering("the only broker restarts", entered(answer(recorded(absent(declared())), kafkaversion.Done), time.Second), want{}),
		altering("Kafka refuses", answer(recorded(other()), kafkaversion.Refused), want{Event: "refused", To: dynamicconfig.Refusing}),
		altering("Kafka refuses, and cannot be read", answer(silent(recorded(other())), kafkaversion.Refused), want{Event: "refused", To: dynamicconfig.Refusing}),
		altering("the answer was lost", answer(recorded(other()), kafkaversion.Unknown), want{Event: "failed", To: dynamicconfig.AwaitingRetry}),
		altering("the answer was lost, and Kafka cannot be read", answer(silent(recorded(other())), kafkaversion.Unknown), want{Event: "failed", To: dynamicconfig.AwaitingRetry}),
		altering("Kafka does not show it in time", entered(answer(recorded(other()), kafkaversion.Done), 15*time.Second), want{Event: "failed", To: dynamicconfig.AwaitingRetry}),
		altering("the record was lost", other(), want{Event: machines.EventPreconditionFailed, To: dynamicconfig.Remembering}),
		altering("the spec cannot be applied any more", broken(recorded(other())), want{Event: machines.EventPreconditionFailed, To: dynamicconfig.Remembering}),
		altering("the brokers cannot be read", silent(recorded(other())), want{WaitingFor: []string{"values-as-declared"}}),

		{Name: "awaiting retry: just failed", State: dynamicconfig.AwaitingRetry, Facts: entered(recorded(other()), 59*time.Second), Want: want{WaitingFor: []string{"rested"}}},
		{Name: "awaiting retry: the pause has passed", State: dynamicconfig.AwaitingRetry, Facts: recorded(other()), Want: want{Event: "retried", To: dynamicconfig.Remembering}},
		{Name: "awaiting retry: the pause has passed, and Kafka cannot be read", State: dynamicconfig.AwaitingRetry, Facts: silent(recorded(other())), Want: want{Event: "retried", To: dynamicconfig.Remembering}},
		{Name: "awaiting retry: the request took effect", State: dynamicconfig.AwaitingRetry, Facts: altered(), Want: want{Event: "altered", To: dynamicconfig.Settled}},

		{Name: "remembering: the spec was changed", State: dynamicconfig.Remembering, Attempt: "compression.type=snappy", Facts: recorded(other()), Want: want{Event: machines.EventTargetChanged, To: dynamicconfig.Remembering}},
		{Name: "altering: the spec was changed while a request is in flight", State: dynamicconfig.Altering, Attempt: "compression.type=snappy", Facts: answer(recorded(other()), kafkaversion.Asked), Want: want{Event: machines.EventTargetChanged, To: dynamicconfig.Remembering}},
		{Name: "awaiting retry: the spec was changed", State: dynamicconfig.AwaitingRetry, Attempt: "compression.type=snappy", Facts: entered(recorded(other()), time.Second), Want: want{Event: machines.EventTargetChanged, To: dynamicconfig.Remembering}},

		{Name: "refused: just now", State: dynamicconfig.Refusing, Facts: entered(recorded(other()), 59*time.Second), Want: want{WaitingFor: []string{"time-to-ask-again"}}},
		{Name: "refused: the back-off has passed", State: dynamicconfig.Refusing, Facts: recorded(other()), Want: want{Event: "retried", To: dynamicconfig.Remembering}},
		{Name: "refused: the spec was changed", State: dynamicconfig.Refusing, Attempt: "compression.type=snappy", Facts: entered(recorded(other()), time.Second), Want: want{Event: machines.EventTargetChanged, To: dynamicconfig.Remembering}},

		{Name: "forgetting: the record is written", State: dynamicconfig.Forgetting, Facts: recorded(same()), Want: want{WaitingFor: []string{"not(record-has-more)"}, Effects: remembers()}},
		{Name: "forgetting: a value in use stays", State: dynamicconfig.Forgetting, Facts: set(declared(setting("gzip", "zstd", "")), "lz4", "zstd"), Want: want{WaitingFor: []string{"not(record-has-more)"}, Effects: remembers(name + "=zstd")}},
		{Name: "forgetting: the record was written", State: dynamicconfig.Forgetting, Facts: same(), Want: want{Event: "forgotten", To: dynamicconfig.Settled}},
		{Name: "forgetting: a request may still set it", State: dynamicconfig.Forgetting, Facts: changed(recorded(same()), func(f *facts) { f.InFlight.Until = now.Add(time.Second) }), Want: want{Event: machines.EventPreconditionFailed, To: dynamicconfig.Settled}},
		{Name: "forgetting: the brokers cannot be read", State: dynamicconfig.Forgetting, Facts: silent(recorded(same())), Want: want{WaitingFor: []string{"not(record-has-more)"}}},

		{Name: "no persisted state", Facts: other(), Want: want{Event: machines.EventInferred, To: dynamicconfig.Settled}},
	}
}

func TestDefinitionTransitions(t *testing.T) {
	machine, err := machines.Compile(dynamicconfig.Definition())
	if err != nil {
		t.Fatal(err)
	}
	machinetest.Run(t, machine, rows())
}

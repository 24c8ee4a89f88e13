package machinetest_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// The toy fills a basin with the first pump that is free, if it is allowed and there is power.

type facts struct {
	Wanted  string
	Full    bool
	Allowed bool
	Sealed  bool
	Pumps   []string
	Power   transitions.Fact[bool] `need:"power"`
	grid    grid
}

type grid struct {
	Stable transitions.Fact[bool] `need:"grid"`
}

type data struct{ pump string }

type effect struct{ verb, pump string }

type (
	definition = machines.Definition[facts, data, effect]
	machine    = machines.Machine[facts, data, effect]
	guard      = transitions.Guard[facts, data]
	row        = machinetest.Row[facts, data, effect]
	want       = machinetest.Want[data, effect]
)

func cheap(name string, ask func(*facts, data) bool) guard {
	return guard{
		Name: name, Doc: "says what the cache knows of " + name, Expected: "a yes of " + name,
		Evaluate: func(f *facts, m data) transitions.Verdict { return transitions.If(ask(f, m), "not "+name) },
	}
}

func costly(name string, need transitions.Need, read func(*facts) transitions.Fact[bool]) guard {
	return guard{
		Name: name, Doc: "says what is read of " + name, Expected: "a yes of " + name, Needs: []transitions.Need{need},
		Evaluate: func(f *facts, _ data) transitions.Verdict {
			fact := read(f)
			yes, known := fact.Get()
			if !known {
				return fact.Gap()
			}
			return transitions.If(yes, "not "+name)
		},
	}
}

var (
	full       = cheap("full", func(f *facts, _ data) bool { return f.Full })
	allowed    = cheap("allowed", func(f *facts, _ data) bool { return f.Allowed })
	sealed     = cheap("sealed", func(f *facts, _ data) bool { return f.Sealed })
	isSelected = cheap("pump-selected", func(f *facts, m data) bool { return m.pump != "" && slices.Contains(f.Pumps, m.pump) })
	powered    = costly("powered", "power", func(f *facts) transitions.Fact[bool] { return f.Power })
	pumpFree   = machines.Choice[facts, data]{
		Guard: guard{Name: "pump-free", Doc: "a pump is free on a stable grid", Expected: "a free pump", Needs: []transitions.Need{"grid"}},
		Pick: func(f *facts, _ data) (transitions.Verdict, data) {
			stable, known := f.grid.Stable.Get()
			switch {
			case !known:
				return f.grid.Stable.Gap(), data{}
			case !stable || len(f.Pumps) == 0:
				return transitions.Deny("none"), data{}
			}
			return transitions.Allow(), data{pump: f.Pumps[0]}
		},
	}
)

// toy returns a new definition on each call, which a test may change.
func toy() definition {
	always := transitions.Always[facts, data]()
	return definition{
		Name: "fill-basin", Doc: "fills the basin",
		States: []machines.State[facts, data, effect]{
			{State: states.State{Name: "Off", Kind: states.Rest, Doc: "the basin is as wanted"}},
			{State: states.State{Name: "Waiting", Kind: states.Wait, Doc: "a pump is being chosen", Deadline: time.Minute, Poll: time.Second}, Invariant: always, OnTargetChange: "Waiting"},
			{
				State:     states.State{Name: "Pumping", Kind: states.Work, Doc: "the pump runs", Deadline: time.Hour, Poll: time.Second},
				Invariant: isSelected, OnTargetChange: "Waiting", Action: &machines.Action[facts, data, effect]{
					Name: "pump", Doc: "runs the selected pump", Precondition: transitions.All(allowed, powered), OnPreconditionFailed: "Waiting",
					Effects: func(_ *facts, m data) []effect { return []effect{{"pump", m.pump}} },
				},
			},
			{State: states.State{Name: "Refused", Kind: states.Hold, Doc: "it is not allowed"}, OnTargetChange: "Waiting"},
		},
		Transitions: []machines.Transition[facts, data]{
			{Event: "wanted", From: "Off", To: "Waiting", When: transitions.Not(full, "another level"), NewAttempt: true, Doc: "another level is wanted"},
			{Event: "forbidden", From: "Waiting", To: "Refused", When: transitions.Not(allowed, "a ban"), EvenIfUnknown: true, Doc: "it is not allowed"},
			{Event: "chosen", From: "Waiting", To: "Pumping", Choose: &pumpFree, Awaited: true, Doc: "a pump is free"},
			{Event: "overtaken", From: "Waiting", To: "Off", When: full, Doc: "rain filled it"},
			{Event: "filled", From: "Pumping", To: "Off", When: transitions.All(full, transitions.Any(powered, sealed)), Awaited: true, ClearData: true, Doc: "the basin is full"},
			{Event: "opened", From: "Refused", To: "Waiting", When: allowed, Awaited: true, Doc: "it is allowed now"},
		},
		Needs:  []machines.Need{{Name: "power", Doc: "asks the meter"}, {Name: "grid", Doc: "asks the grid"}},
		Target: func(f *facts) machines.Target { return machines.Target{To: f.Wanted} },
		Infer: machines.Inference[facts, data]{
			Needs: []transitions.Need{"power"}, States: []string{"Off", "Waiting"},
			Find: func(f *facts) (machines.InferredState[data], transitions.Verdict) {
				if _, known := f.Power.Get(); !known {
					return machines.InferredState[data]{}, f.Power.Gap()
				}
				if f.Full {
					return machines.InferredState[data]{State: "Off"}, transitions.Allow()
				}
				return machines.InferredState[data]{State: "Waiting"}, transitions.Allow()
			},
		},
		Data: machines.DataCodec[data]{
			Encode: func(m data) map[string]string { return map[string]string{"pump": m.pump} },
			Decode: func(coded map[string]string) (data, error) {
				if _, ok := coded["pump"]; len(coded) > 0 && !ok {
					return data{}, errors.New("no pump")
				}
				return data{pump: coded["pump"]}, nil
			},
		},
		Migrations: map[string]string{"Filling": "Waiting"},
	}
}

func compiled(t testing.TB, change func(*definition)) *machine {
	t.Helper()
	def := toy()
	if change != nil {
		change(&def)
	}
	m, err := machines.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sound is a world in which a pump is free and every fact can be read.
func sound(changes ...func(*facts)) facts {
	yes := transitions.Known(true, machinetest.Start)
	f := facts{Wanted: "3 m", Allowed: true, Pumps: []string{"east", "west"}, Power: yes, grid: grid{Stable: yes}}
	for _, change := range changes {
		change(&f)
	}
	return f
}

var errDark = errors.New("no answer")

func isFull(f *facts)      { f.Full = true }
func isSealed(f *facts)    { f.Sealed = true }
func isBanned(f *facts)    { f.Allowed = false }
func isUnpowered(f *facts) { f.Power = transitions.Known(false, machinetest.Start) }
func isUnmetered(f *facts) { f.Power = transitions.Unreadable[bool](errDark) }
func isUngridded(f *facts) { f.grid.Stable = transitions.Unreadable[bool](errDark) }
func hasNoPumps(f *facts)  { f.Pumps = nil }

var east = &data{pump: "east"}

// table covers the toy completely.
func table() []row {
	return []row{
		{Name: "nothing to do", State: "Off", Facts: sound(isFull)},
		{Name: "another level is wanted", State: "Off", Facts: sound(), Want: want{Event: "wanted", To: "Waiting"}},

		{Name: "a ban refuses", State: "Waiting", Facts: sound(isBanned), Want: want{Event: "forbidden", To: "Refused"}},
		{
			Name: "the first free pump is taken", Reason: "pumps wear evenly by their order in the list", State: "Waiting", Facts: sound(),
			Want: want{Event: "chosen", To: "Pumping", Data: east, WaitingFor: []string{"full"}},
		},
		{Name: "a free pump is taken before the basin is looked at", State: "Waiting", Facts: sound(isFull), Want: want{Event: "chosen", To: "Pumping", Data: east}},
		{Name: "rain fills the basin", State: "Waiting", Facts: sound(isFull, hasNoPumps), Want: want{Event: "overtaken", To: "Off"}},
		{Name: "no pump is free", State: "Waiting", Facts: sound(hasNoPumps), Want: want{WaitingFor: []string{"pump-free"}}},
		{Name: "a grid that cannot be read blocks", State: "Waiting", Facts: sound(isFull, isUngridded), Want: want{WaitingFor: []string{"pump-free"}}},
		{Name: "a ban refuses even on a grid that cannot be read", State: "Waiting", Facts: sound(isBanned, isUngridded), Want: want{Event: "forbidden", To: "Refused"}},
		{Name: "another target starts the wait over", State: "Waiting", Attempt: "2 m", Facts: sound(), Want: want{Event: "target-changed", To: "Waiting"}},

		{Name: "the pump runs", State: "Pumping", Data: east, Facts: sound(), Want: want{WaitingFor: []string{"full"}, Effects: []effect{{"pump", "east"}}}},
		{Name: "the basin is full", State: "Pumping", Data: east, Facts: sound(isFull), Want: want{Event: "filled", To: "Off"}},
		{Name: "a sealed basin is full without power", State: "Pumping", Data: east, Facts: sound(isFull, isSealed, isUnpowered), Want: want{Event: "filled", To: "Off"}},
		{Name: "a ban fails the precondition", State: "Pumping", Data: east, Facts: sound(isBanned), Want: want{Event: "precondition-failed", To: "Waiting"}},
		{Name: "a power cut fails the precondition", State: "Pumping", Data: east, Facts: sound(isUnpowered), Want: want{Event: "precondition-failed", To: "Waiting"}},
		{Name: "a meter that cannot be read blocks", State: "Pumping", Data: east, Facts: sound(isUnmetered), Want: want{WaitingFor: []string{"full", "any(powered, sealed)"}, Blocked: []string{"powered"}}},
		{Name: "the pump is gone", State: "Pumping", Data: &data{pump: "north"}, Facts: sound(), Want: want{Event: "inferred", To: "Waiting"}},
		{Name: "another target stops the pump", State: "Pumping", Data: east, Attempt: "2 m", Facts: sound(), Want: want{Event: "target-changed", To: "Waiting"}},

		{Name: "the ban stays", State: "Refused", Facts: sound(isBanned), Want: want{WaitingFor: []string{"allowed"}}},
		{Name: "the ban is lifted", State: "Refused", Facts: sound(), Want: want{Event: "opened", To: "Waiting"}},
		{Name: "another target leaves the hold", State: "Refused", Attempt: machinetest.NoAttempt, Facts: sound(isBanned), Want: want{Event: "target-changed", To: "Waiting"}},

		{Name: "no persisted state, and the basin is full", Facts: sound(isFull), Want: want{Event: "inferred", To: "Off"}},
		{Name: "no persisted state, and the basin is not full", Facts: sound(), Want: want{Event: "inferred", To: "Waiting"}},
		{Name: "no persisted state, and nothing can be read", Facts: sound(isUnmetered), Want: want{Event: "inferred", To: machines.Inferring}},
		{Name: "a state of an earlier release", State: "Filling", Data: east, Facts: sound(), Want: want{Event: "migrated", To: "Waiting", Data: east}},
		{Name: "data of another release", State: "Pumping", Coded: map[string]string{"p": "1"}, Facts: sound(), Want: want{Event: "inferred", To: "Waiting"}},
	}
}

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

type memo struct{ pump string }

type effect struct{ verb, pump string }

type (
	definition = machines.Definition[facts, memo, effect]
	machine    = machines.Machine[facts, memo, effect]
	guard      = transitions.Guard[facts, memo]
	row        = machinetest.Row[facts, memo, effect]
	want       = machinetest.Want[memo, effect]
)

func cheap(name string, ask func(*facts, memo) bool) guard {
	return guard{
		Name: name, Doc: "says what the cache knows of " + name, Want: "a yes of " + name,
		Ask: func(f *facts, m memo) transitions.Verdict { return transitions.If(ask(f, m), "not "+name) },
	}
}

func costly(name string, need transitions.Need, read func(*facts) transitions.Fact[bool]) guard {
	return guard{
		Name: name, Doc: "says what is read of " + name, Want: "a yes of " + name, Needs: []transitions.Need{need},
		Ask: func(f *facts, _ memo) transitions.Verdict {
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
	full     = cheap("full", func(f *facts, _ memo) bool { return f.Full })
	allowed  = cheap("allowed", func(f *facts, _ memo) bool { return f.Allowed })
	sealed   = cheap("sealed", func(f *facts, _ memo) bool { return f.Sealed })
	inHand   = cheap("pump-in-hand", func(f *facts, m memo) bool { return m.pump != "" && slices.Contains(f.Pumps, m.pump) })
	powered  = costly("powered", "power", func(f *facts) transitions.Fact[bool] { return f.Power })
	pumpFree = machines.Choice[facts, memo]{
		Guard: guard{Name: "pump-free", Doc: "a pump is free on a stable grid", Want: "a free pump", Needs: []transitions.Need{"grid"}},
		Pick: func(f *facts, _ memo) (transitions.Verdict, memo) {
			stable, known := f.grid.Stable.Get()
			switch {
			case !known:
				return f.grid.Stable.Gap(), memo{}
			case !stable || len(f.Pumps) == 0:
				return transitions.Deny("none"), memo{}
			}
			return transitions.Allow(), memo{pump: f.Pumps[0]}
		},
	}
)

// toy returns a new definition on each call, which a test may change.
func toy() definition {
	always := transitions.Always[facts, memo]()
	return definition{
		Name: "fill-basin", Doc: "fills the basin",
		States: []machines.State[facts, memo, effect]{
			{State: states.State{Name: "Off", Kind: states.Rest, Doc: "the basin is as wanted"}},
			{State: states.State{Name: "Waiting", Kind: states.Wait, Doc: "a pump is being chosen", Deadline: time.Minute, Poll: time.Second}, While: always, OnTarget: "Waiting"},
			{
				State: states.State{Name: "Pumping", Kind: states.Work, Doc: "the pump runs", Deadline: time.Hour, Poll: time.Second},
				While: inHand, OnTarget: "Waiting", Do: &machines.Action[facts, memo, effect]{
					Name: "pump", Doc: "runs the pump in hand", Before: transitions.All(allowed, powered), TurnBack: "Waiting",
					Do: func(_ *facts, m memo) []effect { return []effect{{"pump", m.pump}} },
				},
			},
			{State: states.State{Name: "Refused", Kind: states.Hold, Doc: "it is not allowed"}, OnTarget: "Waiting"},
		},
		Transitions: []machines.Transition[facts, memo]{
			{Event: "wanted", From: "Off", To: "Waiting", When: transitions.Not(full, "another level"), NewAttempt: true, Doc: "another level is wanted"},
			{Event: "forbidden", From: "Waiting", To: "Refused", When: transitions.Not(allowed, "a ban"), EvenIfUnknown: true, Doc: "it is not allowed"},
			{Event: "chosen", From: "Waiting", To: "Pumping", Choose: &pumpFree, Awaited: true, Doc: "a pump is free"},
			{Event: "overtaken", From: "Waiting", To: "Off", When: full, Doc: "rain filled it"},
			{Event: "filled", From: "Pumping", To: "Off", When: transitions.All(full, transitions.Any(powered, sealed)), Awaited: true, Forget: true, Doc: "the basin is full"},
			{Event: "opened", From: "Refused", To: "Waiting", When: allowed, Awaited: true, Doc: "it is allowed now"},
		},
		Needs:  []machines.Need{{Name: "power", Doc: "asks the meter"}, {Name: "grid", Doc: "asks the grid"}},
		Target: machines.Target[facts]{Of: func(f *facts) machines.Aim { return machines.Aim{To: f.Wanted} }},
		Locate: machines.Locator[facts, memo]{
			Needs: []transitions.Need{"power"}, States: []string{"Off", "Waiting"},
			Find: func(f *facts) (machines.Place[memo], transitions.Verdict) {
				if _, known := f.Power.Get(); !known {
					return machines.Place[memo]{}, f.Power.Gap()
				}
				if f.Full {
					return machines.Place[memo]{State: "Off"}, transitions.Allow()
				}
				return machines.Place[memo]{State: "Waiting"}, transitions.Allow()
			},
		},
		Memo: machines.MemoCodec[memo]{
			Encode: func(m memo) map[string]string { return map[string]string{"pump": m.pump} },
			Decode: func(coded map[string]string) (memo, error) {
				if _, ok := coded["pump"]; len(coded) > 0 && !ok {
					return memo{}, errors.New("no pump")
				}
				return memo{pump: coded["pump"]}, nil
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

var east = &memo{pump: "east"}

// table covers the toy completely.
func table() []row {
	return []row{
		{Name: "nothing to do", State: "Off", Facts: sound(isFull)},
		{Name: "another level is wanted", State: "Off", Facts: sound(), Want: want{Event: "wanted", To: "Waiting"}},

		{Name: "a ban refuses", State: "Waiting", Facts: sound(isBanned), Want: want{Event: "forbidden", To: "Refused"}},
		{
			Name: "the first free pump is taken", Reason: "pumps wear evenly by their order in the list", State: "Waiting", Facts: sound(),
			Want: want{Event: "chosen", To: "Pumping", Memo: east, WaitingFor: []string{"full"}},
		},
		{Name: "a free pump is taken before the basin is looked at", State: "Waiting", Facts: sound(isFull), Want: want{Event: "chosen", To: "Pumping", Memo: east}},
		{Name: "rain fills the basin", State: "Waiting", Facts: sound(isFull, hasNoPumps), Want: want{Event: "overtaken", To: "Off"}},
		{Name: "no pump is free", State: "Waiting", Facts: sound(hasNoPumps), Want: want{WaitingFor: []string{"pump-free"}}},
		{Name: "a grid that cannot be read blocks", State: "Waiting", Facts: sound(isFull, isUngridded), Want: want{WaitingFor: []string{"pump-free"}}},
		{Name: "a ban refuses even on a grid that cannot be read", State: "Waiting", Facts: sound(isBanned, isUngridded), Want: want{Event: "forbidden", To: "Refused"}},
		{Name: "another target starts the wait over", State: "Waiting", Attempt: "2 m", Facts: sound(), Want: want{Event: "target-changed", To: "Waiting"}},

		{Name: "the pump runs", State: "Pumping", Memo: east, Facts: sound(), Want: want{WaitingFor: []string{"full"}, Effects: []effect{{"pump", "east"}}}},
		{Name: "the basin is full", State: "Pumping", Memo: east, Facts: sound(isFull), Want: want{Event: "filled", To: "Off"}},
		{Name: "a sealed basin is full without power", State: "Pumping", Memo: east, Facts: sound(isFull, isSealed, isUnpowered), Want: want{Event: "filled", To: "Off"}},
		{Name: "a ban turns back", State: "Pumping", Memo: east, Facts: sound(isBanned), Want: want{Event: "turned-back", To: "Waiting"}},
		{Name: "a power cut turns back", State: "Pumping", Memo: east, Facts: sound(isUnpowered), Want: want{Event: "turned-back", To: "Waiting"}},
		{Name: "a meter that cannot be read blocks", State: "Pumping", Memo: east, Facts: sound(isUnmetered), Want: want{WaitingFor: []string{"full", "any(powered, sealed)"}, Blocked: []string{"powered"}}},
		{Name: "the pump is gone", State: "Pumping", Memo: &memo{pump: "north"}, Facts: sound(), Want: want{Event: "located", To: "Waiting"}},
		{Name: "another target stops the pump", State: "Pumping", Memo: east, Attempt: "2 m", Facts: sound(), Want: want{Event: "target-changed", To: "Waiting"}},

		{Name: "the ban stays", State: "Refused", Facts: sound(isBanned), Want: want{WaitingFor: []string{"allowed"}}},
		{Name: "the ban is lifted", State: "Refused", Facts: sound(), Want: want{Event: "opened", To: "Waiting"}},
		{Name: "another target leaves the hold", State: "Refused", Attempt: machinetest.NoAttempt, Facts: sound(isBanned), Want: want{Event: "target-changed", To: "Waiting"}},

		{Name: "no bookmark, and the basin is full", Facts: sound(isFull), Want: want{Event: "located", To: "Off"}},
		{Name: "no bookmark, and the basin is not full", Facts: sound(), Want: want{Event: "located", To: "Waiting"}},
		{Name: "no bookmark, and nothing can be read", Facts: sound(isUnmetered), Want: want{Event: "located", To: machines.Locating}},
		{Name: "a state of an earlier release", State: "Filling", Memo: east, Facts: sound(), Want: want{Event: "migrated", To: "Waiting", Memo: east}},
		{Name: "a memo of another release", State: "Pumping", Coded: map[string]string{"p": "1"}, Facts: sound(), Want: want{Event: "located", To: "Waiting"}},
	}
}

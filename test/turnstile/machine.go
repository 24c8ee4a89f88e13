package turnstile

import (
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// States of the lifecycle model.
const (
	Settled          = "Settled"
	Checking         = "Checking"
	Refused          = "Refused"
	Selecting        = "Selecting"
	Replacing        = "Replacing"
	AwaitingArm      = "AwaitingArm"
	AwaitingApproval = "AwaitingApproval"
	Sealing          = "Sealing"
	SealRefused      = "SealRefused"
	Unsealing        = "Unsealing"
	Unsealed         = "Unsealed"
	// Resting is what an earlier release called Settled.
	Resting = "Resting"
)

type (
	state  = machines.State[Facts, Data, Effect]
	row    = machines.Transition[Facts, Data]
	action = machines.Action[Facts, Data, Effect]
)

const (
	poll     = states.DefaultPoll
	deadline = 10 * time.Minute
)

// models is which model each arm was last given: a lost arm is recreated as recorded.
var models = machines.Text(machines.Record{Name: "models", Home: "ConfigMap <name>-record", Doc: "which model each arm was last given"})

var replace = &action{
	Name: "replace", Doc: "deletes the selected arm, so that it is recreated", Needs: []transitions.Need{NeedUp},
	Precondition: transitions.All(inCatalog, othersUp), OnPreconditionFailed: Checking,
	Records: func(f *Facts, m Data) []machines.RecordEntry {
		return []machines.RecordEntry{models.Entry(m.Arm, f.Wanted)}
	},
	Effects: func(f *Facts, m Data) []Effect {
		if built, exists := f.Built[m.Arm]; f.Recorded[m.Arm] != f.Wanted || exists && built != f.Wanted {
			return []Effect{{Op: "replace", Arm: m.Arm, Value: f.Wanted}}
		}
		return nil
	},
}

var seal = &action{
	Name: "seal", Doc: "seals the turnstile, so that older models do not fit any more", Needs: []transitions.Need{NeedSeal}, NeedsFinalizer: true, ResolvedBy: NeedSeal,
	Precondition: transitions.All(inCatalog, recorded, approved, sealable), OnPreconditionFailed: Checking,
	Effects: func(f *Facts, _ Data) []Effect {
		if now, known := f.Seal.Get(); known && now.Model == f.Wanted {
			return nil
		}
		return []Effect{{Op: "seal", Value: f.Wanted}}
	},
}

var unseal = &action{
	Name: "unseal", Doc: "breaks the seal", Needs: []transitions.Need{NeedSeal}, ResolvedBy: NeedSeal,
	Effects: func(f *Facts, _ Data) []Effect {
		if now, known := f.Seal.Get(); known && now.Model == "" {
			return nil
		}
		return []Effect{{Op: "unseal"}}
	},
}

// Definition of the lifecycle model: Settled -> Checking -> an arm at a time -> AwaitingApproval -> Sealing -> Settled.
func Definition() machines.Definition[Facts, Data, Effect] {
	not := transitions.Not[Facts, Data]
	wait := func(name, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Wait, Doc: doc, Deadline: deadline, Poll: poll}, Invariant: always, OnTargetChange: Checking}
	}
	hold := func(name string, holdReason states.HoldReason, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Hold, HoldReason: holdReason, Doc: doc, Poll: poll}, OnTargetChange: Checking}
	}
	work := func(name, doc string, while guard, do *action) state {
		return state{State: states.State{Name: name, Kind: states.Work, Doc: doc, Deadline: deadline, Poll: poll}, Invariant: while, OnTargetChange: Checking, Action: do}
	}
	awaitingArm := wait(AwaitingArm, "the selected arm is being recreated")
	awaitingArm.Invariant, awaitingArm.OnTargetChange = isSelected, machines.KeepAttempt
	return machines.Definition[Facts, Data, Effect]{
		Name: "turnstile-model", Doc: "replaces the arms of a turnstile one at a time, then seals it",
		States: []state{
			{State: states.State{Name: Settled, Kind: states.Rest, Doc: "every arm is of the desired model and the turnstile is sealed"}},
			wait(Checking, "the model is being looked up in the catalog"),
			wait(Selecting, "the next arm is being selected"),
			work(Replacing, "the selected arm is being replaced", isSelected, replace),
			awaitingArm,
			hold(AwaitingApproval, states.Planned, "the seal awaits approval"),
			work(Sealing, "the turnstile is being sealed", always, seal),
			hold(Refused, states.Refusal, "the model is not in the catalog; no arm was replaced"),
			hold(SealRefused, states.Advice, "the seal was refused; it is retried"),
			{State: states.State{Name: Unsealing, Kind: states.Work, Doc: "the seal is being broken before the turnstile is deleted", Deadline: deadline, Poll: poll}, Invariant: always, Action: unseal},
			{State: states.State{Name: Unsealed, Kind: states.Rest, Doc: "no seal is left"}},
		},
		Deletion: machines.Deletion{To: Unsealing, End: Unsealed}, Migrations: map[string]string{Resting: Settled},
		Transitions: []row{
			{Event: "model-changed", From: Settled, To: Checking, NewAttempt: true, When: not(recorded, "an arm of another model"), Doc: "the desired model changed"},
			{Event: "seal-broken", From: Settled, To: Checking, NewAttempt: true, When: not(sealed, "another seal"), Doc: "the seal is for another model"},
			{Event: "accepted", From: Checking, To: Selecting, Awaited: true, When: inCatalog, Doc: "the model is in the catalog"},
			{Event: "refused", From: Checking, To: Refused, When: not(inCatalog, "a model that is not in the catalog"), Doc: "the model is not in the catalog"},
			{Event: "offered", From: Refused, To: Checking, Awaited: true, When: inCatalog, Doc: "the model was added to the catalog"},
			{Event: "all-replaced", From: Selecting, To: AwaitingApproval, Awaited: true, When: allBuilt, Doc: "every arm was replaced"},
			{Event: "arm-selected", From: Selecting, To: Replacing, Awaited: true, Choose: nextArm, Doc: "the next arm can be replaced"},
			{Event: "replaced", From: Replacing, To: AwaitingArm, Awaited: true, When: replaced, Doc: "the arm was recreated"},
			{Event: "arm-up", From: AwaitingArm, To: Selecting, Awaited: true, ClearData: true, When: armUp, Doc: "the arm turns"},
			{Event: "approved", From: AwaitingApproval, To: Sealing, Awaited: true, OneWay: true, When: approved, Doc: "a user approved"},
			{Event: "sealed", From: Sealing, To: Settled, Awaited: true, When: sealed, Doc: "the seal was observed"},
			{Event: "seal-refused", From: Sealing, To: SealRefused, When: not(sealable, "a refused seal"), Doc: "the seal was refused"},
			{Event: "seal-offered", From: SealRefused, To: Sealing, Awaited: true, OneWay: true, When: sealable, Doc: "the seal is not refused any more"},
			{Event: "unsealed", From: Unsealing, To: Unsealed, Awaited: true, When: noSeal, Doc: "no seal was observed"},
		},
		Needs: []machines.Need{
			{Name: NeedCatalog, Doc: "the models in the catalog"},
			{Name: NeedUp, Doc: "which arms turn"},
			{Name: NeedSeal, Doc: "the seal of the turnstile"},
		},
		Target:                        func(f *Facts) machines.Target { return machines.Target{To: f.Wanted} },
		Infer:                         machines.Inference[Facts, Data]{States: []string{Settled, Checking}, Needs: []transitions.Need{NeedSeal}, Find: find},
		Progress:                      machines.Measure[Facts, Data]{Unit: "arm", Of: count},
		Data:                          dataCodec,
		Records:                       []machines.Record{models.Record},
		MaxTransitionsWithoutProgress: 24,
	}
}

func find(f *Facts) (machines.InferredState[Data], transitions.Verdict) {
	_, known := f.Seal.Get()
	if !known {
		return machines.InferredState[Data]{}, f.Seal.Gap()
	}
	if recorded.Verdict(f, Data{}).Answer == transitions.Yes && sealed.Verdict(f, Data{}).Answer == transitions.Yes {
		return machines.InferredState[Data]{State: Settled}, transitions.Allow()
	}
	return machines.InferredState[Data]{State: Checking}, transitions.Allow()
}

func count(f *Facts, m Data) machines.Count {
	return machines.Count{Done: len(f.Arms) - len(f.unbuilt()), Total: len(f.Arms), Current: m.Arm}
}

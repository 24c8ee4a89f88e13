package turnstile

import (
	"slices"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

type (
	guard  = transitions.Guard[Facts, Data]
	choice = machines.Choice[Facts, Data]
)

var (
	always = transitions.Always[Facts, Data]()

	recorded = guard{
		Name: "current", Doc: "every arm is recorded and of the desired model", Expected: "every arm of the desired model",
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			left := f.outdated()
			return transitions.If(len(left) == 0, some("another model in arm", left))
		},
	}
	inCatalog = guard{
		Name: "in-catalog", Doc: "the desired model is in the catalog", Expected: "a model of the catalog", Needs: []transitions.Need{NeedCatalog},
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			catalog, known := f.Catalog.Get()
			if !known {
				return f.Catalog.Gap()
			}
			return transitions.If(slices.Contains(catalog, f.Wanted), f.Wanted+" is not in the catalog")
		},
	}
	allBuilt = guard{
		Name: "all-built", Doc: "every arm is of the desired model and turns", Expected: "every arm of the desired model, turning", Needs: []transitions.Need{NeedUp},
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			up, known := f.Up.Get()
			if !known {
				return f.Up.Gap()
			}
			if left := f.unbuilt(); len(left) > 0 {
				return transitions.Deny(some("not built yet: arm", left))
			}
			left := f.down("", up)
			return transitions.If(len(left) == 0, some("not turning: arm", left))
		},
	}
	nextArm = &choice{
		Guard: guard{Name: "next-arm", Doc: "an arm is outdated and all others turn", Expected: "all other arms turning", Needs: []transitions.Need{NeedUp}},
		Pick: func(f *Facts, _ Data) (transitions.Verdict, Data) {
			up, known := f.Up.Get()
			if !known {
				return f.Up.Gap(), Data{}
			}
			left := f.outdated()
			if len(left) == 0 {
				return transitions.Deny("no arm is left to replace"), Data{}
			}
			down := f.down(left[0], up)
			return transitions.If(len(down) == 0, some("not turning: arm", down)), Data{Arm: left[0]}
		},
	}
	othersUp = guard{
		Name: "others-up", Doc: "every arm except the selected one turns", Expected: "all other arms turning", Needs: []transitions.Need{NeedUp},
		Evaluate: func(f *Facts, m Data) transitions.Verdict {
			up, known := f.Up.Get()
			if !known {
				return f.Up.Gap()
			}
			down := f.down(m.Arm, up)
			return transitions.If(len(down) == 0, some("not turning: arm", down))
		},
	}
	isSelected = guard{
		Name: "arm-selected", Doc: "the selected arm is one of the desired arms", Expected: "a selected arm",
		Evaluate: func(f *Facts, m Data) transitions.Verdict { return transitions.If(f.has(m.Arm), "no arm "+m.Arm) },
	}
	replaced = guard{
		Name: "replaced", Doc: "the selected arm was replaced", Expected: "the selected arm of the desired model",
		Evaluate: func(f *Facts, m Data) transitions.Verdict {
			return transitions.If(f.Built[m.Arm] == f.Wanted, "arm "+m.Arm+" is not of model "+f.Wanted)
		},
	}
	armUp = guard{
		Name: "arm-up", Doc: "the selected arm turns", Expected: "the selected arm turning", Needs: []transitions.Need{NeedUp},
		Evaluate: func(f *Facts, m Data) transitions.Verdict {
			up, known := f.Up.Get()
			if !known {
				return f.Up.Gap()
			}
			return transitions.If(up[m.Arm], "arm "+m.Arm+" does not turn")
		},
	}
	approved = guard{
		Name: "approved", Doc: "a user has approved the seal", Expected: "spec.approved to name the model",
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			return transitions.If(f.Approved == f.Wanted || f.Approved == "any", "approved: "+f.Approved)
		},
	}
	sealed = guard{
		Name: "sealed", Doc: "the turnstile is sealed for the desired model", Expected: "a seal for the desired model", Needs: []transitions.Need{NeedSeal},
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			seal, known := f.Seal.Get()
			if !known {
				return f.Seal.Gap()
			}
			return transitions.If(seal.Model == f.Wanted, "sealed for "+seal.Model)
		},
	}
	noSeal = guard{
		Name: "no-seal", Doc: "the turnstile is not sealed", Expected: "no seal", Needs: []transitions.Need{NeedSeal},
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			seal, known := f.Seal.Get()
			if !known {
				return f.Seal.Gap()
			}
			return transitions.If(seal.Model == "", "sealed for "+seal.Model)
		},
	}
	sealable = guard{
		Name: "sealable", Doc: "no refusal of the seal is known", Expected: "a seal that is not refused", Needs: []transitions.Need{NeedSeal},
		Evaluate: func(f *Facts, _ Data) transitions.Verdict {
			seal, known := f.Seal.Get()
			if !known {
				return f.Seal.Gap()
			}
			return transitions.If(seal.Refusal == "", seal.Refusal)
		},
	}
)

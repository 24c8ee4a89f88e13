// Package connectworkers is the lifecycle of the workers of a Connect cluster: each worker whose pod differs from what is declared, such
// as in its version, is replaced, one at a time.
package connectworkers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "connect-workers"

// States of the machine.
const (
	Current         = "Current"
	Replacing       = "Replacing"
	AwaitingWorkers = "AwaitingWorkers"
	Refused         = "Refused"
)

// Facts of the workers.
type Facts struct {
	// Workers that are declared, sorted by name.
	Workers []Worker
	// Problem is why the spec cannot be applied; nil if it can.
	Problem *transitions.Problem
	// Version that is declared, and Wanted, a digest of what every worker is to run.
	Version, Wanted string
}

// Worker is one worker with its pod.
type Worker struct {
	Name string
	// Exists is true if it has a pod that is not being deleted, Ready if that is ready, and Outdated if it differs from what is declared.
	Exists, Ready, Outdated bool
	// Trouble is why its pod cannot run; nil if nothing is known.
	Trouble *transitions.Problem
}

// Data is the worker that is being replaced.
type Data struct{ Worker string }

// Effect replaces the pod of a worker.
type Effect struct{ Worker string }

type guard = transitions.Guard[Facts, Data]

// names returns the names of the workers that the condition holds for.
func (f *Facts) names(condition func(*Worker) bool) []string {
	var names []string
	for i := range f.Workers {
		if condition(&f.Workers[i]) {
			names = append(names, f.Workers[i].Name)
		}
	}
	return names
}

func (f *Facts) worker(name string) *Worker {
	if i := slices.IndexFunc(f.Workers, func(w Worker) bool { return w.Name == name }); i >= 0 {
		return &f.Workers[i]
	}
	return nil
}

func unready(w *Worker) bool  { return !w.Exists || !w.Ready }
func outdated(w *Worker) bool { return w.Exists && w.Outdated }

// pick selects the next worker: first one that is not ready, because its replacement interrupts nothing and may repair it.
func pick(f *Facts) (transitions.Verdict, Data) {
	candidates := f.names(outdated)
	if len(candidates) == 0 {
		return transitions.Deny("no worker differs from what is declared"), Data{}
	}
	if broken := f.names(func(w *Worker) bool { return outdated(w) && !w.Ready }); len(broken) > 0 {
		return transitions.Allow(), Data{Worker: broken[0]}
	}
	if waits := f.names(unready); len(waits) > 0 {
		return transitions.Deny(strings.Join(waits, ", ") + " is not ready"), Data{}
	}
	return transitions.Allow(), Data{Worker: candidates[0]}
}

// mayReplace says whether the selected worker may be replaced now.
var mayReplace = guard{
	Name: "others-ready", Doc: "every other worker is ready, or the selected one is not", Expected: "every other worker to be ready",
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		w := f.worker(d.Worker)
		if w == nil || !outdated(w) {
			return transitions.Deny("the worker does not differ any more")
		}
		waits := f.names(func(other *Worker) bool { return other.Name != d.Worker && unready(other) })
		return transitions.If(!w.Ready || len(waits) == 0, strings.Join(waits, ", ")+" is not ready")
	},
}

var valid = guard{
	Name: "spec-valid", Doc: "the spec can be applied", Expected: "a spec that can be applied",
	Evaluate: func(f *Facts, _ Data) transitions.Verdict { return f.Problem.Verdict() },
}

// replaced says that the selected worker does not run what it ran before.
var replaced = guard{
	Name: "replaced", Doc: "the pod of the worker was deleted, or is as declared", Expected: "the pod to be replaced",
	Evaluate: func(f *Facts, d Data) transitions.Verdict {
		w := f.worker(d.Worker)
		return transitions.If(w == nil || !outdated(w), "it runs as before")
	},
}

var current = guard{
	Name: "current", Doc: "every worker is ready and as declared", Expected: "every worker to be ready",
	Evaluate: func(f *Facts, _ Data) transitions.Verdict {
		waits := f.names(func(w *Worker) bool { return unready(w) || w.Outdated })
		for _, name := range waits {
			if t := f.worker(name).Trouble; t != nil {
				return transitions.Deny(name + ": " + t.Message)
			}
		}
		return transitions.If(len(waits) == 0, strings.Join(waits, ", ")+" is not ready, or not as declared")
	},
}

func selected(name string) *machines.Choice[Facts, Data] {
	return &machines.Choice[Facts, Data]{
		Guard: guard{Name: name, Doc: "a worker differs from what is declared, and may be replaced", Expected: "a worker that may be replaced"},
		Pick: func(f *Facts, d Data) (transitions.Verdict, Data) {
			if v := valid.Verdict(f, d); v.Answer != transitions.Yes {
				return v, Data{}
			}
			return pick(f)
		},
	}
}

var replace = &machines.Action[Facts, Data, Effect]{
	Name: "replace-worker", Doc: "replaces the pod of the selected worker",
	Precondition: transitions.All(valid, mayReplace), OnPreconditionFailed: AwaitingWorkers,
	Effects: func(_ *Facts, d Data) []Effect { return []Effect{{Worker: d.Worker}} },
}

// Definition declares the machine.
func Definition() machines.Definition[Facts, Data, Effect] {
	type (
		state = machines.State[Facts, Data, Effect]
		row   = machines.Transition[Facts, Data]
	)
	const poll = 10 * time.Second
	invalid := transitions.Not(valid, "a spec that cannot be applied")
	notReady := transitions.Not(current, "a worker that is not ready or not as declared")
	return machines.Definition[Facts, Data, Effect]{
		Name: Name, Doc: "replaces workers one at a time until each runs as declared",
		States: []state{
			{State: states.State{Name: Current, Kind: states.Rest, Doc: "every worker is ready and runs as declared"}},
			{State: states.State{Name: Replacing, Kind: states.Work, Doc: "the pod of a worker is being replaced", Deadline: 5 * time.Minute, Poll: poll}, Invariant: transitions.Always[Facts, Data](), OnTargetChange: AwaitingWorkers, Action: replace},
			{State: states.State{Name: AwaitingWorkers, Kind: states.Wait, Doc: "workers are starting", Deadline: 10 * time.Minute, Poll: poll}, Invariant: transitions.AlwaysBecause[Facts, Data]("workers that are ready end the wait"), OnTargetChange: machines.KeepAttempt},
			{State: states.State{Name: Refused, Kind: states.Hold, HoldReason: states.Refusal, Doc: "the spec cannot be applied; workers and connectors keep what they run with", Poll: states.DefaultPoll}, OnTargetChange: AwaitingWorkers},
		},
		Transitions: []row{
			{Event: "spec-refused", From: Current, To: Refused, NewAttempt: true, When: invalid, Doc: "the spec cannot be applied"},
			{Event: "changed", From: Current, To: AwaitingWorkers, NewAttempt: true, When: transitions.All(valid, notReady), Doc: "a worker is not ready, or differs from what is declared"},

			{Event: "spec-refused", From: AwaitingWorkers, To: Refused, When: invalid, ClearData: true, Outranks: true, Doc: "the spec cannot be applied any more"},
			{Event: "settled", From: AwaitingWorkers, To: Current, When: current, Awaited: true, ClearData: true},
			{Event: "selected", From: AwaitingWorkers, To: Replacing, Choose: selected("next-worker"), Doc: "a worker differs from what is declared, and no other one is unavailable"},

			{Event: "replaced", From: Replacing, To: AwaitingWorkers, When: replaced, Awaited: true, ClearData: true},

			{Event: "spec-corrected", From: Refused, To: AwaitingWorkers, NewAttempt: true, When: valid, Awaited: true, Doc: "the spec can be applied again"},
		},
		Target: func(f *Facts) machines.Target { return machines.Target{To: f.Version + " " + f.Wanted} },
		Infer: machines.Inference[Facts, Data]{States: []string{Current}, Find: func(*Facts) (machines.InferredState[Data], transitions.Verdict) {
			return machines.InferredState[Data]{State: Current}, transitions.Allow()
		}},
		Progress: machines.Measure[Facts, Data]{Unit: "worker", Of: func(f *Facts, d Data) machines.Count {
			done := len(f.names(func(w *Worker) bool { return !unready(w) && !w.Outdated }))
			return machines.Count{Done: done, Total: len(f.Workers), Current: d.Worker}
		}},
		Data: machines.DataCodec[Data]{
			Encode: func(d Data) map[string]string {
				if d.Worker == "" {
					return nil
				}
				return map[string]string{"worker": d.Worker}
			},
			Decode: func(m map[string]string) (Data, error) {
				if len(m) > 0 && m["worker"] == "" {
					return Data{}, fmt.Errorf("reading the worker that is being replaced: %v names none", m)
				}
				return Data{Worker: m["worker"]}, nil
			},
		},
	}
}

//test:norace
package connectworkers_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	cw "github.com/detent-dev/detent/machines/connectworkers"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

type (
	row  = machinetest.Row[cw.Facts, cw.Data, cw.Effect]
	want = machinetest.Want[cw.Data, cw.Effect]
)

var (
	ready   = cw.Worker{Exists: true, Ready: true}
	starts  = cw.Worker{Exists: true}
	old     = cw.Worker{Exists: true, Ready: true, Outdated: true}
	broken  = cw.Worker{Exists: true, Outdated: true, Trouble: transitions.Problemf("ImagePull", "no such image")}
	absent  = cw.Worker{}
	invalid = transitions.Problemf("InvalidSpec", "spec.version is not known")
)

func of(workers ...cw.Worker) cw.Facts {
	f := cw.Facts{Version: "4.1.2", Wanted: "w2"}
	for i, w := range workers {
		w.Name = "w-" + string(rune('0'+i))
		f.Workers = append(f.Workers, w)
	}
	return f
}

func refused(f cw.Facts) cw.Facts {
	f.Problem = invalid
	return f
}

func hand(name string) *cw.Data { return &cw.Data{Worker: name} }

func rows() []row {
	selects := func(name string, f cw.Facts, worker string) row {
		return row{Name: "waiting: " + name, State: cw.AwaitingWorkers, Facts: f, Want: want{Event: "selected", To: cw.Replacing, Data: hand(worker)}}
	}
	waits := func(name string, f cw.Facts) row {
		return row{Name: "waiting: " + name, State: cw.AwaitingWorkers, Facts: f, Want: want{WaitingFor: []string{"current"}}}
	}
	replaces := func(name string, f cw.Facts, w want) row {
		return row{Name: "replacing: " + name, State: cw.Replacing, Data: hand("w-0"), Facts: f, Want: w}
	}
	return []row{
		{Name: "no state: it is inferred", Facts: of(old), Want: want{Event: machines.EventInferred, To: cw.Current}},
		{Name: "current: every worker runs as declared", State: cw.Current, Facts: of(ready, ready)},
		{Name: "current: no worker is declared", State: cw.Current, Facts: of()},
		{Name: "current: a worker is lost", State: cw.Current, Facts: of(ready, absent), Want: want{Event: "changed", To: cw.AwaitingWorkers}},
		{Name: "current: another version", State: cw.Current, Facts: of(old, old), Want: want{Event: "changed", To: cw.AwaitingWorkers}},
		{Name: "current: a spec that cannot be applied", State: cw.Current, Facts: refused(of(old, old)), Want: want{Event: "spec-refused", To: cw.Refused}},
		{Name: "current: a spec that cannot be applied while every worker is ready", State: cw.Current, Facts: refused(of(ready, ready)), Want: want{Event: "spec-refused", To: cw.Refused}},

		{Name: "waiting: all ready", State: cw.AwaitingWorkers, Facts: of(ready, ready), Want: want{Event: "settled", To: cw.Current}},
		{Name: "waiting: the spec becomes invalid", State: cw.AwaitingWorkers, Facts: refused(of(starts, ready)), Want: want{Event: "spec-refused", To: cw.Refused}},
		{Name: "waiting: a spec that is invalid while all are ready", State: cw.AwaitingWorkers, Facts: refused(of(ready)), Want: want{Event: "spec-refused", To: cw.Refused}},
		selects("the first outdated worker", of(old, old), "w-0"),
		selects("an outdated worker that is not ready comes first", of(old, broken), "w-1"),
		selects("a broken one although another one is starting", of(broken, starts), "w-0"),
		waits("another worker starts", of(old, starts)),
		waits("another worker has no pod", of(old, absent)),
		waits("a worker cannot start", of(cw.Worker{Exists: true, Trouble: invalid}, ready)),

		{Name: "refused: no worker is replaced, whatever the workers are", State: cw.Refused, Facts: refused(of(old, absent)), Want: want{WaitingFor: []string{"spec-valid"}}},
		{Name: "refused: another spec", State: cw.Refused, Attempt: "4.1.1 w1", Facts: refused(of(old)), Want: want{Event: machines.EventTargetChanged, To: cw.AwaitingWorkers}},
		{Name: "refused: the spec can be applied", State: cw.Refused, Facts: of(old, ready), Want: want{Event: "spec-corrected", To: cw.AwaitingWorkers}},

		replaces("the pod is replaced", of(old, ready), want{Effects: []cw.Effect{{Worker: "w-0"}}, WaitingFor: []string{"replaced"}}),
		replaces("one that is not ready, although another one is not", of(broken, starts), want{Effects: []cw.Effect{{Worker: "w-0"}}, WaitingFor: []string{"replaced"}}),
		replaces("another worker became unavailable", of(old, starts), want{Event: machines.EventPreconditionFailed, To: cw.AwaitingWorkers}),
		replaces("the spec became invalid", refused(of(old, ready)), want{Event: machines.EventPreconditionFailed, To: cw.AwaitingWorkers}),
		replaces("it was replaced", of(starts, ready), want{Event: "replaced", To: cw.AwaitingWorkers}),
		replaces("it is gone", of(absent, ready), want{Event: "replaced", To: cw.AwaitingWorkers}),
		{Name: "replacing: a worker that is not declared any more", State: cw.Replacing, Data: hand("w-9"), Facts: of(old), Want: want{Event: "replaced", To: cw.AwaitingWorkers}},
		{Name: "replacing: another target", State: cw.Replacing, Data: hand("w-0"), Attempt: "4.1.1 w1", Facts: of(old), Want: want{Event: machines.EventTargetChanged, To: cw.AwaitingWorkers}},
		{Name: "replacing: data of another release", State: cw.Replacing, Coded: map[string]string{"node": "1"}, Facts: of(old), Want: want{Event: machines.EventInferred, To: cw.Current}},
	}
}

func compiled(t *testing.T) *machines.Machine[cw.Facts, cw.Data, cw.Effect] {
	t.Helper()
	machine, err := machines.Compile(cw.Definition())
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

func TestDefinitionCompiles(t *testing.T) {
	if w := compiled(t).Warnings(); len(w) > 0 {
		t.Fatal(w)
	}
}

func TestDefinitionVerifies(t *testing.T) { machinetest.Verify(t, compiled(t), cw.Domain()) }

func TestDefinitionTransitions(t *testing.T) { machinetest.Run(t, compiled(t), rows()) }

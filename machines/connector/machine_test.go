//test:norace
package connector_test

import (
	"errors"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	mc "github.com/detent-dev/detent/machines/connector"
	co "github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

type (
	row    = machinetest.Row[mc.Facts, mc.Data, mc.Effect]
	want   = machinetest.Want[mc.Data, mc.Effect]
	change = func(f *mc.Facts)
)

const annotation = "strimzi.io/restart-connector"

// replaced is a restart that the same annotation requests with another value.
var replaced = mc.Restart{Annotation: annotation, Value: "v2"}

var (
	now       = machinetest.Start
	errSilent = errors.New("connection refused")
)

// with returns facts with the changes: a running connector as declared, in a state that was entered just now.
func with(changes ...change) mc.Facts {
	f := mc.Facts{
		Now: now, Since: now, Declared: true, Config: "c1", State: mc.Running,
		Connector: transitions.Known(mc.Connector{Exists: true, Config: "c1", State: mc.Running}, now),
	}
	for _, c := range changes {
		c(&f)
	}
	return f
}

func is(c mc.Connector) change { return func(f *mc.Facts) { f.Connector = transitions.Known(c, now) } }

func in(s mc.State) change { return is(mc.Connector{Exists: true, Config: "c1", State: s}) }

// Connectors that have failed while their tasks work, or have paused.
var (
	failedWorking = mc.Connector{Exists: true, Config: "c1", State: mc.Failed, TasksWork: true}
	failedPaused  = mc.Connector{Exists: true, Config: "c1", State: mc.Failed, TasksPaused: true}
)

func absent() change { return is(mc.Connector{}) }

func wants(s mc.State) change { return func(f *mc.Facts) { f.State = s } }

func configured(digest string) change { return func(f *mc.Facts) { f.Config = digest } }

// refused is a spec that cannot be applied, which declares another configuration.
func refused() change { return func(f *mc.Facts) { f.Config, f.Refused = "c2", true } }

func undeclared() change { return func(f *mc.Facts) { f.Declared = false } }

func silent() change {
	return func(f *mc.Facts) { f.Connector = transitions.Unreadable[mc.Connector](errSilent) }
}

func answer(s co.AnswerState) change {
	return func(f *mc.Facts) { f.Answer = co.Answer{State: s, At: now} }
}

// stale is a reading from before the answer.
func stale() change {
	return func(f *mc.Facts) { f.Answer = co.Answer{State: co.Confirmed, At: now.Add(time.Second)} }
}

// attempted is the target of the attempt in progress.
func attempted(target string) change { return func(f *mc.Facts) { f.Attempted = target } }

func entered(ago time.Duration) change { return func(f *mc.Facts) { f.Since = now.Add(-ago) } }

func restart(r mc.Restart) change { return func(f *mc.Facts) { f.Restart = r } }

func data(c mc.Command, outcome co.AnswerState) *mc.Data {
	return &mc.Data{Command: c, Outcome: outcome}
}

func settled() []row {
	sends := func(name string, c mc.Command, changes ...change) row {
		return row{Name: "settled: " + name, State: mc.Settled, Facts: with(changes...), Want: want{Event: "changed", To: mc.Applying, Data: data(c, "")}}
	}
	stays := func(name string, changes ...change) row {
		return row{Name: "settled: " + name, State: mc.Settled, Facts: with(changes...)}
	}
	requested := mc.Restart{Annotation: annotation}
	return []row{
		{Name: "no state: it is inferred", Facts: with(), Want: want{Event: machines.EventInferred, To: mc.Settled}},
		stays("it is as declared"),
		stays("it is paused as declared", in(mc.Paused), wants(mc.Paused)),
		stays("it has failed, and is not restarted", in(mc.Failed)),
		stays("it has failed, and its tasks have paused", is(failedPaused), wants(mc.Paused)),
		{Name: "settled: it has failed with its tasks, and Connect has confirmed that it is to pause", State: mc.Settled, Data: data(mc.Pause, co.Confirmed), Facts: with(in(mc.Failed), wants(mc.Paused))},
		{Name: "settled: it has failed, was to pause, and a task works", State: mc.Settled, Data: data(mc.Pause, co.Confirmed), Facts: with(is(failedWorking), wants(mc.Paused)), Want: want{Event: "changed", To: mc.Applying, Data: data(mc.Pause, "")}},
		sends("it has failed, is to pause, and its tasks work", mc.Pause, is(failedWorking), wants(mc.Paused)),
		sends("it has failed with its tasks, and is to pause", mc.Pause, in(mc.Failed), wants(mc.Paused)),
		sends("it has failed with paused tasks, and is to run", mc.Resume, is(failedPaused)),
		sends("no worker has it yet, and it is to pause", mc.Pause, in("UNASSIGNED"), wants(mc.Paused)),
		{Name: "settled: a paused one has lost its worker", State: mc.Settled, Data: data(mc.Pause, co.Confirmed), Facts: with(in("UNASSIGNED"), wants(mc.Paused))},
		{Name: "settled: a paused one has lost its worker, and is to run", State: mc.Settled, Data: data(mc.Pause, co.Confirmed), Facts: with(in("UNASSIGNED")), Want: want{Event: "changed", To: mc.Applying, Data: data(mc.Resume, "")}},
		sends("it restarts, and is to pause", mc.Pause, in("RESTARTING"), wants(mc.Paused)),
		stays("no state is published yet, and it is to pause", in(""), wants(mc.Paused)),
		stays("no worker has it yet", in("UNASSIGNED")),
		stays("it is gone as it is not declared", absent(), undeclared()),
		stays("a refused spec does not configure it", refused()),
		stays("a refused spec does not create it", absent(), refused()),
		sends("it is to stop, and the spec is refused", mc.Stop, wants(mc.Stopped), refused()),
		sends("a stopped one is to run with the configuration that it has, and the spec is refused", mc.Resume, in(mc.Stopped), refused()),
		sends("it is not declared any more, and the spec is refused", mc.Delete, undeclared(), refused()),
		sends("a failed one is restarted, and the spec is refused", mc.RestartIt, in(mc.Failed), restart(mc.Restart{Tasks: true, OnlyFailed: true}), refused()),
		stays("a stopped connector is not restarted", in(mc.Stopped), wants(mc.Stopped), restart(requested)),
		{Name: "settled: Connect is silent", State: mc.Settled, Facts: with(silent()), Want: want{WaitingFor: []string{"differs"}}},
		sends("it does not exist", mc.Create, absent()),
		sends("it is not declared any more", mc.Delete, undeclared()),
		sends("another configuration", mc.Configure, configured("c2")),
		sends("it is to stop", mc.Stop, wants(mc.Stopped)),
		sends("a failed one is to stop", mc.Stop, in(mc.Failed), wants(mc.Stopped)),
		sends("it is to stop before it is configured", mc.Stop, wants(mc.Stopped), configured("c2")),
		sends("it is to pause", mc.Pause, wants(mc.Paused)),
		sends("a paused one is to run", mc.Resume, in(mc.Paused)),
		sends("a stopped one is to run", mc.Resume, in(mc.Stopped)),
		sends("a failed one is restarted", mc.RestartIt, in(mc.Failed), restart(mc.Restart{Tasks: true, OnlyFailed: true})),
		{Name: "settled: a restart is requested", State: mc.Settled, Facts: with(restart(requested)), Want: want{Event: "changed", To: mc.Applying, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation}}},
		{Name: "settled: a restart of a task is requested", State: mc.Settled, Facts: with(restart(mc.Restart{Annotation: annotation + "-task", Task: 1})), Want: want{Event: "changed", To: mc.Applying, Data: &mc.Data{Command: mc.RestartTask, Annotation: annotation + "-task"}}},
	}
}

func applying() []row {
	requested := mc.Restart{Annotation: annotation, Tasks: true}
	automatic := mc.Restart{Tasks: true, OnlyFailed: true}
	hand := &mc.Data{Command: mc.RestartIt, Annotation: annotation}
	at := func(name string, d *mc.Data, w want, changes ...change) row {
		return row{Name: "applying: " + name, State: mc.Applying, Data: d, Facts: with(changes...), Want: w}
	}
	waits := func(effects ...mc.Effect) want {
		return want{WaitingFor: []string{"as-declared"}, Effects: effects}
	}
	return []row{
		at("it is created in its state", data(mc.Create, ""), waits(mc.Effect{Command: mc.Create, State: mc.Stopped}), absent(), wants(mc.Stopped)),
		at("it is stopped", data(mc.Stop, ""), waits(mc.Effect{Command: mc.Stop}), wants(mc.Stopped)),
		at("another request is due, as the spec was edited", data(mc.Stop, ""), want{Event: "overtaken", To: mc.Confirming, Data: data(mc.Stop, co.Uncertain)}, configured("c2")),
		at("another request is due, as a lost process has sent this one", data(mc.Stop, ""), want{Event: "overtaken", To: mc.Confirming, Data: data(mc.Stop, co.Uncertain)}, wants(mc.Stopped), in(mc.Stopped), configured("c2")),
		at("another request is due before the answer", data(mc.Stop, ""), waits(), configured("c2"), answer(co.Pending)),
		at("the spec is refused before the configuration is sent", data(mc.Configure, ""), want{Event: "visible", To: mc.Settled}, refused()),
		at("the spec went back before the request was sent", data(mc.Stop, ""), want{Event: "overtaken", To: mc.Confirming, Data: data(mc.Stop, co.Uncertain)}, entered(time.Second)),
		at("the spec went back before the answer", data(mc.Stop, ""), waits(), answer(co.Pending), entered(time.Second)),
		at("the spec went back long before the answer", data(mc.Stop, ""), waits(), answer(co.Pending), entered(100*time.Second)),
		at("no answer yet", data(mc.Stop, ""), waits(), wants(mc.Stopped), answer(co.Pending)),
		at("Connect became silent", data(mc.Stop, ""), want{WaitingFor: []string{"as-declared"}}, wants(mc.Stopped), silent()),
		at("it is visible before the answer", data(mc.Stop, ""), want{Event: "visible", To: mc.Settled}, wants(mc.Stopped), in(mc.Stopped)),
		at("it is confirmed", data(mc.Stop, ""), want{Event: "answered", To: mc.Confirming, Data: data(mc.Stop, co.Confirmed)}, wants(mc.Stopped), answer(co.Confirmed)),
		at("it is refused", data(mc.Configure, ""), want{Event: "answered", To: mc.Confirming, Data: data(mc.Configure, co.Refused)}, configured("c2"), answer(co.Refused)),
		at("it was not executed", data(mc.Configure, ""), want{Event: "answered", To: mc.Confirming, Data: data(mc.Configure, co.NotExecuted)}, configured("c2"), answer(co.NotExecuted)),
		at("the answer is lost", data(mc.Resume, ""), want{Event: "answered", To: mc.Confirming, Data: data(mc.Resume, co.Uncertain)}, in(mc.Paused), answer(co.Uncertain)),
		at("a requested restart is sent", hand, waits(mc.Effect{Command: mc.RestartIt, Restart: requested}), restart(requested)),
		at("a requested restart is confirmed", hand, want{Event: "restarted", To: mc.Clearing, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation, Outcome: co.Confirmed}}, restart(requested), answer(co.Confirmed)),
		at("a requested restart is refused", hand, want{Event: "restart-failed", To: mc.Confirming, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation, Outcome: co.Refused}}, restart(requested), answer(co.Refused)),
		at("another restart is requested before one is sent", &mc.Data{Command: mc.RestartIt, Annotation: annotation, Value: "v1"}, want{Event: "overtaken", To: mc.Confirming, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation, Value: "v1", Outcome: co.Uncertain}}, restart(replaced)),
		at("an automatic restart is awaited", data(mc.RestartIt, ""), waits(), in(mc.Failed), restart(automatic), answer(co.Pending)),
		at("an automatic restart was not executed", data(mc.RestartIt, ""), want{Event: "answered", To: mc.Confirming, Data: data(mc.RestartIt, co.NotExecuted)}, in(mc.Failed), restart(automatic), answer(co.NotExecuted)),
		at("the spec is corrected after the refusal", data(mc.Configure, ""), want{Event: "redirected", To: mc.Confirming, Data: data(mc.Configure, co.Refused)}, configured("c3"), attempted("RUNNING c2"), answer(co.Refused)),
		at("it is to stop after the refusal", data(mc.Configure, ""), want{Event: "redirected", To: mc.Confirming, Data: data(mc.Configure, co.Refused)}, configured("c2"), wants(mc.Stopped), attempted("RUNNING c2"), answer(co.Refused)),
		at("it is to stop before the answer", data(mc.Configure, ""), waits(), configured("c2"), wants(mc.Stopped), attempted("RUNNING c2"), answer(co.Pending)),
		at("it is to stop before the request is sent", data(mc.Configure, ""), want{Event: "redirected", To: mc.Confirming, Data: data(mc.Configure, co.Uncertain)}, configured("c2"), wants(mc.Stopped), attempted("RUNNING c2")),
		at("it is to stop after a restart was refused", hand, want{Event: "redirected", To: mc.Confirming, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation, Outcome: co.Refused}}, restart(requested), wants(mc.Stopped), attempted("RUNNING c1"), answer(co.Refused)),
		at("it is to stop after a restart was confirmed", hand, want{Event: "restarted", To: mc.Clearing, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation, Outcome: co.Confirmed}}, restart(requested), wants(mc.Stopped), attempted("RUNNING c1"), answer(co.Confirmed)),
		at("Connect became silent, and the spec was edited", data(mc.Configure, ""), want{WaitingFor: []string{"as-declared"}}, configured("c3"), attempted("RUNNING c2"), silent()),
		{Name: "applying: data of another release", State: mc.Applying, Coded: map[string]string{"outcome": "done"}, Facts: with(), Want: want{Event: machines.EventInferred, To: mc.Settled}},
	}
}

func confirming() []row {
	at := func(name string, d *mc.Data, w want, changes ...change) row {
		return row{Name: "confirming: " + name, State: mc.Confirming, Data: d, Facts: with(changes...), Want: w}
	}
	waits := want{WaitingFor: []string{"as-declared"}}
	next := func(c mc.Command) want { return want{Event: "next", To: mc.Applying, Data: data(c, "")} }
	return []row{
		at("it is as declared", data(mc.Resume, co.Confirmed), want{Event: "confirmed", To: mc.Settled}),
		at("it is read after the answer only", data(mc.Resume, co.Confirmed), want{}, stale()),
		at("Connect became silent", data(mc.Resume, co.Confirmed), waits, silent()),
		at("another request is due", data(mc.Create, co.Confirmed), next(mc.Pause), wants(mc.Paused)),
		at("a stop is not published yet, and the spec went back", data(mc.Stop, co.Confirmed), waits, entered(99*time.Second)),
		at("it is published then", data(mc.Stop, co.Confirmed), next(mc.Resume), in(mc.Stopped), entered(time.Second)),
		at("a stop is never published, and the spec went back", data(mc.Stop, co.Confirmed), want{Event: "confirmed", To: mc.Settled}, entered(100*time.Second)),
		at("a stop was refused, and the spec went back", data(mc.Stop, co.Refused), want{Event: "confirmed", To: mc.Settled}, entered(time.Second)),
		at("a resume is not published yet, and the spec went back", data(mc.Resume, co.Uncertain), waits, in(mc.Paused), wants(mc.Paused), entered(time.Second)),
		at("a pause is not published yet, and the spec went back", data(mc.Pause, co.Confirmed), waits, entered(time.Second)),
		at("a failed one was to pause, and its tasks work yet", data(mc.Pause, co.Confirmed), waits, is(failedWorking), wants(mc.Paused), entered(99*time.Second)),
		at("the pause of a failed one is repeated", data(mc.Pause, co.Confirmed), next(mc.Pause), is(failedWorking), wants(mc.Paused), entered(100*time.Second)),
		at("one without a worker was to pause", data(mc.Pause, co.Confirmed), want{Event: "confirmed", To: mc.Settled, Data: data(mc.Pause, co.Confirmed)}, in("UNASSIGNED"), wants(mc.Paused), entered(time.Second)),
		at("one without a worker was to pause, and the spec went back", data(mc.Pause, co.Confirmed), next(mc.Resume), in("UNASSIGNED"), entered(time.Second)),
		at("the tasks of a failed one have paused", data(mc.Pause, co.Confirmed), want{Event: "confirmed", To: mc.Settled, Data: data(mc.Pause, co.Confirmed)}, is(failedPaused), wants(mc.Paused), entered(time.Second)),
		at("all of it has failed, and the pause is confirmed", data(mc.Pause, co.Confirmed), want{Event: "confirmed", To: mc.Settled, Data: data(mc.Pause, co.Confirmed)}, in(mc.Failed), wants(mc.Paused), entered(time.Second)),
		at("all of it has failed, and the pause is uncertain", data(mc.Pause, co.Uncertain), next(mc.Pause), in(mc.Failed), wants(mc.Paused), entered(100*time.Second)),
		at("a failed one was to pause, and the spec went back", data(mc.Pause, co.Confirmed), waits, is(failedWorking), entered(time.Second)),
		at("a failed one was to resume, and its tasks have paused yet", data(mc.Resume, co.Confirmed), waits, is(failedPaused), entered(time.Second)),
		at("a failed one has resumed", data(mc.Resume, co.Confirmed), want{Event: "confirmed", To: mc.Settled}, is(failedWorking), entered(time.Second)),
		at("another request is due after an uncertain one", data(mc.Stop, co.Uncertain), next(mc.Configure), wants(mc.Stopped), in(mc.Stopped), configured("c2")),
		at("the spec is refused before the request is repeated", data(mc.Configure, co.Refused), want{Event: "confirmed", To: mc.Settled}, refused(), entered(10*time.Second)),
		at("a restart waits for its pause", &mc.Data{Command: mc.RestartIt, Annotation: annotation, Value: "v2", Outcome: co.NotExecuted}, waits, restart(replaced), entered(time.Second)),
		at("another restart is requested meanwhile", &mc.Data{Command: mc.RestartIt, Annotation: annotation, Value: "v1", Outcome: co.NotExecuted}, want{Event: "next", To: mc.Applying, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation, Value: "v2"}}, restart(replaced), entered(time.Second)),
		at("a refused request waits", data(mc.Configure, co.Refused), waits, configured("c2"), entered(9*time.Second)),
		at("a refused request is repeated", data(mc.Configure, co.Refused), next(mc.Configure), configured("c2"), entered(10*time.Second)),
		at("an uncertain request waits", data(mc.Configure, co.Uncertain), waits, configured("c2"), entered(99*time.Second)),
		at("an uncertain request is repeated", data(mc.Configure, co.Uncertain), next(mc.Configure), configured("c2"), entered(100*time.Second)),
		at("a request without effect is repeated", data(mc.Resume, co.Confirmed), next(mc.Resume), in(mc.Paused), entered(100*time.Second)),
		at("a confirmed stop is only awaited", data(mc.Stop, co.Confirmed), waits, wants(mc.Stopped), entered(9*time.Minute)),
		at("a confirmed stop without effect is repeated in the end", data(mc.Stop, co.Confirmed), next(mc.Stop), wants(mc.Stopped), entered(10*time.Minute)),
		at("it is to stop after a refused configuration", data(mc.Configure, co.Refused), want{Event: "edited", To: mc.Applying, Data: data(mc.Stop, "")}, configured("c2"), wants(mc.Stopped), attempted("RUNNING c2"), entered(time.Second)),
		at("the spec is corrected after a refused configuration", data(mc.Configure, co.Refused), want{Event: "edited", To: mc.Applying, Data: data(mc.Configure, "")}, configured("c3"), attempted("RUNNING c2"), entered(10*time.Second)),
		at("Connect became silent, and the spec was edited", data(mc.Configure, co.Refused), waits, configured("c3"), attempted("RUNNING c2"), silent()),
		at("the target of the attempt is the declared one", data(mc.Configure, co.Refused), next(mc.Configure), configured("c2"), attempted("RUNNING c2"), entered(10*time.Second)),
		at("a stop that was not confirmed is repeated", data(mc.Stop, co.Uncertain), next(mc.Stop), wants(mc.Stopped), entered(100*time.Second)),
	}
}

func clearing() []row {
	hand := &mc.Data{Command: mc.RestartIt, Annotation: annotation, Outcome: co.Confirmed}
	requested := mc.Restart{Annotation: annotation}
	return []row{
		{Name: "clearing: the annotation is removed", State: mc.Clearing, Data: hand, Facts: with(restart(requested)), Want: want{WaitingFor: []string{"annotation-removed"}, Effects: []mc.Effect{{Clear: annotation, Restart: requested}}}},
		{Name: "clearing: another restart was requested meanwhile", State: mc.Clearing, Data: &mc.Data{Command: mc.RestartIt, Annotation: annotation, Value: "v1", Outcome: co.Confirmed}, Facts: with(restart(replaced)), Want: want{Event: "cleared", To: mc.Settled}},
		{Name: "clearing: it is gone", State: mc.Clearing, Data: hand, Facts: with(), Want: want{Event: "cleared", To: mc.Settled}},
	}
}

func compiled(t *testing.T) *machines.Machine[mc.Facts, mc.Data, mc.Effect] {
	t.Helper()
	machine, err := machines.Compile(mc.Definition())
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

func TestDefinitionVerifies(t *testing.T) { machinetest.Verify(t, compiled(t), mc.Domain()) }

func TestDefinitionTransitions(t *testing.T) {
	var rows []row
	for _, part := range [][]row{settled(), applying(), confirming(), clearing()} {
		rows = append(rows, part...)
	}
	machinetest.Run(t, compiled(t), rows)
}

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, mc.Definition(), []mc.Data{{}}, nil, mc.Domain())
}

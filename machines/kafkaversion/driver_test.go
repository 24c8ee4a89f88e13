package kafkaversion_test

import (
	"slices"
	"strings"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

const uid = "4bb2b9a6-6f5e-4c3c-9d0e-6a0f2f0f4f1e"

// failing is a test, or one draw of a property.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// driver plays the version change on a world: decide, then act, one edge per pass, as the runtime does. Between passes in which
// nothing moved, time passes.
type driver struct {
	t     failing
	lc    machines.Evaluator[struct{}, *world, kafkaversion.Effect]
	world *world
	entry *lifecyclev1.Lifecycle
	trail []string
	// before is called before each pass with its number.
	before func(pass int)
	passes int
}

func newDriver(t failing, w *world) *driver {
	t.Helper()
	machine, err := machines.Compile(kafkaversion.Definition())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &driver{t: t, world: w, lc: machines.Bind(machine, machines.Binding[struct{}, *world, kafkaversion.Facts, kafkaversion.Effect, kafkaversion.Effect]{
		Name: "version", Facts: func(_ struct{}, w *world, ask machines.ObserveOptions) kafkaversion.Facts { return w.observe(ask) },
	}).Evaluator(access.Key{})}
}

// calm is for how many passes a lifecycle at rest is watched.
const calm = 40

// busy is how many passes it took to come to rest.
func (d *driver) busy() int { return d.passes - calm + 1 }

// play runs until the lifecycle is at rest or waits for a user and the world has nothing left to do. It fails if that never
// happens.
func (d *driver) play() *driver {
	d.t.Helper()
	const patience = 2000
	for quiet := 0; quiet < calm; d.passes++ {
		if d.passes == patience {
			d.t.Fatalf("no rest after %d passes:\n%s", patience, d.story())
		}
		if d.before != nil {
			d.before(d.passes)
		}
		moved := d.pass()
		if !moved {
			d.world.pass()
		}
		state, _ := d.lc.State(d.state())
		quiet++
		if moved || !state.Resting() {
			quiet = 0
		}
	}
	return d
}

func (d *driver) state() string {
	if d.entry == nil {
		return ""
	}
	return d.entry.State
}

func (d *driver) look(needs []transitions.Need) machines.Evaluation[kafkaversion.Effect] {
	q := machines.EvaluationInput[struct{}, *world]{Snapshot: d.world, UID: uid, Entry: d.entry, Options: machines.ObserveOptions{
		Needs: needs, Now: d.world.now, RequestID: machines.RequestIDOf(uid, "version", d.entry),
	}}
	if d.entry != nil {
		q.Options.Attempt, q.Options.EnteredAt = d.entry.Attempt, d.entry.EnteredAt.Time
	}
	return d.lc.Evaluate(q)
}

// pass is one pass. It says whether something moved: an edge, or the world.
func (d *driver) pass() bool {
	d.t.Helper()
	needs := d.lc.Needs(d.entry)
	decision := d.look(needs).Decide()
	if len(decision.Needs) > 0 {
		decision = d.look(slices.Concat(needs, decision.Needs)).Decide()
	}
	if decision.Err != nil {
		d.t.Fatalf("%v\n%s", decision.Err, d.story())
	}
	if decision.Move != nil {
		d.enter(decision.Move)
		return true
	}
	if d.entry == nil {
		return false
	}
	entry := d.look(needs).Project()
	d.entry = &entry
	action, acts := d.lc.Action(d.state())
	if !acts || !decision.MayAct {
		d.explained()
		return false
	}
	acting := d.look(slices.Concat(needs, action.Needs)).Act()
	switch {
	case acting.Err != nil:
		d.t.Fatalf("%v\n%s", acting.Err, d.story())
	case acting.PreconditionFailed != nil:
		d.enter(acting.PreconditionFailed)
		return true
	}
	requestID := machines.RequestIDOf(uid, "version", d.entry)
	for _, e := range acting.Effects {
		d.world.execute(e, requestID)
	}
	return false
}

func (d *driver) enter(move *machines.Move) {
	d.t.Helper()
	entry, err := d.look(d.lc.NeedsIn(move.To)).Enter(*move)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, d.story())
	}
	d.trail = append(d.trail, move.Event+" -> "+move.To+" "+entry.Data["node"])
	d.entry = &entry
	if move.To == roll.AwaitingReady && entry.Data == nil {
		d.world.install()
	}
}

// explained fails on a lifecycle that neither rests nor says what it waits for.
func (d *driver) explained() {
	d.t.Helper()
	state, _ := d.lc.State(d.state())
	if state.Kind != states.Rest && len(d.entry.WaitingFor) == 0 {
		d.t.Fatalf("%s waits and does not say for what\n%s", d.state(), d.story())
	}
}

// story is the trail for a failure message.
func (d *driver) story() string { return strings.Join(d.trail, "\n") }

// states that were entered, in order.
func (d *driver) visited() []string {
	var out []string
	for _, step := range d.trail {
		_, state, _ := strings.Cut(step, " -> ")
		out = append(out, strings.Fields(state)[0])
	}
	return out
}

package accounts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/examples/accounts/bank"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// settle is how long a command may take effect after its answer was lost.
const settle = 20 * time.Second

// The faults of the service, and of the process that waits for its answers.
const (
	down, slow, refuses   explore.Fault = "service down", "service slow", "service refuses"
	lostAnswer, comesLate explore.Fault = "answer lost", "command late"
	forgotten, others     explore.Fault = "answer forgotten", "changed by others"
)

var (
	names   = []string{"account", "plan", "card/visa"}
	errLost = errors.New("the connection was lost")
)

// sending is a command to the account. since is when the answer of a late command was lost.
type sending struct {
	to      Target
	id      machines.RequestID
	command Command
	answer  external.Answer
	since   time.Time
}

// world is the service, reached by HTTP in memory, with the last command of each lifecycle and those that may take effect late.
type world struct {
	plans   map[string]string
	cards   map[string]bool
	offers  []string
	trouble explore.Fault
	last    map[string]sending
	late    []sending
}

func worldOf(at *explore.Scenario) *world { return at.World().(*world) }

func (w *world) Clone() explore.World {
	return &world{maps.Clone(w.plans), maps.Clone(w.cards), slices.Clone(w.offers), w.trouble, maps.Clone(w.last), slices.Clone(w.late)}
}

func (w *world) AppendCanonical(dst []byte, at *explore.Scenario) []byte {
	for _, plan := range w.plans {
		dst = append(dst, plan...)
	}
	dst = fmt.Appendf(dst, "/%d%d/%s", len(w.offers), len(w.cards), w.trouble)
	for _, name := range names {
		s := w.last[name]
		dst = fmt.Appendf(dst, "/%v%s%t", s.command, s.answer.State, s.id == at.RequestID(name))
	}
	for _, s := range w.mayCome(at) {
		dst = fmt.Appendf(dst, "/%v%d", s.command, at.Age(s.since))
	}
	return dst
}

// mayCome returns the commands that may still take effect.
func (w *world) mayCome(at *explore.Scenario) []sending {
	return slices.DeleteFunc(slices.Clone(w.late), func(s sending) bool { return !at.Now().Before(s.since.Add(settle)) })
}

// RoundTrip lets the service answer one request.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.trouble == down {
		return nil, errLost
	}
	answer := httptest.NewRecorder()
	(&bank.Bank{Plans: w.plans, Offers: w.offers, Cards: w.cards}).ServeHTTP(answer, r)
	if w.trouble == lostAnswer {
		return nil, errLost
	}
	return answer.Result(), nil
}

// send sends a command now, and returns its answer.
func (w *world) send(s sending, trouble explore.Fault) external.Answer {
	before, d := w.trouble, w.direct()
	defer func() { w.trouble = before }()
	w.trouble = trouble
	d.Write(context.Background(), s.to, s.id, s.command)
	return d.Answer(s.to, s.id)
}

func (w *world) direct() *Direct {
	return &Direct{Protocol: NewProtocol("http://bank", &http.Client{Transport: w})}
}

// Next returns what may happen to the service and to the commands.
func (w *world) Next(at *explore.Scenario) (steps []explore.Step) {
	step := func(possible bool, name string, fault explore.Fault, do func(*world)) {
		if possible {
			steps = append(steps, explore.Step{Name: name, Fault: fault, Do: func(at *explore.Scenario) { do(worldOf(at)) }})
		}
	}
	step(w.trouble != "", "the service is well again", "", func(w *world) { w.trouble = "" })
	step(w.trouble == "", "the service is down", down, func(w *world) { w.trouble = down })
	step(w.trouble == "", "the service is slow", slow, func(w *world) { w.trouble = slow })
	step(len(w.plans) > 0, "others close the account", others, func(w *world) { clear(w.plans); clear(w.cards) })
	step(len(w.offers) == 2, "platinum is offered", others, func(w *world) { w.offers = append(w.offers, "platinum") })
	for i, s := range w.mayCome(at) {
		left := slices.Delete(w.mayCome(at), i, i+1)
		step(true, fmt.Sprintf("late command %d takes effect", i), comesLate, func(w *world) {
			w.late = slices.Clone(left)
			w.send(s, "")
		})
	}
	for _, name := range names {
		s := w.last[name]
		pending, now := s.answer.State == external.Pending, at.Now()
		answer := func(fault explore.Fault) func(w *world) {
			return func(w *world) {
				s.answer = w.send(s, fault)
				w.last[name] = s
			}
		}
		step(pending, "the command of "+name+" is answered", "", answer(""))
		step(pending, "the answer to "+name+" is lost", lostAnswer, answer(lostAnswer))
		step(pending, "the command of "+name+" is late", comesLate, func(w *world) {
			s.answer.State, s.since = external.Unknown, now
			w.last[name], w.late = s, append(w.late, s)
		})
		step(pending, "the command of "+name+" is refused", refuses, func(w *world) {
			s.answer.State = external.Refused
			w.last[name] = s
		})
		step(s.id.UID != "", "the process that sent the command of "+name+" ends", forgotten, func(w *world) { w.forget(name, now) })
	}
	for i := range steps {
		do := steps[i].Do
		steps[i].Do = func(at *explore.Scenario) { do(at); at.Wake() }
	}
	return steps
}

// forget removes the last command of the lifecycle, which may still take effect if it was not answered.
func (w *world) forget(name string, now time.Time) {
	if s := w.last[name]; s.answer.State == external.Pending {
		s.since = now
		w.late = append(w.late, s)
	}
	delete(w.last, name)
}

// system is the System of an explored operator: the world sends its commands.
type system struct{ *explore.Scenario }

func (s system) Read(ctx context.Context, t Target, q []external.Query[transitions.Need], live bool, now time.Time) []external.Reading[bank.Account] {
	if worldOf(s.Scenario).trouble == slow && !live {
		return make([]external.Reading[bank.Account], len(q))
	}
	return worldOf(s.Scenario).direct().Read(ctx, t, q, live, now)
}

func (s system) Write(_ context.Context, t Target, id machines.RequestID, command Command) {
	w := worldOf(s.Scenario)
	if w.last[id.Lifecycle].id != id {
		w.forget(id.Lifecycle, s.Now())
		w.last[id.Lifecycle] = sending{to: t, id: id, command: command, answer: external.Answer{State: external.Pending}}
	}
}

func (s system) Answer(_ Target, id machines.RequestID) external.Answer {
	if sent := worldOf(s.Scenario).last[id.Lifecycle]; sent.id == id {
		return sent.answer
	}
	return external.Answer{}
}

func (s system) InFlight(_ Target, lifecycle string) (d external.InFlight) {
	w := worldOf(s.Scenario)
	for _, late := range w.mayCome(s.Scenario) {
		if end := late.since.Add(settle); late.id.Lifecycle == lifecycle && end.After(d.Until) {
			d = external.InFlight{Until: end, Sent: true}
		}
	}
	if w.last[lifecycle].answer.State == external.Pending {
		d = external.InFlight{Until: s.Now().Add(settle), Sent: true}
	}
	return d
}

func (s system) Drop(types.UID) {}

package external_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
)

// site is a system that is reached by an address.
type site struct {
	name    string
	address string
}

func (s site) Object() (types.NamespacedName, types.UID) {
	return types.NamespacedName{Namespace: "ns", Name: s.name}, types.UID(s.name)
}

func (s site) BuiltFrom() string { return s.address }

var (
	errRefused = errors.New("refused")
	errFailed  = errors.New("failed")
	errUnknown = errors.New("unknown")
)

type (
	system = external.System[site, string, int, error]
	polled = external.Polled[site, string, string, int, error]
	direct = external.Direct[site, string, string, int, error]
)

// protocol answers a question with its length, and a command with the error that it is.
func protocol(closed func(address string)) external.Protocol[site, string, string, int, error] {
	return external.Protocol[site, string, string, int, error]{
		Connect: func(s site) (string, func(), error) {
			if s.address == "" {
				return "", nil, errors.New("no address")
			}
			return s.address, func() { closed(s.address) }, nil
		},
		Ask:     func(_ context.Context, address, question string) (int, error) { return len(address + question), nil },
		Execute: func(_ context.Context, _ string, command error) error { return command },
		Outcome: func(err error) external.Answer {
			a := external.Answer{State: external.Unknown, Text: err.Error()}
			switch {
			case errors.Is(err, errRefused):
				a.State, a.Code, a.Name = external.Refused, 409, "Conflict"
			case errors.Is(err, errFailed):
				a.State = external.Failed
			}
			return a
		},
	}
}

var began = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// systems are both implementations. await returns once a wake-up has arrived, if the implementation needs one.
func systems(t *testing.T) map[string]func() (s system, await func()) {
	t.Helper()
	return map[string]func() (system, func()){
		"Polled": func() (system, func()) {
			woken := make(chan types.NamespacedName, 10)
			p := &polled{
				Protocol: protocol(func(string) {}), Clock: clocktesting.NewFakeClock(began),
				Wake: func(name types.NamespacedName) { woken <- name },
			}
			t.Cleanup(p.Close)
			return p, func() { <-woken }
		},
		"Direct": func() (system, func()) { return &direct{Protocol: protocol(func(string) {})}, func() {} },
	}
}

func TestSystemAnswersCommands(t *testing.T) {
	id := machines.RequestID{UID: "a", Lifecycle: "offsets", Attempt: "1", State: "Stopping", Sequence: 1}
	for name, tc := range map[string]struct {
		command error
		want    external.Answer
	}{
		"done":       {want: external.Answer{RequestID: id, State: external.Done}},
		"refused":    {command: errRefused, want: external.Answer{RequestID: id, State: external.Refused, Code: 409, Name: "Conflict", Text: "refused"}},
		"never sent": {command: errFailed, want: external.Answer{RequestID: id, State: external.Failed, Text: "failed"}},
		"unknown":    {command: errUnknown, want: external.Answer{RequestID: id, State: external.Unknown, Text: "unknown"}},
	} {
		for kind, build := range systems(t) {
			t.Run(name+", "+kind, func(t *testing.T) {
				s, await := build()
				at := site{name: "a", address: "one"}
				if got := s.Answer(at, id); got.State != external.None {
					t.Errorf("answer before the command: %+v", got)
				}
				s.Write(t.Context(), at, id, tc.command)
				await()
				s.Write(t.Context(), at, id, errUnknown) // the request ID was used: ignored
				if diff := cmp.Diff(tc.want, s.Answer(at, id)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				failed := tc.want
				if failed.State == external.Done {
					failed = external.Answer{}
				}
				if diff := cmp.Diff(failed, s.Failure(at, "offsets")); diff != "" {
					t.Errorf("failure (-want +got):\n%s", diff)
				}
				if got := s.Failure(at, "other"); got.State != external.None {
					t.Errorf("failure of another lifecycle: %+v", got)
				}
				next := id
				next.Sequence++
				if got := s.Answer(at, next); got.State != external.None {
					t.Errorf("answer to another request: %+v", got)
				}
				s.Drop("a")
				if got := s.Answer(at, id); got.State != external.None {
					t.Errorf("answer after the object was deleted: %+v", got)
				}
			})
		}
	}
}

func TestSystemAnswersQuestions(t *testing.T) {
	for kind, build := range systems(t) {
		t.Run(kind, func(t *testing.T) {
			s, await := build()
			at := site{name: "a", address: "one"}
			queries := []external.Query[string]{{Question: "size", MaxAge: time.Minute}}
			if got := s.Read(t.Context(), at, queries, false, began)[0]; got.Pending() {
				await()
			}
			want := external.Reading[int]{Answer: 7, At: began}
			for _, live := range []bool{false, true} {
				if diff := cmp.Diff(want, s.Read(t.Context(), at, queries, live, began)[0]); diff != "" {
					t.Errorf("live %v: reading (-want +got):\n%s", live, diff)
				}
			}
			if got := s.Read(t.Context(), site{name: "b"}, queries, false, began)[0]; got.Err == nil {
				t.Errorf("reading of a system without an address: %+v", got)
			}
		})
	}
}

// TestPolledSurvivesAPanicOfAQuestion checks that an answer that a protocol cannot handle is an error, whichever goroutine asks.
func TestPolledSurvivesAPanicOfAQuestion(t *testing.T) {
	for name, tc := range map[string]struct {
		live, together bool
	}{
		"polled":                     {},
		"live":                       {live: true},
		"live, asked together":       {live: true, together: true},
		"polled, and asked together": {together: true},
	} {
		t.Run(name, func(t *testing.T) {
			woken := make(chan types.NamespacedName, 10)
			broken := protocol(func(string) {})
			broken.Ask = func(context.Context, string, string) (int, error) { panic("odd answer") }
			if tc.together {
				broken.Together = func(context.Context, string, []string) string { panic("odd questions") }
			}
			p := &polled{Protocol: broken, Clock: clocktesting.NewFakeClock(began), Wake: func(name types.NamespacedName) { woken <- name }}
			t.Cleanup(p.Close)
			queries := []external.Query[string]{{Question: "size", MaxAge: time.Minute}}
			read := func() external.Reading[int] {
				return p.Read(t.Context(), site{name: "a", address: "one"}, queries, tc.live, began)[0]
			}
			got := read()
			if got.Pending() {
				<-woken
				got = read()
			}
			if got.Err == nil || got.Err.Error() != "the call panicked: odd answer" {
				t.Errorf("got %v, want the panic as an error", got.Err)
			}
		})
	}
}

// TestPolledLimitsTheTimeOfCalls checks that the contexts of questions and commands end after the times that are set.
func TestPolledLimitsTheTimeOfCalls(t *testing.T) {
	limits := make(chan time.Duration, 2)
	took := func(ctx context.Context) {
		deadline, _ := ctx.Deadline()
		limits <- time.Until(deadline).Round(time.Minute)
	}
	slow := protocol(func(string) {})
	slow.Ask = func(ctx context.Context, _, _ string) (int, error) { took(ctx); return 0, nil }
	slow.Execute = func(ctx context.Context, _ string, _ error) error { took(ctx); return nil }
	p := &polled{Protocol: slow, Clock: clocktesting.NewFakeClock(began), Wake: func(types.NamespacedName) {}, AskTimeout: 7 * time.Minute, ExecuteTimeout: 9 * time.Minute}
	t.Cleanup(p.Close)
	at := site{name: "a", address: "one"}
	p.Read(t.Context(), at, []external.Query[string]{{Question: "size", MaxAge: time.Minute}}, false, began)
	got := []time.Duration{<-limits}
	p.Write(t.Context(), at, machines.RequestID{UID: "a", Lifecycle: "offsets", Attempt: "1", State: "Stopping", Sequence: 1}, nil)
	if diff := cmp.Diff([]time.Duration{7 * time.Minute, 9 * time.Minute}, append(got, <-limits)); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

// A system whose address changes gets a new client, and answers of the old one are not used.
func TestPolledReplacesTheClientOfAChangedTarget(t *testing.T) {
	closed, woken := make(chan string, 10), make(chan types.NamespacedName, 10)
	answers := make(chan struct{}, 2) // each lets one question be answered
	asked := protocol(func(address string) { closed <- address })
	asked.Ask = func(_ context.Context, address, question string) (int, error) {
		<-answers
		return len(address + question), nil
	}
	p := &polled{Protocol: asked, Clock: clocktesting.NewFakeClock(began), Wake: func(name types.NamespacedName) { woken <- name }}
	t.Cleanup(p.Close)
	queries := []external.Query[string]{{Question: "size", MaxAge: time.Minute}}
	p.Read(t.Context(), site{name: "a", address: "one"}, queries, false, began)
	answers <- struct{}{}
	<-woken
	if got := p.Read(t.Context(), site{name: "a", address: "other"}, queries, false, began)[0]; !got.Pending() {
		t.Errorf("reading %+v, want pending", got)
	}
	if got := <-closed; got != "one" {
		t.Errorf("closed %q", got)
	}
	answers <- struct{}{}
	<-woken
	if got := p.Read(t.Context(), site{name: "a", address: "other"}, queries, false, began)[0]; got.Answer != 9 {
		t.Errorf("reading %+v, want 9", got)
	}
}

// A system that cannot be read is shown with its name, and since when every question has failed.
func TestPolledShowsWhatCannotBeRead(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, tc := range map[string]struct {
		system, address string
		err             error
		want            string
	}{
		"no connection":              {"the bank", "one", refused, "cannot be read since 2026-11-20T12:00:00Z: the bank does not answer: dial: connection refused"},
		"another error":              {"the bank", "one", errors.New("odd answer"), "cannot be read since 2026-11-20T12:00:00Z: the bank: odd answer"},
		"without a name":             {"", "one", errors.New("odd answer"), "cannot be read since 2026-11-20T12:00:00Z: odd answer"},
		"a client cannot be created": {"the bank", "", nil, "cannot be read since 2026-11-20T12:00:00Z: the bank: no address"},
	} {
		t.Run(name, func(t *testing.T) {
			woken, clk := make(chan types.NamespacedName, 10), clocktesting.NewFakeClock(began)
			silent := protocol(func(string) {})
			silent.System = tc.system
			silent.Ask = func(context.Context, string, string) (int, error) { return 0, tc.err }
			p := &polled{Protocol: silent, Clock: clk, Wake: func(name types.NamespacedName) { woken <- name }}
			t.Cleanup(p.Close)
			read := func() string {
				queries := []external.Query[string]{{Question: "size", MaxAge: time.Minute}}
				r := p.Read(t.Context(), site{name: "a", address: tc.address}, queries, false, clk.Now())[0]
				return external.Fact(&r, &r.Answer).Gap().Observed
			}
			for range 2 {
				read()
				if tc.err != nil {
					<-woken
				}
				if got := read(); got != tc.want {
					t.Errorf("shows %q, want %q", got, tc.want)
				}
				clk.Step(time.Minute) // it is asked again
			}
		})
	}
}

package poller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/runtime/internal/poller"
)

// system is an external system that takes a second for each call and counts the calls.
type system struct {
	mu      sync.Mutex
	calls   []string
	busy    int
	overlap bool
	wakes   int
	// answer and result are the results of every question and write. Optional; default:
	// an answer that names the question, and Done.
	answer func(q string) (string, error)
	result func(w string) poller.Outcome
}

func (s *system) call(ctx context.Context, what string) error {
	s.mu.Lock()
	s.calls = append(s.calls, what)
	s.busy++
	s.overlap = s.overlap || s.busy > 1
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.busy--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *system) ask(ctx context.Context, q string) (string, error) {
	if err := s.call(ctx, "ask "+q); err != nil {
		return "", err
	}
	if s.answer != nil {
		return s.answer(q)
	}
	return "answer to " + q, nil
}

func (s *system) write(ctx context.Context, w string) poller.Outcome {
	if err := s.call(ctx, "write "+w); err != nil {
		return poller.Outcome{Result: poller.Unknown, Text: err.Error()}
	}
	if s.result != nil {
		return s.result(w)
	}
	return poller.Outcome{Result: poller.Done}
}

func (s *system) endpoint() *poller.Endpoint[string, string, string] {
	return poller.New(poller.Options[string, string, string]{
		Ask: s.ask, Write: s.write, Now: time.Now, AskTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		Wake: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.wakes++
		},
	})
}

func (s *system) check(t *testing.T, wakes int, calls ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(calls, s.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if s.wakes != wakes {
		t.Errorf("woken %d times, want %d", s.wakes, wakes)
	}
	if s.overlap {
		t.Error("two calls ran at once")
	}
}

func query(question string, maxAge time.Duration) poller.Query[string] {
	return poller.Query[string]{Question: question, MaxAge: maxAge}
}

func request(sequence int, command string) poller.Request[string] {
	return poller.Request[string]{Number: poller.Number{Attempt: "5f2c91", State: "SettingMetadata", Sequence: sequence}, Command: command}
}

func TestEndpointAskAnswersLaterAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		e := s.endpoint()
		defer e.Close()
		if got := e.Read("quorum").State(); got != poller.NotAsked {
			t.Errorf("before it was asked: %s", got)
		}
		began := time.Now()
		e.Ask(query("quorum", time.Minute))
		if got := e.Read("quorum").State(); got != poller.Pending {
			t.Errorf("while it is asked: %s", got)
		}
		if !time.Now().Equal(began) {
			t.Error("asking took time")
		}
		time.Sleep(1500 * time.Millisecond)
		got := e.Read("quorum")
		want := poller.Reading[string]{Value: "answer to quorum", AskedAt: began}
		if diff := cmp.Diff(want, got); diff != "" || got.State() != poller.Known {
			t.Errorf("%s (-want +got):\n%s", got.State(), diff)
		}
		s.check(t, 1, "ask quorum")
	})
}

func TestEndpointKeepsAnswerWhileAskingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		e := s.endpoint()
		defer e.Close()
		e.Ask(query("quorum", 0))
		time.Sleep(2 * time.Second)
		first := e.Read("quorum")
		e.Ask(query("quorum", 0))
		second := e.Read("quorum")
		if second.State() != poller.Known || !second.Asking || !second.AskedAt.Equal(first.AskedAt) {
			t.Errorf("while asked again: %+v", second)
		}
		time.Sleep(2 * time.Second)
		if third := e.Read("quorum"); !third.AskedAt.After(first.AskedAt) || third.Asking {
			t.Errorf("after the new answer: %+v", third)
		}
	})
}

func TestEndpointAskWithinMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		e := s.endpoint()
		defer e.Close()
		for range 5 {
			e.Ask(query("quorum", 10*time.Second)) // one call, however often it is asked for
		}
		time.Sleep(2 * time.Second)
		e.Ask(query("quorum", 10*time.Second)) // fresh enough
		time.Sleep(time.Second)
		s.check(t, 1, "ask quorum")
		time.Sleep(7 * time.Second)
		e.Ask(query("quorum", 10*time.Second))
		time.Sleep(2 * time.Second)
		s.check(t, 2, "ask quorum", "ask quorum")
	})
}

func TestEndpointAskWithinMaxAgeOfFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := system{answer: func(string) (string, error) { return "", errors.New("connection refused") }}
		e := s.endpoint()
		defer e.Close()
		e.Ask(query("quorum", 10*time.Second))
		time.Sleep(2 * time.Second)
		e.Ask(query("quorum", 10*time.Second))
		time.Sleep(2 * time.Second)
		if got := e.Read("quorum"); got.State() != poller.Unreadable || got.Err.Error() != "connection refused" {
			t.Errorf("%s: %v", got.State(), got.Err)
		}
		s.check(t, 1, "ask quorum")
	})
}

func TestEndpointFailedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		s := system{answer: func(string) (string, error) {
			if down {
				return "", errors.New("connection refused")
			}
			return "quorum", nil
		}}
		e := s.endpoint()
		defer e.Close()
		ask := func() time.Time {
			e.Ask(query("quorum", 0))
			time.Sleep(2 * time.Second)
			return e.Read("quorum").FailedSince
		}
		began := time.Now()
		if first, second := ask(), ask(); !first.Equal(began) || !second.Equal(began) {
			t.Errorf("failed since %v, then since %v, want %v", first, second, began)
		}
		down = false
		if got := ask(); !got.IsZero() {
			t.Errorf("answered, and failed since %v", got)
		}
		down, began = true, time.Now()
		if got := ask(); !got.Equal(began) {
			t.Errorf("failed again since %v, want %v", got, began)
		}
	})
}

func TestEndpointRunsOneCallAtATimeWritesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		e := s.endpoint()
		defer e.Close()
		e.Ask(query("brokers", 0))
		synctest.Wait() // it is under way
		e.Ask(query("quorum", 0))
		e.Ask(query("features", 0))
		e.Submit(request(1, "raise"))
		time.Sleep(10 * time.Second)
		s.check(t, 4, "ask brokers", "write raise", "ask quorum", "ask features")
	})
}

func TestEndpointCancelsCallsAfterTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		e := poller.New(poller.Options[string, string, string]{
			Ask: func(ctx context.Context, _ string) (string, error) { return "", hang(ctx) },
			Write: func(ctx context.Context, _ string) poller.Outcome {
				return poller.Outcome{Result: poller.Unknown, Text: hang(ctx).Error()}
			},
			Now: time.Now, AskTimeout: 3 * time.Second, WriteTimeout: 7 * time.Second,
		})
		e.Ask(query("quorum", 0))
		time.Sleep(3*time.Second + time.Millisecond)
		if got := e.Read("quorum"); !errors.Is(got.Err, context.DeadlineExceeded) {
			t.Errorf("after its timeout: %s, %v", got.State(), got.Err)
		}
		e.Submit(request(1, "raise"))
		time.Sleep(7*time.Second + time.Millisecond)
		if got := e.Outcome(request(1, "").Number); got.Result != poller.Unknown {
			t.Errorf("after its timeout: %+v", got)
		}
		e.Ask(query("quorum", 0))
		synctest.Wait()
		began := time.Now()
		e.Close() // ends the call under way
		if !time.Now().Equal(began) {
			t.Errorf("closing took %v", time.Since(began))
		}
	})
}

func TestEndpointRecoversFromPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := system{answer: func(string) (string, error) { panic("index out of range") }, result: func(string) poller.Outcome { panic("nil map") }}
		e := s.endpoint()
		defer e.Close()
		e.Ask(query("quorum", 0))
		e.Submit(request(1, "raise"))
		time.Sleep(3 * time.Second)
		if got := e.Read("quorum"); got.State() != poller.Unreadable {
			t.Errorf("question: %s, %v", got.State(), got.Err)
		}
		if got := e.Outcome(request(1, "").Number); got.Result != poller.Unknown || got.Text != "the call panicked: nil map" {
			t.Errorf("write: %+v", got)
		}
	})
}

func TestEndpointAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		closed := 0
		e := poller.New(poller.Options[string, string, string]{Ask: s.ask, Write: s.write, Now: time.Now, Closed: func() { closed++ }})
		e.Ask(query("quorum", 0))
		time.Sleep(2 * time.Second)
		e.Ask(query("quorum", 0))
		synctest.Wait()
		e.Ask(query("brokers", 0)) // never begun
		e.Close()
		e.Close()
		e.Ask(query("features", 0))
		got := e.Submit(request(1, "raise"))
		time.Sleep(5 * time.Second)
		s.check(t, 0, "ask quorum", "ask quorum")
		if got.Result != poller.Unknown || closed != 1 {
			t.Errorf("outcome %+v, closed %d times", got, closed)
		}
		if state := e.Read("brokers").State(); state != poller.NotAsked {
			t.Errorf("a question that was never put is %s", state)
		}
	})
}

func TestEndpointForgetsUnreadAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		e := s.endpoint()
		defer e.Close()
		e.Ask(query("log dirs of 7", 0))
		e.Ask(query("quorum", 0))
		for range 5 {
			time.Sleep(30 * time.Minute)
			e.Ask(query("quorum", 0))
		}
		time.Sleep(2 * time.Second)
		if got := e.Read("log dirs of 7").State(); got != poller.NotAsked {
			t.Errorf("an answer that was unread for hours is %s", got)
		}
		if got := e.Read("quorum").State(); got != poller.Known {
			t.Errorf("an answer that is wanted is %s", got)
		}
	})
}

func ExampleEndpoint() {
	woken := make(chan struct{}, 1)
	e := poller.New(poller.Options[string, int, string]{
		Ask:   func(context.Context, string) (int, error) { return 27, nil },
		Write: func(context.Context, string) poller.Outcome { return poller.Outcome{Result: poller.Done} },
		Wake:  func() { woken <- struct{}{} },
		Now:   time.Now,
	})
	defer e.Close()
	e.Ask(query("metadata.version", 5*time.Second))
	<-woken // the next pass
	fmt.Println(e.Read("metadata.version").State(), e.Read("metadata.version").Value)
	// Output: known 27
}

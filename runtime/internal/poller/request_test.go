package poller_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/runtime/internal/poller"
)

func TestEndpointSubmitExecutesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		e := s.endpoint()
		defer e.Close()
		one := request(1, "raise")
		if got := e.Outcome(one.Number).Result; got != poller.Unknown {
			t.Errorf("before it was handed over: %s", got)
		}
		for range 3 {
			if got := e.Submit(one).Result; got != poller.Waiting {
				t.Errorf("handed over: %s", got)
			}
		}
		time.Sleep(2 * time.Second)
		done := time.Now().Add(-time.Second)
		want := poller.Outcome{Number: one.Number, Result: poller.Done, At: done}
		if diff := cmp.Diff(want, e.Submit(one)); diff != "" {
			t.Errorf("handed over again (-want +got):\n%s", diff)
		}
		time.Sleep(2 * time.Second)
		if diff := cmp.Diff(want, e.Outcome(one.Number)); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		s.check(t, 1, "write raise")
	})
}

func TestEndpointSubmitReplacesOlderNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := system{result: func(w string) poller.Outcome {
			return poller.Outcome{Result: poller.Refused, Code: 95, Text: w + ": Broker 3 only supports versions 7-25"}
		}}
		e := s.endpoint()
		defer e.Close()
		e.Submit(request(1, "first"))
		time.Sleep(2 * time.Second)
		e.Submit(request(2, "second"))
		if got := e.Outcome(request(1, "").Number).Result; got != poller.Unknown {
			t.Errorf("the first, once replaced: %s", got)
		}
		if got := e.Submit(request(1, "first")); got.Result != poller.Unknown {
			t.Errorf("an older number, handed over late: %+v", got)
		}
		time.Sleep(2 * time.Second)
		got := e.Outcome(request(2, "").Number)
		if got.Result != poller.Refused || got.Code != 95 || got.Text != "second: Broker 3 only supports versions 7-25" {
			t.Errorf("the second: %+v", got)
		}
		other := request(1, "of another attempt")
		other.Number.Attempt = "a77b02"
		e.Submit(other)
		time.Sleep(2 * time.Second)
		s.check(t, 3, "write first", "write second", "write of another attempt")
	})
}

func TestEndpointSubmitReplacesQueuedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		e := s.endpoint()
		defer e.Close()
		e.Ask(query("brokers", 0))
		synctest.Wait()
		e.Submit(request(1, "first"))
		e.Submit(request(2, "second"))
		time.Sleep(5 * time.Second)
		s.check(t, 2, "ask brokers", "write second")
	})
}

func TestEndpointOutcomeOfReplacedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := system{result: func(w string) poller.Outcome { return poller.Outcome{Result: poller.Done, Text: w} }}
		e := s.endpoint()
		defer e.Close()
		e.Submit(request(1, "first"))
		synctest.Wait() // it is under way
		e.Submit(request(2, "second"))
		time.Sleep(1500 * time.Millisecond)
		if got := e.Outcome(request(2, "").Number); got.Result != poller.Waiting {
			t.Errorf("the second has the outcome of the first: %+v", got)
		}
		time.Sleep(time.Second)
		if got := e.Outcome(request(2, "").Number); got.Result != poller.Done || got.Text != "second" {
			t.Errorf("the second: %+v", got)
		}
	})
}

func TestEndpointOutcomeAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s system
		first := s.endpoint()
		first.Submit(request(1, "raise"))
		synctest.Wait()
		first.Close()
		if got := first.Outcome(request(1, "").Number); got.Result != poller.Unknown {
			t.Errorf("closed with a write under way: %+v", got)
		}
		second := s.endpoint()
		defer second.Close()
		if got := second.Outcome(request(1, "").Number); got.Result != poller.Unknown || got.Text == "" {
			t.Errorf("in the next process: %+v", got)
		}
	})
}

// Unsettled reports about all requests, independent of their numbers.
func TestEndpointUnsettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := map[string]poller.Result{"first": poller.Unknown, "second": poller.Refused, "third": poller.Done}
		s := system{result: func(w string) poller.Outcome { return poller.Outcome{Result: results[w]} }}
		e := s.endpoint()
		defer e.Close()
		check := func(when string, underWay bool, endedAt time.Time) {
			t.Helper()
			if under, at := e.Unsettled(); under != underWay || !at.Equal(endedAt) {
				t.Errorf("%s: under way %v, ended at %v; want %v, %v", when, under, at, underWay, endedAt)
			}
		}
		check("at first", false, time.Time{})
		e.Submit(request(1, "first"))
		check("handed over", true, time.Time{})
		synctest.Wait()
		check("being carried out", true, time.Time{})
		e.Submit(request(2, "second")) // takes the place of the first, which runs on
		time.Sleep(time.Second)
		synctest.Wait()
		lost := time.Now()
		check("the first was lost, the second is under way", true, lost)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		check("the second was refused, which settles it", false, lost)
		e.Submit(request(3, "third"))
		time.Sleep(time.Second)
		synctest.Wait()
		check("the third was done a moment ago", false, time.Now())
	})
}

func TestEndpointFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := map[string]poller.Result{"done": poller.Done, "refused": poller.Refused, "lost": poller.Unknown}
		s := system{result: func(w string) poller.Outcome { return poller.Outcome{Result: results[w], Text: w} }}
		e := s.endpoint()
		defer e.Close()
		check := func(when, want string) {
			t.Helper()
			got, failed := e.Failed()
			if got.Text != want || failed != (want != "") {
				t.Errorf("%s: %+v (%v), want %q", when, got, failed, want)
			}
		}
		submit := func(attempt string, sequence int, command string) {
			r := request(sequence, command)
			r.Number.Attempt = attempt
			e.Submit(r)
		}
		ended := func() {
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
		}
		check("at first", "")
		submit("a", 1, "refused")
		ended()
		check("refused", "refused")
		submit("a", 2, "lost")
		check("the next is under way", "refused")
		ended()
		check("lost", "lost")
		submit("a", 3, "done")
		ended()
		check("done", "")
		submit("a", 4, "refused")
		ended()
		submit("b", 1, "done")
		check("another attempt has begun", "")
		first := e
		e = poller.New(poller.Options[string, string, string]{Ask: s.ask, Write: s.write, Now: time.Now, Previous: first})
		defer e.Close()
		first.Close()
		check("the connection was replaced while the request was under way", "the connection of the request was replaced")
	})
}

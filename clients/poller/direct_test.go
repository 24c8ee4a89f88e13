package poller_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/poller"
)

func TestDirect(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC)
	asked, written := 0, 0
	var memory poller.Memory
	d := poller.Direct[string, int, string]{
		Put: func(_ context.Context, q string) (int, error) {
			asked++
			if q == "nonsense" {
				return 0, errors.New("no such subject")
			}
			return asked, nil
		},
		Write:  func(context.Context, string) poller.Outcome { written++; return poller.Outcome{Result: poller.Done} },
		Now:    func() time.Time { return now },
		Memory: &memory,
	}
	d.Ask("quorum", 0)
	if a, b := d.Read("quorum"), d.Read("quorum"); a.Value == b.Value || a.State() != poller.Known {
		t.Errorf("answers %+v and %+v, want two fresh ones", a, b)
	}
	if got := d.Read("nonsense"); got.State() != poller.Unreadable {
		t.Errorf("nonsense is %s", got.State())
	}
	one, two := request(1, "raise"), request(2, "raise")
	if got := d.Outcome(one.Number).Result; got != poller.Unknown {
		t.Errorf("before: %s", got)
	}
	for range 2 {
		if got := d.Submit(one); got.Result != poller.Done || !got.At.Equal(now) {
			t.Errorf("outcome %+v", got)
		}
	}
	if got := d.Submit(two).Result; got != poller.Done || written != 2 {
		t.Errorf("the second: %s, %d writes", got, written)
	}
	if got := d.Submit(one).Result; got != poller.Unknown || written != 2 {
		t.Errorf("the first again: %s, %d writes", got, written)
	}
	memory = poller.Memory{}
	if got := d.Outcome(two.Number).Result; got != poller.Unknown {
		t.Errorf("in a new process: %s", got)
	}
}

package admin

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/clients/kafka"
)

func TestNotDeposed(t *testing.T) {
	// answer is the description of one epoch, by controller 1. The others fetched so long before it.
	answer := func(epoch int32, fetched time.Duration) kafka.Quorum {
		const at = 1_000_000
		q := kafka.Quorum{Leader: 1, LeaderEpoch: epoch, Voters: []kafka.QuorumReplica{{ID: 1, LastFetchMillis: at}}}
		for id := int32(2); id <= 3; id++ {
			q.Voters = append(q.Voters, kafka.QuorumReplica{ID: id, LastFetchMillis: at - fetched.Milliseconds()})
		}
		return q
	}
	const followed, left = 500 * time.Millisecond, 10 * time.Second
	type reading struct {
		after  time.Duration
		answer kafka.Quorum
		want   bool
	}
	for name, readings := range map[string][]reading{
		"a later epoch":                  {{0, answer(4, followed), true}, {time.Second, answer(5, followed), true}},
		"the same epoch":                 {{0, answer(5, followed), true}, {time.Second, answer(5, followed), true}},
		"a lower epoch right afterwards": {{0, answer(5, followed), true}, {time.Second, answer(4, followed), false}},
		"a lower epoch while the higher one is read too": {
			{0, answer(5, followed), true}, {deposedFor - 1, answer(5, followed), true}, {deposedFor - 1, answer(4, followed), false},
		},
		"a deposed leader that was stopped for long": {{0, answer(5, followed), true}, {time.Hour, answer(4, left), false}},
		"the log began anew": {
			{0, answer(5, followed), true}, {time.Second, answer(1, followed), false}, {deposedFor, answer(1, followed), true}, {0, answer(1, followed), true},
			{time.Second, answer(2, followed), true}, {time.Second, answer(1, followed), false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
			c := &Client{opts: Options{Clock: clock}}
			for i, r := range readings {
				clock.Step(r.after)
				if err := c.notDeposed(r.answer); (err == nil) != r.want {
					t.Errorf("reading %d: %v", i, err)
				}
			}
		})
	}
}

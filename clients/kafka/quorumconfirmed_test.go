package kafka_test

import (
	"testing"

	"github.com/detent-dev/detent/clients/kafka"
)

func TestQuorumConfirmed(t *testing.T) {
	const now, recent, long = 100_000, 99_000, 90_000
	voters := func(fetched ...int64) []kafka.QuorumReplica {
		var out []kafka.QuorumReplica
		for id, at := range fetched {
			out = append(out, kafka.QuorumReplica{ID: int32(id), LastFetchMillis: at})
		}
		return out
	}
	cases := map[string]struct {
		quorum kafka.Quorum
		want   bool
	}{
		"all fetch":                              {kafka.Quorum{Leader: 0, Voters: voters(now, recent, recent)}, true},
		"a majority fetches":                     {kafka.Quorum{Leader: 0, Voters: voters(now, long, recent)}, true},
		"a leader that lost its majority":        {kafka.Quorum{Leader: 0, Voters: voters(now, long, kafka.NotReported)}, false},
		"half is no majority":                    {kafka.Quorum{Leader: 0, Voters: voters(now, recent, long, long)}, false},
		"one voter alone":                        {kafka.Quorum{Leader: 0, Voters: voters(now)}, true},
		"a leader that is no voter":              {kafka.Quorum{Leader: 7, Voters: voters(now, now, now)}, false},
		"a leader that does not report the time": {kafka.Quorum{Leader: 0, Voters: voters(kafka.NotReported, now, now)}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.quorum.Confirmed(); (err == nil) != tc.want {
				t.Errorf("confirmed: %v, want %v", err, tc.want)
			}
		})
	}
}

func TestQuorumCovers(t *testing.T) {
	q := kafka.Quorum{HighWatermark: 100} // the first offset that is not committed
	for applied, want := range map[int64]bool{-1: false, 98: false, 99: true, 120: true} {
		if got := q.Covers(applied); got != want {
			t.Errorf("applied up to %d: covers = %v, want %v", applied, got, want)
		}
	}
}

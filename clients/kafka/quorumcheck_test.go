package kafka_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
)

type quorumCase struct {
	Name   string `json:"name"`
	Origin string `json:"origin"`
	Given  struct {
		Leader  int32            `json:"leader"`
		Voters  map[int32]*int64 `json:"voters"`
		Node    int32            `json:"node"`
		Timeout int64            `json:"timeout"`
	} `json:"given"`
	Expect struct {
		Can bool `json:"can"`
	} `json:"expect"`
}

func TestQuorumSafeWithoutCases(t *testing.T) {
	for _, c := range loadCases[quorumCase](t, "quorum.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			q := kafka.Quorum{Leader: c.Given.Leader}
			for _, id := range slices.Sorted(maps.Keys(c.Given.Voters)) {
				at := kafka.NotReported
				if ts := c.Given.Voters[id]; ts != nil {
					at = *ts
				}
				q.Voters = append(q.Voters, kafka.QuorumReplica{ID: id, LastCaughtUpMillis: at})
			}
			limit := kafka.DefaultQuorumFetchTimeout
			if c.Given.Timeout > 0 {
				limit = time.Duration(c.Given.Timeout) * time.Millisecond
			}
			got := kafka.QuorumSafeWithout(q, c.Given.Node, 10_000, limit)
			if got.Safe != c.Expect.Can {
				t.Errorf("%s: safe = %v, want %v: %+v", c.Origin, got.Safe, c.Expect.Can, got)
			}
		})
	}
}

func TestQuorumSafeWithout(t *testing.T) {
	voters := func(caughtUp ...int64) []kafka.QuorumReplica {
		var vs []kafka.QuorumReplica
		for i, at := range caughtUp {
			vs = append(vs, kafka.QuorumReplica{ID: int32(i), LogEndOffset: 100, LastCaughtUpMillis: at})
		}
		return vs
	}
	cases := map[string]struct {
		quorum kafka.Quorum
		node   int32
		now    int64
		want   kafka.QuorumCheck
	}{
		"names who is behind": {
			quorum: kafka.Quorum{Leader: 0, Voters: voters(10_000, 5_000, 9_900)}, node: 2, now: 10_000,
			want: kafka.QuorumCheck{Leader: 0, Need: 2, CaughtUp: []int32{0}, Behind: []int32{1}},
		},
		"exactly the limit behind is behind": {
			quorum: kafka.Quorum{Leader: 0, Voters: voters(10_000, 8_000, 9_900)}, node: 2, now: 10_000,
			want: kafka.QuorumCheck{Leader: 0, Need: 2, CaughtUp: []int32{0}, Behind: []int32{1}},
		},
		"a leader that reports no time is measured against now": {
			quorum: kafka.Quorum{Leader: 0, Voters: voters(kafka.NotReported, 5_000, 5_000)}, node: 0, now: 10_000,
			want: kafka.QuorumCheck{Leader: 0, Need: 2, Behind: []int32{1, 2}},
		},
		"the leader's clock counts, not ours": {
			quorum: kafka.Quorum{Leader: 0, Voters: voters(10_000, 9_900, 9_900)}, node: 1, now: 99_000,
			want: kafka.QuorumCheck{Safe: true, Leader: 0, Need: 2, CaughtUp: []int32{0, 2}},
		},
		"five voters spare one while three others are caught up": {
			quorum: kafka.Quorum{Leader: 4, Voters: voters(10_000, 10_000, 1, 10_000, 10_000)}, node: 0, now: 10_000,
			want: kafka.QuorumCheck{Safe: true, Leader: 4, Need: 3, CaughtUp: []int32{1, 3, 4}, Behind: []int32{2}},
		},
		"a node that is no voter is not missed": {
			quorum: kafka.Quorum{Leader: 0, Voters: voters(10_000, 1)}, node: 7, now: 10_000,
			want: kafka.QuorumCheck{Safe: true, Leader: 0, CaughtUp: []int32{0}, Behind: []int32{1}},
		},
		"without a leader not even a node that is no voter goes": {
			quorum: kafka.Quorum{Leader: kafka.NoLeader, Voters: voters(10_000)}, node: 7, now: 10_000,
			want: kafka.QuorumCheck{Leader: kafka.NoLeader},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := kafka.QuorumSafeWithout(c.quorum, c.node, c.now, 2*time.Second)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuorumDemanding(t *testing.T) {
	q := kafka.Quorum{Leader: 0, Voters: []kafka.QuorumReplica{
		{ID: 0, LogEndOffset: 900, LastCaughtUpMillis: 10_000},
		{ID: 1, LogEndOffset: 40, LastCaughtUpMillis: 10_000},
		{ID: 2, LogEndOffset: 900, LastCaughtUpMillis: 10_000},
	}}
	before := q.Clone()
	if !kafka.QuorumSafeWithout(q, 2, 10_000, time.Second).Safe {
		t.Fatal("all caught up, yet node 2 cannot be spared")
	}
	got := kafka.QuorumSafeWithout(q.Demanding(map[int32]int64{1: 800}), 2, 10_000, time.Second)
	want := kafka.QuorumCheck{Leader: 0, Need: 2, CaughtUp: []int32{0}, Behind: []int32{1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("voter 1 lost its log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, q); diff != "" {
		t.Errorf("Demanding changed its receiver:\n%s", diff)
	}
}

package noderoll_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/noderoll"
)

func TestWordsOfASlot(t *testing.T) {
	holders := []noderoll.Holder{{Cluster: "prod/orders", Impeded: noderoll.Stalled}, {Cluster: "prod/audit", Impeded: noderoll.Paused}, {Cluster: "prod/billing"}}
	tests := map[string]struct {
		slot noderoll.Slot
		want string
	}{
		"before it, one cluster": {
			noderoll.Slot{Position: 1, MaxActive: 1, Taken: 1, Holders: holders[2:]},
			"position 1 in the queue; 1 of 1 slots are taken, by prod/billing",
		},
		"no slot is taken": {noderoll.Slot{Position: 2, MaxActive: 1}, "position 2 in the queue; 0 of 1 slots are taken"},
		"of many holders three are named": {
			noderoll.Slot{Position: 10, MaxActive: 10, Taken: 10, Holders: holders},
			"position 10 in the queue; 10 of 10 slots are taken, by prod/orders (stalled), prod/audit (paused), prod/billing and 7 more",
		},
		"far behind, only what impedes is named": {
			noderoll.Slot{Position: 11, MaxActive: 10, Taken: 10, Holders: holders},
			"at least 10 clusters are ahead in the queue; 10 of 10 slots are taken, by prod/orders (stalled), prod/audit (paused) and 8 more",
		},
		"far behind, and nothing impedes": {
			noderoll.Slot{Position: 500, MaxActive: 10, Taken: 10, Holders: holders[2:]},
			"at least 200 clusters are ahead in the queue; 10 of 10 slots are taken",
		},
		"far behind, at a step": {noderoll.Slot{Position: 501, MaxActive: 10, Taken: 10}, "at least 500 clusters are ahead in the queue; 10 of 10 slots are taken"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.slot.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The message in the status of a cluster far back in the queue changes a few times as the queue shrinks, not with each roll.
func TestWordsOfASlotChangeSeldomFarBehind(t *testing.T) {
	texts := map[string]bool{}
	for position := 5000; position > 10; position-- {
		slot := noderoll.Slot{Position: position, MaxActive: 10, Taken: 10, Holders: []noderoll.Holder{{Cluster: "prod/" + string(rune('a'+position%26))}}}
		texts[slot.String()] = true
	}
	if len(texts) > 10 {
		t.Errorf("%d texts, want at most 10", len(texts))
	}
}

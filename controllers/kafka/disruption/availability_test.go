package disruption

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// snapshot is a live observation of two brokers, ready for an hour, with answers from Kafka of now.
func snapshot() *observation.Snapshot {
	v := &observation.Snapshot{Now: noon}
	brokers := kafkaclient.Brokers{FencingReported: true}
	for id := range int32(2) {
		v.Nodes = append(v.Nodes, observation.Node{
			ID: id, Pool: "p", PodName: fmt.Sprint("c-p-", id), Wanted: true, RolesRunning: observation.Roles{Broker: true},
			Pod: observation.Pod{
				Exists: true, Running: true, Ready: true, UID: types.UID(fmt.Sprint("uid-of-", id)), StartedAt: noon.Add(-time.Hour), ReadySince: noon.Add(-time.Hour),
			},
		})
		brokers.Brokers = append(brokers.Brokers, kafkaclient.Broker{ID: id, Fencing: kafkaclient.Unfenced})
	}
	v.Brokers, v.Partitions = transitions.Known(brokers, noon), transitions.Known(kafkaclient.Partitions{}, noon)
	v.Quorum = transitions.Known(kafkaclient.Quorum{}, noon)
	return v
}

// Each case says what is observed of node 1; node 0 is available in all of them.
func TestAvailability(t *testing.T) {
	available := lifecycle.Member{Name: "1", Title: "c-p-1", Instance: "uid-of-1", Running: true, Ready: true, Serving: transitions.Yes, InSync: true}
	with := func(change func(*lifecycle.Member)) lifecycle.Member {
		m := available
		change(&m)
		return m
	}
	pod := func(change func(*observation.Pod)) func(*observation.Snapshot) {
		return func(v *observation.Snapshot) { change(&v.Nodes[1].Pod) }
	}
	fenced := func(v *observation.Snapshot) {
		v.Brokers = transitions.Known(kafkaclient.Brokers{FencingReported: true, Brokers: []kafkaclient.Broker{
			{ID: 0, Fencing: kafkaclient.Unfenced}, {ID: 1, Fencing: kafkaclient.Fenced},
		}}, noon)
	}
	for name, tc := range map[string]struct {
		observed func(*observation.Snapshot)
		want     lifecycle.Member
	}{
		"a ready broker that is unfenced": {want: available},
		"a broker that Kafka has fenced": {
			observed: fenced, want: with(func(m *lifecycle.Member) { m.Serving = transitions.No }),
		},
		"no answer about brokers is no evidence that it does not serve": {
			observed: func(v *observation.Snapshot) {
				v.Brokers = transitions.Unreadable[kafkaclient.Brokers](errors.New("connection refused"))
			},
			want: with(func(m *lifecycle.Member) { m.Serving = transitions.Unknown }),
		},
		"a fact that was not requested is no evidence either": {
			observed: func(v *observation.Snapshot) { v.Brokers = transitions.Fact[kafkaclient.Brokers]{} },
			want:     with(func(m *lifecycle.Member) { m.Serving = transitions.Unknown }),
		},
		"the answer is older than the loss of readiness": {
			observed: pod(func(p *observation.Pod) {
				p.Ready, p.ReadySince, p.UnreadySince = false, time.Time{}, noon.Add(-time.Second)
			}),
			want: with(func(m *lifecycle.Member) { m.Ready, m.Serving = false, transitions.Unknown }),
		},
		"the answer is a session timeout newer than the loss of readiness": {
			observed: pod(func(p *observation.Pod) {
				p.Ready, p.ReadySince, p.UnreadySince = false, time.Time{}, noon.Add(-time.Minute)
			}),
			want: with(func(m *lifecycle.Member) { m.Ready = false }),
		},
		"its process is younger than the session of the previous one": {
			observed: pod(func(p *observation.Pod) { p.StartedAt = noon.Add(-time.Second) }),
			want:     with(func(m *lifecycle.Member) { m.InSync = false }),
		},
		"a replica on it is not in sync": {
			observed: func(v *observation.Snapshot) {
				v.Partitions = transitions.Known(kafkaclient.Partitions{Suspect: []kafkaclient.Partition{
					{Topic: "t", Replicas: []int32{0, 1}, ISR: []int32{0}},
				}}, noon)
			},
			want: with(func(m *lifecycle.Member) { m.InSync = false }),
		},
		"its pod is terminating": {
			observed: pod(func(p *observation.Pod) { p.Terminating, p.Ready, p.UnreadySince = true, false, noon }),
			want:     with(func(m *lifecycle.Member) { m.Running, m.Ready, m.Serving = false, false, transitions.No }),
		},
		"its pod terminates for ever, which is no restart in progress": {
			observed: pod(func(p *observation.Pod) {
				p.Terminating, p.Ready, p.UnreadySince, p.Trouble = true, false, noon, &transitions.Problem{Reason: roll.PodNotEnding, Message: "the pod does not end"}
			}),
			want: with(func(m *lifecycle.Member) { m.Running, m.Lost, m.Ready, m.Serving = false, true, false, transitions.No }),
		},
		"its pod is refused, which is no restart in progress": {
			observed: pod(func(p *observation.Pod) {
				*p = observation.Pod{Trouble: &transitions.Problem{Reason: roll.PodRefused, Message: "exceeded quota"}}
			}),
			want: with(func(m *lifecycle.Member) {
				m.Instance, m.Running, m.Lost, m.Ready, m.Serving, m.InSync = "", false, true, false, transitions.No, true
			}),
		},
		"its pod is not created yet": {
			observed: pod(func(p *observation.Pod) { *p = observation.Pod{} }),
			want: with(func(m *lifecycle.Member) {
				m.Instance, m.Running, m.Ready, m.Serving, m.InSync = "", false, false, transitions.No, true
			}),
		},
		"its container keeps failing, which is no restart in progress": {
			observed: func(v *observation.Snapshot) {
				pod(func(p *observation.Pod) {
					p.Ready, p.Running, p.StartedAt, p.UnreadySince = false, false, time.Time{}, noon.Add(-time.Minute)
					p.Trouble = &transitions.Problem{Message: "exited with code 1"}
				})(v)
				fenced(v)
			},
			want: with(func(m *lifecycle.Member) { m.Ready, m.Serving = false, transitions.No }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := snapshot()
			if tc.observed != nil {
				tc.observed(v)
			}
			got := Availability(&kafkav1beta2.Kafka{}, v)
			if got.NothingServing {
				t.Error("nothing serves, although node 0 does")
			}
			if diff := cmp.Diff(tc.want, got.Members[1]); diff != "" {
				t.Errorf("node 1 (-want +got):\n%s", diff)
			}
		})
	}
}

package kafka_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
)

type availabilityCase struct {
	Name   string `json:"name"`
	Origin string `json:"origin"`
	Given  struct {
		Partitions []struct {
			Min      *int32  `json:"min"`
			Replicas []int32 `json:"replicas"`
			ISR      []int32 `json:"isr"`
		} `json:"partitions"`
		ExtraBrokers    []int32 `json:"extra_brokers"`
		ListTopics      string  `json:"list_topics"`
		DescribeTopics  string  `json:"describe_topics"`
		DescribeConfigs string  `json:"describe_configs"`
		Holders         []int32 `json:"holders"`
	} `json:"given"`
	Expect struct {
		Can      map[string]bool `json:"can"`
		Error    map[string]any  `json:"error"`
		ErrorFor []int32         `json:"error_for"`
		OKFor    []int32         `json:"ok_for"`
	} `json:"expect"`
}

// TestPartitionsAtRiskCases runs the cases that judge an answer. In the other cases listing
// or describing topics fails, so the read itself fails, which the tests of the client
// cover. The count makes the test fail if cases of that kind are added.
func TestPartitionsAtRiskCases(t *testing.T) {
	failedReads := 0
	for _, c := range loadCases[availabilityCase](t, "availability.yaml") {
		if c.Expect.Error != nil {
			failedReads++
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var partitions []kafka.Partition
			for i, p := range c.Given.Partitions {
				minISR := kafka.MinISRUnset
				if p.Min != nil {
					minISR = *p.Min
				}
				partitions = append(partitions, kafka.Partition{Topic: "t", Index: int32(i), Replicas: p.Replicas, ISR: p.ISR, MinISR: minISR})
			}
			if c.Given.DescribeConfigs != "" {
				partitions = []kafka.Partition{{Topic: "t", Replicas: c.Given.Holders, ISR: c.Given.Holders, MinISR: kafka.MinISRUnreadable}}
			}
			for id, can := range wantedAnswers(t, c) {
				if got := kafka.PartitionsAtRisk(partitions, id); got.Clear() != can {
					t.Errorf("%s: broker %d may go = %v, want %v: %+v", c.Origin, id, got.Clear(), can, got)
				}
			}
		})
	}
	if failedReads != 2 {
		t.Errorf("%d cases of failed reads, want 2", failedReads)
	}
}

func wantedAnswers(t *testing.T, c availabilityCase) map[int32]bool {
	t.Helper()
	want := map[int32]bool{}
	for id, can := range c.Expect.Can {
		n, err := strconv.ParseInt(id, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		want[int32(n)] = can
	}
	for _, id := range c.Expect.ErrorFor {
		want[id] = false
	}
	for _, id := range c.Expect.OKFor {
		want[id] = true
	}
	if len(want) == 0 {
		t.Fatal("the case expects nothing")
	}
	return want
}

func TestPartitionsAtRisk(t *testing.T) {
	p := func(topic string, minISR int32, replicas, isr []int32) kafka.Partition {
		return kafka.Partition{Topic: topic, Leader: isr[0], Replicas: replicas, ISR: isr, MinISR: minISR}
	}
	three := []int32{1, 2, 3}
	under := p("under", 2, three, []int32{1})
	at := p("at", 2, three, []int32{1, 2})
	above := p("above", 2, three, three)
	unset := p("unset", kafka.MinISRUnset, three, []int32{1})
	unread := p("unread", kafka.MinISRUnreadable, three, three)
	bare := p("bare", 1, []int32{1}, []int32{1})
	foreign := p("foreign", 2, []int32{4, 5, 6}, []int32{4})
	all := []kafka.Partition{under, at, above, unset, unread, bare, foreign}
	cases := map[string]struct {
		broker int32
		want   kafka.Risks
	}{
		"in sync":     {1, kafka.Risks{Blocking: []kafka.Partition{under, at}, Unknown: []kafka.Partition{unread}, Unprotected: []kafka.Partition{bare}}},
		"out of sync": {3, kafka.Risks{Blocking: []kafka.Partition{under}, Unknown: []kafka.Partition{unread}}},
		"elsewhere":   {4, kafka.Risks{Blocking: []kafka.Partition{foreign}}},
		"unheard of":  {9, kafka.Risks{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, kafka.PartitionsAtRisk(all, c.broker)); diff != "" {
				t.Errorf("broker %d (-want +got):\n%s", c.broker, diff)
			}
		})
	}
}

func TestRiskOfHealthyPartitionIsNone(t *testing.T) {
	ids := []int32{1, 2, 3}
	for minISR := kafka.MinISRUnreadable; minISR <= 4; minISR++ {
		for mask := range 8 {
			p := kafka.Partition{Leader: 1, Replicas: ids, MinISR: minISR}
			for i, id := range ids {
				if mask&(1<<i) != 0 {
					p.ISR = append(p.ISR, id)
				}
			}
			if !p.Healthy() {
				continue
			}
			for _, id := range ids {
				if risk := kafka.RiskOf(p, id); risk != kafka.RiskNone {
					t.Errorf("%+v is healthy, yet broker %d puts it at risk: %s", p, id, risk)
				}
			}
		}
	}
}

func TestOutOfSync(t *testing.T) {
	a := kafka.Partition{Topic: "a", Replicas: []int32{1, 2}, ISR: []int32{1}}
	b := kafka.Partition{Topic: "b", Index: 7, Replicas: []int32{2, 3}, ISR: []int32{3, 2}}
	got := kafka.OutOfSync([]kafka.Partition{a, b}, 2)
	if diff := cmp.Diff([]kafka.Partition{a}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.ISR, b.Adding = []int32{3}, []int32{2}
	if got := kafka.OutOfSync([]kafka.Partition{b}, 2); len(got) > 0 {
		t.Errorf("a replica that is being added is out of sync: %v", got)
	}
	if b.Name() != "b-7" {
		t.Errorf("name = %q", b.Name())
	}
}

// A partition neither needs nor misses a replica that a reassignment adds, until it has caught up.
func TestRiskOfAPartitionThatIsMoved(t *testing.T) {
	moved := func(isr ...int32) kafka.Partition {
		return kafka.Partition{Replicas: []int32{1, 2, 4, 3}, Adding: []int32{4}, ISR: isr}
	}
	for name, c := range map[string]struct {
		min    int32
		p      kafka.Partition
		broker int32
		want   kafka.Risk
	}{
		"the added replica is copied":                                         {min: 2, p: moved(1, 2, 3), broker: 4, want: kafka.RiskNone},
		"the added replica is copied, and the partition is under its minimum": {min: 3, p: moved(1, 2), broker: 4, want: kafka.RiskUnprotected},
		"a replica that stays":                                                {min: 2, p: moved(1, 2, 3), broker: 1, want: kafka.RiskNone},
		"a replica at the minimum":                                            {min: 2, p: moved(1, 2), broker: 1, want: kafka.RiskAtMin},
		"a replica under the minimum":                                         {min: 2, p: moved(1), broker: 2, want: kafka.RiskUnderMin},
		"the added replica under the minimum":                                 {min: 2, p: moved(1), broker: 4, want: kafka.RiskNone},
		"no more replicas than the minimum without the added one":             {min: 3, p: moved(1, 2, 3), broker: 1, want: kafka.RiskUnprotected},
		"the added replica has caught up":                                     {min: 3, p: moved(1, 2, 4), broker: 4, want: kafka.RiskAtMin},
	} {
		t.Run(name, func(t *testing.T) {
			c.p.MinISR = c.min
			if got := kafka.RiskOf(c.p, c.broker); got != c.want {
				t.Errorf("risk %q, want %q", got, c.want)
			}
		})
	}
}

func TestMarkAdding(t *testing.T) {
	var p kafka.Partitions
	p.Add(kafka.Partition{Topic: "a", Leader: 1, Replicas: []int32{1, 2}, ISR: []int32{1, 2}, MinISR: 2})
	if p.ReplicaMissing() {
		t.Error("a replica is missing although all are in sync")
	}
	p.Add(kafka.Partition{Topic: "orders", Index: 1, Leader: 1, Replicas: []int32{1, 4, 2}, ISR: []int32{1, 2}})
	if !p.ReplicaMissing() {
		t.Error("no replica is missing")
	}
	p.MarkAdding([]kafka.Reassignment{{Topic: "orders", Index: 1, Adding: []int32{4}}, {Topic: "orders", Index: 2, Adding: []int32{1}}})
	if diff := cmp.Diff([]int32{4}, p.Suspect[1].Adding); diff != "" || len(p.Suspect[0].Adding) > 0 {
		t.Errorf("adding (-want +got):\n%s; %v", diff, p.Suspect[0].Adding)
	}
}

package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// Kafka is asked exactly for what is wanted.
func TestCollectReadsOnlyRequestedFacts(t *testing.T) {
	for name, tc := range map[string]struct {
		needs []transitions.Need
		want  []string
	}{
		"nothing":        {},
		"quorum":         {needs: []transitions.Need{roll.NeedQuorum}, want: []string{"quorum"}},
		"partitions":     {needs: []transitions.Need{roll.NeedPartitions}, want: []string{"partitions"}},
		"brokers":        {needs: []transitions.Need{roll.NeedBrokers}, want: []string{"brokers"}},
		"features":       {needs: []transitions.Need{kafkaversion.NeedFeatures}, want: []string{"features[]"}},
		"something else": {needs: []transitions.Need{"weather"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.registered()
			r.settle()
			r.kafka.asked, r.needs = nil, tc.needs
			v := r.snapshot(false)
			if diff := cmp.Diff(tc.want, r.kafka.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			asked := map[transitions.Need]bool{
				kafkaversion.NeedFeatures: v.Features.Asked(), roll.NeedQuorum: v.Quorum.Asked(), roll.NeedPartitions: v.Partitions.Asked(), roll.NeedBrokers: v.Brokers.Asked(),
			}
			for need, got := range asked {
				want := len(tc.needs) == 1 && tc.needs[0] == need
				if got != want {
					t.Errorf("fact %s asked: %v, want %v", need, got, want)
				}
			}
		})
	}
}

// A live look costs the API server a list of each kind: it takes those that decisions rest on.
func TestCollectLiveOmitsObjects(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	type counts struct{ Pools, PodSets, Pods, ConfigMaps, Claims, Budgets, Services, Accounts bool }
	request := func(live bool) counts {
		o := r.snapshot(live).Objects
		return counts{
			len(o.Pools) > 0, len(o.PodSets) > 0, len(o.Pods) > 0, len(o.ConfigMaps) > 0, len(o.Claims) > 0, len(o.Budgets) > 0, len(o.Services) > 0,
			len(o.Accounts) > 0,
		}
	}
	want := counts{true, true, true, true, true, true, true, true}
	if diff := cmp.Diff(want, request(false)); diff != "" {
		t.Errorf("a look at the cache (-want +got):\n%s", diff)
	}
	want.Services, want.Accounts = false, false
	if diff := cmp.Diff(want, request(true)); diff != "" {
		t.Errorf("a live look (-want +got):\n%s", diff)
	}
}

func TestCollectWithoutAnswers(t *testing.T) {
	r := separate(t)
	r.settle()
	r.needs = []transitions.Need{kafkaversion.NeedFeatures, roll.NeedQuorum, roll.NeedPartitions, roll.NeedBrokers}
	r.kafka.err = errors.New("no route to host")
	v := r.snapshot(true)
	for name, gap := range map[string]transitions.Verdict{
		"features": v.Features.Gap(), "quorum": v.Quorum.Gap(), "partitions": v.Partitions.Gap(), "brokers": v.Brokers.Gap(),
	} {
		if gap.Pending || !strings.Contains(gap.Observed, "no route to host") {
			t.Errorf("%s: %+v", name, gap)
		}
	}
}

// slowSide does not answer until its context ends, which it ends itself.
type slowSide struct {
	kafkaSide
	end context.CancelFunc
}

func (s *slowSide) Quorum(ctx context.Context) (kafkaclient.Quorum, error) {
	s.end()
	<-ctx.Done()
	return kafkaclient.Quorum{}, ctx.Err()
}

// Live questions end long before a lease must be renewed, however slow Kafka is.
func TestCollectLiveQuestionsEnd(t *testing.T) {
	r := separate(t)
	ctx, end := context.WithCancel(t.Context()) // in place of the deadline, which TestCollectLiveQuestionsHaveADeadline checks
	r.collector.System = directly(func() kafkaclient.Client { return &slowSide{end: end} })
	k := r.cluster()
	v, err := r.collector.Collect(ctx, k, lifecycle.ObserveRequest{Needs: []transitions.Need{roll.NeedQuorum}, Live: true, Now: noon, Read: r.client})
	if err != nil {
		t.Fatal(err)
	}
	if _, known := v.Quorum.Get(); known {
		t.Error("the quorum is known")
	}
}

// deadlineSide notes how long it was given.
type deadlineSide struct {
	kafkaSide
	given time.Duration
}

func (s *deadlineSide) Quorum(ctx context.Context) (kafkaclient.Quorum, error) {
	if deadline, ok := ctx.Deadline(); ok {
		s.given = time.Until(deadline)
	}
	return kafkaclient.Quorum{}, nil
}

func TestCollectLiveQuestionsHaveADeadline(t *testing.T) {
	r := separate(t)
	side := &deadlineSide{}
	r.collector.System = directly(func() kafkaclient.Client { return side })
	r.needs = []transitions.Need{roll.NeedQuorum}
	r.snapshot(true)
	if side.given <= 0 || side.given > 9*time.Second {
		t.Errorf("the deadline is %s away, want well below 10s", side.given)
	}
}

// behindReader is a cache that has not seen our own last write.
type behindReader struct{ client.Reader }

func (behindReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return lifecycle.ErrStale
}

func TestCollectFailsWithAStaleCache(t *testing.T) {
	r := separate(t)
	_, err := r.collector.Collect(t.Context(), r.cluster(), lifecycle.ObserveRequest{Read: behindReader{r.client}, Now: noon})
	if !errors.Is(err, lifecycle.ErrStale) {
		t.Errorf("error %v, want ErrStale", err)
	}
}

// Answers belong to the request ID they were given for.
func TestCollectAnswers(t *testing.T) {
	requestID := machines.RequestID{UID: "u", Lifecycle: "version", Attempt: "a", State: "SettingMetadata", Sequence: 1}
	refusal := &kafkaclient.Refused{Code: 95, Name: "INVALID_UPDATE_VERSION", Message: "Broker 3 only supports versions 7-25"}
	for name, tc := range map[string]struct {
		err  error
		want external.Answer
	}{
		"done":       {want: external.Answer{RequestID: requestID, State: external.Done}},
		"refused":    {err: refusal, want: external.Answer{RequestID: requestID, State: external.Refused, Code: 95, Name: refusal.Name, Text: refusal.Message}},
		"unknown":    {err: &kafkaclient.OutcomeUnknown{What: "updating", Err: errors.New("timed out")}, want: external.Answer{RequestID: requestID, State: external.Unknown, Text: "updating: outcome unknown: timed out"}},
		"never left": {err: &kafkaclient.Unreadable{What: "updating", Err: errors.New("no route")}, want: external.Answer{RequestID: requestID, State: external.Failed, Text: "updating: no route"}},
	} {
		t.Run(name, func(t *testing.T) {
			side := &writerSide{err: tc.err}
			direct := directly(func() kafkaclient.Client { return side })
			command := kafkaclient.Command{UpdateFeature: &kafkaclient.FeatureUpdate{Name: "metadata.version", Level: 27}}
			for range 2 {
				direct.Write(t.Context(), connection.Endpoint{}, requestID, command)
			}
			if side.writes != 1 {
				t.Errorf("%d writes under one request ID, want 1", side.writes)
			}
			if diff := cmp.Diff(tc.want, direct.Answer(connection.Endpoint{}, requestID)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			next := requestID
			next.Sequence++
			if got := direct.Answer(connection.Endpoint{}, next); got.State != external.None {
				t.Errorf("answer of another request ID: %+v", got)
			}
			direct.Write(t.Context(), connection.Endpoint{}, next, command)
			if side.writes != 2 || direct.Answer(connection.Endpoint{}, requestID).State != external.None {
				t.Errorf("%d writes; the old answer is still there", side.writes)
			}
			r := separate(t)
			r.collector.System = direct
			v, err := r.collector.Collect(t.Context(), r.cluster(), lifecycle.ObserveRequest{Read: r.client, Now: noon, RequestIDs: map[string]machines.RequestID{"version": next, "roll": {}}})
			r.must(err)
			if v.Answer("version").State != tc.want.State || v.Answer("roll").State != external.None {
				t.Errorf("answers of the snapshot: %+v", v.Answers)
			}
		})
	}
}

type writerSide struct {
	kafkaclient.Client
	err    error
	writes int
}

func (w *writerSide) UpdateFeature(context.Context, kafkaclient.FeatureUpdate) error {
	w.writes++
	return w.err
}

// Nothing that anybody changes in a clone is seen in the original.
func TestViewCloneSharesNothing(t *testing.T) {
	r := separate(t)
	r.kafka.features = kafkaclient.Features{Finalized: map[string]int16{"metadata.version": 27}}
	r.needs = []transitions.Need{kafkaversion.NeedFeatures, roll.NeedQuorum, roll.NeedPartitions, roll.NeedBrokers}
	r.settle()
	v := r.snapshot(false)
	c := v.Clone()
	c.Nodes[0].Record.Version = "x"
	c.Nodes[0].Record.Levels["metadata.version"] = c.Nodes[0].Record.Levels["other"]
	c.Objects.Pods[0].Labels["x"] = "y"
	c.Objects.Pools[0].Status.NodeIDs[0] = 99
	f, _ := c.Features.Get()
	f.Finalized["metadata.version"] = 1
	again := r.snapshot(false)
	if diff := cmp.Diff(again.Nodes, v.Nodes, cmp.AllowUnexported(observation.Node{}, observation.Entry{})); diff != "" {
		t.Errorf("nodes have changed (-want +got):\n%s", diff)
	}
	if v.Objects.Pods[0].Labels["x"] != "" || v.Objects.Pools[0].Status.NodeIDs[0] == 99 {
		t.Error("objects have changed")
	}
	if f, _ := v.Features.Get(); f.Finalized["metadata.version"] != 27 {
		t.Error("features have changed")
	}
}

// Two snapshots of the same world are the same.
func TestCollectIsDeterministic(t *testing.T) {
	r := separate(t)
	r.settle()
	a, b := r.snapshot(false), r.snapshot(false)
	if diff := cmp.Diff(a.Nodes, b.Nodes, cmp.AllowUnexported(observation.Node{}, observation.Entry{})); diff != "" {
		t.Errorf("nodes differ:\n%s", diff)
	}
	fresh := &observation.Collector{Table: r.collector.Table, System: r.collector.System}
	c, err := fresh.Collect(t.Context(), r.cluster(), lifecycle.ObserveRequest{Read: r.client, Now: r.clock.Now()})
	r.must(err)
	if diff := cmp.Diff(a.Nodes, c.Nodes, cmp.AllowUnexported(observation.Node{}, observation.Entry{})); diff != "" {
		t.Errorf("what was kept differs from what is new:\n%s", diff)
	}
	for i := range a.Nodes {
		x, errX := a.Desired(&a.Nodes[i], "4.1.1")
		y, errY := c.Desired(&c.Nodes[i], "4.1.1")
		if x != y || errX != nil || errY != nil {
			t.Errorf("desired revision of node %d: %s (%v) and %s (%v)", a.Nodes[i].ID, x, errX, y, errY)
		}
	}
}

package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// soon is the timeout for a change to become visible: brokers answer from the metadata that they have replayed, which may be
// older than the answer to the change.
const soon = 15 * time.Second

// eventually returns a step that repeats the check until it passes, or until the timeout soon.
func eventually(check func(ctx context.Context, w World) error, name string, args ...any) Step {
	return step(func(ctx context.Context, w World) error {
		ctx, cancel := context.WithTimeout(ctx, soon)
		defer cancel()
		var last error
		err := w.Pass(ctx, "it shows", func(ctx context.Context) (bool, error) {
			err := check(ctx, w)
			if err == nil || ctx.Err() == nil {
				last = err // the error of a check that was cut short means nothing
			}
			return err == nil, nil
		})
		if err != nil {
			return errors.Join(err, last)
		}
		return nil
	}, name, args...)
}

// Level requires metadata.version to be finalized at the level.
func Level(want int16) Step {
	return eventually(func(ctx context.Context, w World) error {
		f, err := w.Client().Features(ctx)
		if err == nil && f.Level(kafka.MetadataVersion) != want {
			err = fmt.Errorf("metadata.version is %d, want %d", f.Level(kafka.MetadataVersion), want)
		}
		return err
	}, "metadata.version is %d", want)
}

// Finalized requires exactly the levels that the release formats. If metadata is not 0, it replaces the level of
// metadata.version.
func Finalized(release string, metadata int16) Step {
	return eventually(func(ctx context.Context, w World) error {
		r, err := ReleaseOf(release)
		if err != nil {
			return err
		}
		if metadata != 0 {
			r.Formatted[kafka.MetadataVersion] = metadata
		}
		f, err := w.Client().Features(ctx)
		if err != nil {
			return err
		}
		return differs(r.Formatted, f.Finalized)
	}, "finalized as %s formats", release)
}

// Reports requires a node to report these of its roles, with any reasons.
func Reports(node int32, broker, controller kafka.RoleReport) Step {
	return eventually(func(ctx context.Context, w World) error {
		got, err := w.Client().Member(ctx, node)
		if err != nil {
			return err
		}
		got.Broker.Reason, got.Controller.Reason = "", ""
		return differs(kafka.Member{ID: node, Broker: broker, Controller: controller}, got)
	}, "node %d reports broker %+v, controller %+v", node, broker, controller)
}

// The possible reports of a role.
var (
	serving = kafka.RoleReport{Asked: true, Answered: true, Serving: true}
	idle    = kafka.RoleReport{Asked: true, Answered: true}
	silent  = kafka.RoleReport{Asked: true}
	noRole  = kafka.RoleReport{}
)

// Supports requires broker 1 to report the ranges of the release.
func Supports(release string) Step {
	return eventually(func(ctx context.Context, w World) error {
		r, err := ReleaseOf(release)
		if err != nil {
			return err
		}
		f, err := w.Client().Features(ctx, 1)
		if err != nil {
			return err
		}
		return differs(r.Supported, f.Supported[1])
	}, "supports what %s does", release)
}

// Listed requires exactly these brokers to be listed, with this fencing.
func Listed(want map[int32]kafka.Fencing) Step {
	return eventually(func(ctx context.Context, w World) error {
		brokers, err := w.Client().Brokers(ctx)
		if err != nil {
			return err
		}
		got := map[int32]kafka.Fencing{}
		for _, b := range brokers.Brokers {
			got[b.ID] = b.Fencing
		}
		return differs(want, got)
	}, "listed are %v", want)
}

// InSync requires the topic's partition to reach exactly this ISR.
func InSync(topic string, want ...int32) Step {
	return eventually(func(ctx context.Context, w World) error {
		p, err := partition(ctx, w, 1, topic)
		if err != nil {
			return err
		}
		return differs(want, slices.Sorted(slices.Values(p.ISR)))
	}, "ISR of %s is %v", topic, want)
}

// Answers requires one broker to answer with this ISR, even if its metadata is stale.
func Answers(via int32, topic string, want ...int32) Step {
	return step(func(ctx context.Context, w World) error {
		p, err := partition(ctx, w, via, topic)
		if err != nil {
			return err
		}
		return differs(want, slices.Sorted(slices.Values(p.ISR)))
	}, "broker %d answers that the ISR of %s is %v", via, topic, want)
}

// ReadThrough requires a client that asks one broker first to read this ISR, of a topic that is not healthy, and this broker
// as fenced or not listed, in at most two attempts.
func ReadThrough(first int32, topic string, want ...int32) Step {
	return step(func(ctx context.Context, w World) error {
		client, err := w.ClientThrough(first)
		if err != nil {
			return err
		}
		partitions, err := client.Partitions(ctx)
		if err != nil {
			partitions, err = client.Partitions(ctx)
		}
		if err != nil {
			return err
		}
		var got []int32
		for _, p := range partitions.Suspect {
			if p.Topic == topic {
				got = slices.Sorted(slices.Values(p.ISR))
			}
		}
		if err := differs(want, got); err != nil {
			return err
		}
		brokers, err := client.Brokers(ctx)
		if err != nil {
			return err
		}
		if b, listed := brokers.Find(first); listed && b.Fencing != kafka.Fenced {
			return fmt.Errorf("broker %d is listed as %q", first, b.Fencing)
		}
		return nil
	}, "a client that turns to broker %d first reads that the ISR of %s is %v", first, topic, want)
}

// partition reads the only partition of a topic. It asks the broker directly because the client does not list healthy
// partitions.
func partition(ctx context.Context, w World, via int32, topic string) (kafka.Partition, error) {
	name := kmsg.NewMetadataRequestTopic()
	name.Topic = new(topic)
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(9)
	req.Topics = append(req.Topics, name)
	resp, err := sendTo[*kmsg.MetadataResponse](ctx, w, via, req)
	if err != nil {
		return kafka.Partition{}, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			return kafka.Partition{Topic: topic, Leader: p.Leader, Replicas: p.Replicas, ISR: p.ISR}, nil
		}
	}
	return kafka.Partition{}, fmt.Errorf("topic %s has no partition", topic)
}

// Lives requires the node to have a running process.
func Lives(node int32) Step {
	return step(func(_ context.Context, w World) error {
		if !w.Alive(node) {
			return fmt.Errorf("node %d has no process", node)
		}
		return nil
	}, "node %d lives", node)
}

// QuorumOf requires these voters, with a leader among them and log ends above 0, and these observers.
func QuorumOf(voters, observers []int32) Step {
	return step(func(ctx context.Context, w World) error {
		q, err := w.Client().Quorum(ctx)
		if err != nil {
			return err
		}
		ids := func(replicas []kafka.QuorumReplica) (ids []int32) {
			for _, r := range replicas {
				ids = append(ids, r.ID)
				if r.LogEndOffset <= 0 || r.LastCaughtUpMillis <= 0 || r.LastFetchMillis <= 0 {
					err = fmt.Errorf("replica %+v has no offset or time", r)
				}
			}
			return ids
		}
		diff := differs([2][]int32{voters, observers}, [2][]int32{ids(q.Voters), ids(q.Observers)})
		switch {
		case err != nil:
			return err
		case diff != nil:
			return diff
		case !slices.Contains(voters, q.Leader) || q.HighWatermark <= 0:
			return fmt.Errorf("leader %d, high watermark %d", q.Leader, q.HighWatermark)
		}
		return nil
	}, "the quorum is %v, watched by %v", voters, observers)
}

// Behind requires exactly these voters to lag behind the leader: they were not level with it within the fetch timeout, and their logs
// end before the leader's.
func Behind(want ...int32) Step {
	return eventually(func(ctx context.Context, w World) error {
		q, err := w.Client().Quorum(ctx)
		if err != nil {
			return err
		}
		leader, _ := q.Voter(q.Leader)
		got := kafka.QuorumSafeWithout(q, kafka.NoLeader, leader.LastFetchMillis, kafka.DefaultQuorumFetchTimeout).Behind
		for _, id := range got {
			if v, _ := q.Voter(id); v.LogEndOffset >= leader.LogEndOffset {
				return fmt.Errorf("the log of voter %d ends at %d, that of the leader at %d", id, v.LogEndOffset, leader.LogEndOffset)
			}
		}
		return differs(want, got)
	}, "voters %v lag", want)
}

// Holds requires the broker's log directories to hold that many replicas.
func Holds(broker int32, want int) Step {
	return eventually(func(ctx context.Context, w World) error {
		dirs, err := w.Client().LogDirs(ctx, broker)
		if err != nil {
			return err
		}
		got := 0
		for _, d := range dirs.Dirs {
			got += d.Replicas
		}
		if got != want || dirs.Empty() != (want == 0) {
			return fmt.Errorf("broker %d holds %d replicas, want %d", broker, got, want)
		}
		return nil
	}, "broker %d holds %d replicas", broker, want)
}

func differs(want, got any) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("(-want +got):\n%s", diff)
	}
	return nil
}

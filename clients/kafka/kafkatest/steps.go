package kafkatest

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// Step is an action on a world, or a check of it.
type Step struct {
	Name string
	Do   func(ctx context.Context, w World) error
}

func step(do func(ctx context.Context, w World) error, name string, args ...any) Step {
	return Step{Name: fmt.Sprintf(name, args...), Do: do}
}

// Roll restarts the nodes on the release one by one, and waits for each to be in sync before
// the next.
func Roll(release string, nodes ...int32) Step {
	return step(func(ctx context.Context, w World) error {
		for _, id := range nodes {
			if err := w.Stop(ctx, id); err != nil {
				return err
			}
			if err := w.Start(ctx, id, release); err != nil {
				return err
			}
		}
		return nil
	}, "roll %v to %s", nodes, release)
}

// Start starts a node on the release.
func Start(release string, node int32) Step {
	return step(func(ctx context.Context, w World) error { return w.Start(ctx, node, release) }, "start %d on %s", node, release)
}

// Stop shuts a node's process down with SIGTERM.
func Stop(node int32) Step {
	return step(func(ctx context.Context, w World) error { return w.Stop(ctx, node) }, "stop %d", node)
}

// Kill kills a node's process with SIGKILL and waits until its broker is fenced or, where
// the cluster does not report fencing, not listed.
func Kill(node int32) Step {
	return step(func(ctx context.Context, w World) error {
		if err := w.Kill(ctx, node); err != nil {
			return err
		}
		return awaitFenced(ctx, w, node)
	}, "kill %d until it is fenced", node)
}

// CutOff cuts a broker off from the controllers and waits until it is fenced or not listed.
func CutOff(node int32) Step {
	return step(func(ctx context.Context, w World) error {
		if err := w.CutOff(ctx, node); err != nil {
			return err
		}
		return awaitFenced(ctx, w, node)
	}, "cut %d off until it is fenced", node)
}

// Reconnect ends the effect of CutOff.
func Reconnect(node int32) Step {
	return step(func(ctx context.Context, w World) error { return w.Reconnect(ctx, node) }, "reconnect %d", node)
}

func awaitFenced(ctx context.Context, w World, node int32) error {
	return w.Pass(ctx, "the broker is fenced", func(ctx context.Context) (bool, error) {
		brokers, err := w.Client().Brokers(ctx)
		if err != nil {
			return false, ctx.Err()
		}
		b, listed := brokers.Find(node)
		return !listed || b.Fencing == kafka.Fenced, nil
	})
}

// KillAtOnce kills the nodes' processes with SIGKILL and does not wait for an effect.
func KillAtOnce(nodes ...int32) Step {
	return step(func(ctx context.Context, w World) error {
		for _, id := range nodes {
			if err := w.Kill(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}, "kill %v", nodes)
}

// FollowerAt restarts the node on the release until another node leads the quorum.
func FollowerAt(release string, node int32) Step {
	return step(func(ctx context.Context, w World) error {
		for {
			q, err := w.Client().Quorum(ctx)
			if err != nil || q.Leader != node {
				return err
			}
			if err := Roll(release, node).Do(ctx, w); err != nil {
				return err
			}
		}
	}, "%d does not lead the quorum", node)
}

// Topic creates a topic with one partition.
func Topic(name string, minISR int32, replicas ...int32) Step {
	return step(func(ctx context.Context, w World) error { return w.CreateTopic(ctx, name, minISR, replicas...) }, "make topic %s on %v", name, replicas)
}

// SnapshotInterval lets one snapshot interval pass, so that every running process takes a snapshot.
func SnapshotInterval() Step {
	return step(func(ctx context.Context, w World) error { return w.PassSnapshotInterval(ctx) }, "pass a snapshot interval")
}

// Raise raises metadata.version.
func Raise(level int16) Step {
	return update(kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: level, Kind: kafka.Upgrade})
}

// Lower lowers metadata.version by a safe downgrade.
func Lower(level int16) Step {
	return update(kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: level, Kind: kafka.SafeDowngrade})
}

// Validate checks whether metadata.version can be lowered by a safe downgrade, without
// changing it.
func Validate(level int16) Step {
	return update(kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: level, Kind: kafka.SafeDowngrade, ValidateOnly: true})
}

func update(u kafka.FeatureUpdate) Step {
	return step(func(ctx context.Context, w World) error { return w.Client().UpdateFeature(ctx, u) },
		"%s %s to %d, validate only %v", u.Kind, u.Name, u.Level, u.ValidateOnly)
}

// Unregister unregisters a broker.
func Unregister(id int32) Step {
	return step(func(ctx context.Context, w World) error { return w.Client().UnregisterBroker(ctx, id) }, "unregister %d", id)
}

// Read executes a question, which must succeed.
func Read(q kafka.Question) Step {
	return step(func(ctx context.Context, w World) error {
		_, err := kafka.Ask(ctx, w.Client(), q)
		return err
	}, "read %s of %d", q.About, q.Broker)
}

// Request sends a request to broker 1 at a version that the client would not use. verdict
// converts the response into the outcome.
func Request[R kmsg.Response](name string, build func() kmsg.Request, verdict func(R) error) Step {
	return step(func(ctx context.Context, w World) error {
		resp, err := send[R](ctx, w, build())
		if err != nil {
			return err
		}
		return verdict(resp)
	}, "%s", name)
}

// send sends a request to broker 1 and returns the response as type R.
func send[R kmsg.Response](ctx context.Context, w World, request kmsg.Request) (R, error) {
	return sendTo[R](ctx, w, 1, request)
}

// sendTo sends a request to the broker and returns the response as type R.
func sendTo[R kmsg.Response](ctx context.Context, w World, via int32, request kmsg.Request) (R, error) {
	var none R
	resp, err := w.Send(ctx, via, request)
	if err != nil {
		return none, err
	}
	answer, ok := resp.(R)
	if !ok {
		return none, fmt.Errorf("the answer is a %T", resp)
	}
	return answer, nil
}

// UpdateFeatures builds an UpdateFeatures request of the version. allow is the
// AllowDowngrade flag of version 0, upgradeType the upgrade type of later versions.
func UpdateFeatures(version int16, level int16, allow bool, upgradeType int8) func() kmsg.Request {
	return func() kmsg.Request {
		u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
		u.Feature, u.MaxVersionLevel, u.AllowDowngrade, u.UpgradeType = kafka.MetadataVersion, level, allow, upgradeType
		req := kmsg.NewPtrUpdateFeaturesRequest()
		req.SetVersion(version)
		req.TimeoutMillis = 5_000
		req.FeatureUpdates = append(req.FeatureUpdates, u)
		return req
	}
}

func refusal(code int16, text *string) error {
	if code == 0 {
		return nil
	}
	r := &kafka.Refused{Code: code, Name: kafka.CodeName(code)}
	if text != nil {
		r.Message = *text
	}
	return r
}

var errElsewhere = errors.New("the error is not in the expected part of the response")

// wholeRequest requires an UpdateFeatures response to report an error for the whole request,
// not per feature.
func wholeRequest(r *kmsg.UpdateFeaturesResponse) error {
	for _, result := range r.Results {
		if result.ErrorCode != 0 {
			return errElsewhere
		}
	}
	return refusal(r.ErrorCode, r.ErrorMessage)
}

// perFeature requires an UpdateFeatures response to report an error in the result of the
// feature.
func perFeature(r *kmsg.UpdateFeaturesResponse) error {
	if r.ErrorCode != 0 || len(r.Results) != 1 {
		return errElsewhere
	}
	return refusal(r.Results[0].ErrorCode, r.Results[0].ErrorMessage)
}

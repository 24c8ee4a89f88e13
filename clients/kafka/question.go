package kafka

import (
	"context"
	"fmt"
)

// Subject is the subject of a Question.
type Subject string

// The subjects of a Question. Each maps to one method of Reader.
const (
	AboutFeatures   Subject = "features"
	AboutSupport    Subject = "supported-features" // of one broker
	AboutBrokers    Subject = "brokers"
	AboutQuorum     Subject = "quorum"
	AboutPartitions Subject = "partitions"
	AboutLogDirs    Subject = "log-dirs" // of one broker
	AboutReplicas   Subject = "replicas" // of one broker
	AboutMoves      Subject = "reassignments"
	AboutConfigs    Subject = "configs"  // of one broker
	AboutSettings   Subject = "settings" // of one broker
	AboutMember     Subject = "member"   // of one node, from the node itself
)

// Question is one read as a value, which can be compared, queued and executed later.
type Question struct {
	About Subject `json:"about"`
	// Broker is the id of the broker or node to ask, for subjects of one broker or node;
	// otherwise 0.
	Broker int32 `json:"broker,omitempty"`
}

// Answer holds the observation that a Question requested. The other fields are nil.
type Answer struct {
	Features   *Features      `json:"features,omitempty"`
	Brokers    *Brokers       `json:"brokers,omitempty"`
	Quorum     *Quorum        `json:"quorum,omitempty"`
	Partitions *Partitions    `json:"partitions,omitempty"`
	LogDirs    *LogDirs       `json:"logDirs,omitempty"`
	Replicas   *Replicas      `json:"replicas,omitempty"`
	Moves      *Reassignments `json:"reassignments,omitempty"`
	Configs    Configs        `json:"configs,omitempty"`
	Settings   Settings       `json:"settings,omitempty"`
	Member     *Member        `json:"member,omitempty"`
}

// Ask executes one read. It fails with the error of the Reader, or if the subject is
// unknown.
func Ask(ctx context.Context, r Reader, q Question) (Answer, error) {
	switch q.About {
	case AboutFeatures:
		v, err := r.Features(ctx)
		return Answer{Features: &v}, err
	case AboutSupport:
		v, err := r.Features(ctx, q.Broker)
		return Answer{Features: &v}, err
	case AboutBrokers:
		v, err := r.Brokers(ctx)
		return Answer{Brokers: &v}, err
	case AboutQuorum:
		v, err := r.Quorum(ctx)
		return Answer{Quorum: &v}, err
	case AboutPartitions:
		v, err := r.Partitions(ctx)
		return Answer{Partitions: &v}, err
	case AboutLogDirs:
		v, err := r.LogDirs(ctx, q.Broker)
		return Answer{LogDirs: &v}, err
	case AboutReplicas:
		v, err := r.Replicas(ctx, q.Broker)
		return Answer{Replicas: &v}, err
	case AboutMoves:
		v, err := r.Reassignments(ctx)
		return Answer{Moves: &v}, err
	case AboutConfigs:
		v, err := r.BrokerConfigs(ctx, q.Broker)
		return Answer{Configs: v}, err
	case AboutSettings:
		v, err := r.Settings(ctx, q.Broker)
		return Answer{Settings: v}, err
	case AboutMember:
		v, err := r.Member(ctx, q.Broker)
		return Answer{Member: &v}, err
	default:
		return Answer{}, fmt.Errorf("asking kafka about %q: unknown subject", q.About)
	}
}

// Command is one write as a value, which can be queued and executed later. Exactly one
// field must be set.
type Command struct {
	UpdateFeature *FeatureUpdate `json:"updateFeature,omitempty"`
	Unregister    *int32         `json:"unregister,omitempty"`
	Reassign      []Move         `json:"reassign,omitempty"`
	Cordon        *Cordon        `json:"cordon,omitempty"`
	Alter         []Alteration   `json:"alter,omitempty"`
}

// Execute executes one command. It fails with the error of the Writer, or if not exactly
// one field is set.
func Execute(ctx context.Context, w Writer, c Command) error {
	set := 0
	for _, is := range []bool{c.UpdateFeature != nil, c.Unregister != nil, len(c.Reassign) > 0, c.Cordon != nil, len(c.Alter) > 0} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("executing a kafka command: exactly one field must be set, not %+v", c)
	case c.UpdateFeature != nil:
		return w.UpdateFeature(ctx, *c.UpdateFeature)
	case c.Unregister != nil:
		return w.UnregisterBroker(ctx, *c.Unregister)
	case c.Cordon != nil:
		return w.Cordon(ctx, *c.Cordon)
	case len(c.Alter) > 0:
		return w.Alter(ctx, c.Alter)
	default:
		return w.Reassign(ctx, c.Reassign)
	}
}

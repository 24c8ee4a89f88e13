package kafka

import "context"

// Reader observes a cluster. Every method sends a request when it is called; nothing is
// cached. It returns within the deadline of the context and the implementation's own
// timeout. It fails with *Refused (Kafka refused the request) or *Unreadable. The caller
// owns the result.
type Reader interface {
	// Features reads the finalized levels and the supported ranges of the named brokers.
	Features(ctx context.Context, supportedBy ...int32) (Features, error)
	// Brokers reads the registrations, including fenced ones where the cluster reports
	// them.
	Brokers(ctx context.Context) (Brokers, error)
	// Quorum reads the state of the metadata log from its leader.
	Quorum(ctx context.Context) (Quorum, error)
	// Partitions reads all partitions and their minimum ISR. Topics that the client's
	// principal may not describe are missing from Kafka's answer.
	Partitions(ctx context.Context) (Partitions, error)
	// LogDirs reads the log directories of one broker from that broker.
	LogDirs(ctx context.Context, broker int32) (LogDirs, error)
	// Replicas reads the partitions that have a replica on the broker, which need not be alive.
	// As for Partitions, topics that the client's principal may not describe are missing.
	Replicas(ctx context.Context, broker int32) (Replicas, error)
	// Reassignments reads the partitions whose replicas are being moved.
	Reassignments(ctx context.Context) (Reassignments, error)
	// BrokerConfigs reads the effective values of ConfigNames from that broker.
	BrokerConfigs(ctx context.Context, broker int32) (Configs, error)
	// Settings reads the dynamic configurations of the broker by source, from that broker. A
	// broker that lags behind the metadata log reports old dynamic values.
	Settings(ctx context.Context, broker int32) (Settings, error)
	// Member reads what the node reports about itself, from that node. A node that does not
	// answer is a report, not an error; an error means that the node was not asked.
	Member(ctx context.Context, node int32) (Member, error)
}

// UpdateKind is the direction in which a feature level may move.
type UpdateKind string

const (
	// Upgrade raises a level. Kafka refuses a lower level.
	Upgrade UpdateKind = "upgrade"
	// SafeDowngrade lowers a level if no metadata is lost. Kafka refuses a higher level.
	// There is no unsafe kind because no release of Kafka implements it.
	SafeDowngrade UpdateKind = "safe-downgrade"
)

// FeatureUpdate requests another finalized level for one feature.
type FeatureUpdate struct {
	Name  string     `json:"name"`
	Level int16      `json:"level"`
	Kind  UpdateKind `json:"kind"`
	// ValidateOnly checks whether Kafka would accept the update, without changing anything.
	ValidateOnly bool `json:"validateOnly,omitempty"`
}

// Writer changes a cluster. Every method sends its request at most once. It fails with
// *Refused (not executed), *Unreadable (not sent, so not executed) or *OutcomeUnknown.
type Writer interface {
	// UpdateFeature changes the level of one feature. It is idempotent: Kafka accepts the
	// level that is already finalized.
	UpdateFeature(ctx context.Context, update FeatureUpdate) error
	// UnregisterBroker removes a registration. Kafka does not check whether the broker is
	// alive or holds replicas: a live broker leaves every ISR and does not return until it
	// is restarted. The caller must prove that the broker is gone. An id without a
	// registration is refused with CodeBrokerIDNotRegistered.
	UnregisterBroker(ctx context.Context, id int32) error
	// Reassign starts or cancels moves of replicas, for each partition on its own: a refusal
	// names the first partition that was refused, and the others are executed. It is
	// idempotent. It returns before a replica is copied.
	Reassign(ctx context.Context, moves []Move) error
	// Cordon changes whether the broker gets new replicas. It is sent to the broker itself,
	// which must be alive. It is idempotent. Brokers below MetadataCordons accept the setting
	// without an effect.
	Cordon(ctx context.Context, c Cordon) error
	// Alter changes dynamic configurations, one alteration after the other up to the first
	// that fails: an error may leave earlier ones executed. It is idempotent. Brokers apply
	// the values a moment later. Kafka refuses an alteration with an invalid value as a whole.
	Alter(ctx context.Context, alterations []Alteration) error
}

// Client reads and changes a cluster.
type Client interface {
	Reader
	Writer
}

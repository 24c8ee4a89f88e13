package kafka

import "context"

// Reader observes a cluster. Every method asks Kafka when it is called, answers within
// the context's deadline and the implementation's own, whichever is first, and fails
// with *Refused (Kafka's own answer) or *Unreadable. What it returns belongs to the
// caller.
type Reader interface {
	// Features reads the finalized levels and, of the brokers named, the supported ranges.
	Features(ctx context.Context, supportedBy ...int32) (Features, error)
	// Brokers reads the registrations, fenced ones included where the cluster can tell.
	Brokers(ctx context.Context) (Brokers, error)
	// Quorum reads the state of the metadata log from its leader.
	Quorum(ctx context.Context) (Quorum, error)
	// Partitions reads all partitions and the minimum ISR of those that need it. Topics
	// that the asking principal may not describe are not in Kafka's answer.
	Partitions(ctx context.Context) (Partitions, error)
	// LogDirs reads the directories of one broker from that broker.
	LogDirs(ctx context.Context, broker int32) (LogDirs, error)
	// BrokerConfigs reads the effective values of ConfigNames from that broker.
	BrokerConfigs(ctx context.Context, broker int32) (Configs, error)
	// Member reads what the node reports of itself, from that node. A node that does not
	// answer is a report and no error; an error says that the node was not asked.
	Member(ctx context.Context, node int32) (Member, error)
}

// UpdateKind says which way a feature level may move.
type UpdateKind string

const (
	// Upgrade raises a level. A lower one is refused.
	Upgrade UpdateKind = "upgrade"
	// SafeDowngrade lowers a level if no metadata is lost by it. A higher one is refused.
	// There is no unsafe kind: no release of Kafka performs it.
	SafeDowngrade UpdateKind = "safe-downgrade"
)

// FeatureUpdate asks for one feature to be finalized at another level.
type FeatureUpdate struct {
	Name  string     `json:"name"`
	Level int16      `json:"level"`
	Kind  UpdateKind `json:"kind"`
	// ValidateOnly asks whether it would be accepted and changes nothing.
	ValidateOnly bool `json:"validateOnly,omitempty"`
}

// Writer changes a cluster. Every method sends its request at most once and fails with
// *Refused (not done), *Unreadable (never left, not done) or *OutcomeUnknown.
type Writer interface {
	// UpdateFeature moves one feature. The level that is already finalized is accepted.
	UpdateFeature(ctx context.Context, update FeatureUpdate) error
	// UnregisterBroker removes a registration. Kafka does not ask whether the broker is
	// alive or holds replicas: a live one becomes a process that is in no ISR and never
	// returns by itself. Proof that it is gone is the caller's. An id without a
	// registration is refused with CodeBrokerIDNotRegistered.
	UnregisterBroker(ctx context.Context, id int32) error
}

// Client is a cluster to observe and to change.
type Client interface {
	Reader
	Writer
}

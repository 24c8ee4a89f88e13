package kafka

import "slices"

// Risk is the effect on a partition of stopping one broker that holds a replica of it.
type Risk string

const (
	// RiskNone: enough replicas stay in sync, or the broker is out of sync already.
	RiskNone Risk = ""
	// RiskUnderMin: fewer replicas are in sync than min.insync.replicas. Any replica may be
	// needed to recover, so none may be stopped.
	RiskUnderMin Risk = "under-min-isr"
	// RiskAtMin: exactly min.insync.replicas replicas are in sync, and the broker's is one
	// of them.
	RiskAtMin Risk = "at-min-isr"
	// RiskUnprotected: the partition has no more replicas than min.insync.replicas. Every
	// restart makes it unavailable and waiting does not help, so it does not block; it
	// warrants a warning.
	RiskUnprotected Risk = "unprotected"
	// RiskUnknown: min.insync.replicas could not be read.
	RiskUnknown Risk = "unknown"
)

// Risks are the partitions that stopping a broker would affect, in the order given.
type Risks struct {
	// Blocking are the partitions that forbid it.
	Blocking []Partition `json:"blocking,omitempty"`
	// Unknown are the partitions that cannot be judged. Availability must be proven, so
	// they forbid it as well.
	Unknown []Partition `json:"unknown,omitempty"`
	// Unprotected are the partitions that become unavailable with any restart.
	Unprotected []Partition `json:"unprotected,omitempty"`
}

// Clear reports whether no partition forbids stopping the broker.
func (r Risks) Clear() bool { return len(r.Blocking) == 0 && len(r.Unknown) == 0 }

// PartitionsAtRisk sorts the partitions by the effect of stopping the broker. It ignores
// partitions of which the broker holds no replica.
//
// The rule is the one by which Strimzi rolls brokers. Strimzi also permits a restart when a
// partition has no more replicas than min.insync.replicas; here such a partition is
// reported as Unprotected.
func PartitionsAtRisk(partitions []Partition, broker int32) Risks {
	var risks Risks
	for _, p := range partitions {
		switch RiskOf(p, broker) {
		case RiskUnderMin, RiskAtMin:
			risks.Blocking = append(risks.Blocking, p)
		case RiskUnknown:
			risks.Unknown = append(risks.Unknown, p)
		case RiskUnprotected:
			risks.Unprotected = append(risks.Unprotected, p)
		case RiskNone:
		}
	}
	return risks
}

// RiskOf is the effect of stopping the broker on the partition. Replicas that a reassignment adds and that have not caught up do not
// count: the partition has as many replicas as before the reassignment, and stopping a broker with such a replica only delays it.
func RiskOf(p Partition, broker int32) Risk {
	inSync, replicas := int32(len(p.ISR)), int32(len(p.Replicas))
	for _, id := range p.Replicas {
		if p.copying(id) {
			replicas--
		}
	}
	switch {
	case !slices.Contains(p.Replicas, broker), p.MinISR == MinISRUnset:
		return RiskNone
	case p.MinISR == MinISRUnreadable:
		return RiskUnknown
	case replicas <= p.MinISR:
		return RiskUnprotected
	case p.copying(broker):
		return RiskNone
	case inSync < p.MinISR:
		return RiskUnderMin
	case inSync == p.MinISR && slices.Contains(p.ISR, broker):
		return RiskAtMin
	default:
		return RiskNone
	}
}

// OutOfSync lists the partitions of which the broker holds a replica that is not in the
// ISR, in the order given. A replica that a reassignment adds is none until it has caught up.
func OutOfSync(partitions []Partition, broker int32) []Partition {
	var out []Partition
	for _, p := range partitions {
		if slices.Contains(p.Replicas, broker) && !slices.Contains(p.ISR, broker) && !p.copying(broker) {
			out = append(out, p)
		}
	}
	return out
}

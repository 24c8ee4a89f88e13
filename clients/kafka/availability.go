package kafka

import "slices"

// Risk is what taking one broker away would do to a partition that it holds.
type Risk string

const (
	// RiskNone: enough replicas stay in sync, or the broker is out of sync anyway.
	RiskNone Risk = ""
	// RiskUnderMin: fewer replicas are in sync than demanded; any replica may be the
	// one that mends it.
	RiskUnderMin Risk = "under-min-isr"
	// RiskAtMin: exactly as many are in sync as demanded, and the broker is one of them.
	RiskAtMin Risk = "at-min-isr"
	// RiskUnprotected: the partition has no more replicas than are demanded in sync, so
	// no restart can keep it available and waiting would not help. It does not block; it
	// is worth a warning.
	RiskUnprotected Risk = "unprotected"
	// RiskUnknown: the demanded number could not be read.
	RiskUnknown Risk = "unknown"
)

// Risks are the partitions that taking a broker away would hurt, in the order given.
type Risks struct {
	// Blocking are the partitions that forbid it.
	Blocking []Partition `json:"blocking,omitempty"`
	// Unknown are the partitions that cannot be judged. Positive evidence is wanted, so
	// they forbid it too, as long as they are unknown.
	Unknown []Partition `json:"unknown,omitempty"`
	// Unprotected are the partitions that would become unavailable whatever is done.
	Unprotected []Partition `json:"unprotected,omitempty"`
}

// Clear says that nothing forbids taking the broker away.
func (r Risks) Clear() bool { return len(r.Blocking) == 0 && len(r.Unknown) == 0 }

// PartitionsAtRisk sorts the partitions by what taking the broker away would do to
// them. Partitions that the broker does not hold are no concern of it.
//
// The rule is the one Strimzi rolls brokers by; partitions with no more replicas than
// the demanded minimum are let through there as well, and reported here.
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

// RiskOf is what taking the broker away would do to the partition.
func RiskOf(p Partition, broker int32) Risk {
	inSync := int32(len(p.ISR))
	switch {
	case !slices.Contains(p.Replicas, broker), p.MinISR == MinISRUnset:
		return RiskNone
	case p.MinISR == MinISRUnreadable:
		return RiskUnknown
	case int32(len(p.Replicas)) <= p.MinISR:
		return RiskUnprotected
	case inSync < p.MinISR:
		return RiskUnderMin
	case inSync == p.MinISR && slices.Contains(p.ISR, broker):
		return RiskAtMin
	default:
		return RiskNone
	}
}

// OutOfSync lists the partitions that the broker holds a replica of without being in
// their ISR, in the order given.
func OutOfSync(partitions []Partition, broker int32) []Partition {
	var out []Partition
	for _, p := range partitions {
		if slices.Contains(p.Replicas, broker) && !slices.Contains(p.ISR, broker) {
			out = append(out, p)
		}
	}
	return out
}

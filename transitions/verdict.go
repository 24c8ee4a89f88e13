// Package transitions defines what a transition between two states depends on: facts that may be unknown, guards that answer
// yes, no or unknown, and combinators that keep names and reasons.
package transitions

// Answer of a guard. The zero value is Unknown, so that a guard that sets no answer never permits a transition.
type Answer uint8

const (
	// Unknown means that a fact that the guard depends on is not known.
	Unknown Answer = iota
	// No means that the guard's condition does not hold.
	No
	// Yes means that the guard's condition holds.
	Yes
)

func (a Answer) String() string {
	switch a {
	case Yes:
		return "yes"
	case No:
		return "no"
	default:
		return "unknown"
	}
}

// Not returns the three-valued negation.
func (a Answer) Not() Answer {
	switch a {
	case Yes:
		return No
	case No:
		return Yes
	default:
		return Unknown
	}
}

// Verdict is a guard's answer with the texts that status shows.
type Verdict struct {
	Answer Answer
	// Expected is the expectation. Optional; default: the guard's own Expected.
	Expected string
	// Observed is what was observed. Lists are sorted and no number in it changes with time, so that an unchanged verdict causes no
	// status write.
	Observed string
	// Reason is the code of the problem because of which the guard does not say yes. Optional. The status shows a new reason at once, and
	// a changed text only at intervals.
	Reason Reason
	// Pending marks an Unknown that waits for the first answer to a request. It is not shown in status.
	Pending bool
}

// Allow returns the verdict Yes.
func Allow() Verdict { return Verdict{Answer: Yes} }

// Deny returns the verdict No with what was observed.
func Deny(saw string) Verdict { return Verdict{Answer: No, Observed: saw} }

// If returns Yes when the condition holds, and otherwise No with what was observed.
func If(condition bool, saw string) Verdict {
	if condition {
		return Allow()
	}
	return Deny(saw)
}

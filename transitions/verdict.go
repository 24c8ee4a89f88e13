// Package transitions says what a transition between two states rests on: facts that may be known or not,
// guards that answer yes, no or unknown, and combinators that keep names and reasons.
package transitions

// Answer of a guard. The zero value is Unknown, so that forgetting to answer never permits anything.
type Answer uint8

const (
	// Unknown means that a fact the guard rests on is not known.
	Unknown Answer = iota
	// No means that the guard's condition does not hold.
	No
	// Yes means that it does.
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

// Not is the three-valued negation.
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

// Verdict is a guard's answer with its reasons, in words for a person.
type Verdict struct {
	Answer Answer
	// Want is what the guard asks for, if it differs from the guard's own text.
	Want string
	// Saw is what was observed instead. Sorted, stable, without ticking numbers.
	Saw string
	// Pending marks an Unknown that only waits for its first answer: it is not worth showing.
	Pending bool
}

// Allow is the verdict yes.
func Allow() Verdict { return Verdict{Answer: Yes} }

// Deny is the verdict no, with what was seen.
func Deny(saw string) Verdict { return Verdict{Answer: No, Saw: saw} }

// If is yes when the condition holds, else no with what was seen.
func If(condition bool, saw string) Verdict {
	if condition {
		return Allow()
	}
	return Deny(saw)
}

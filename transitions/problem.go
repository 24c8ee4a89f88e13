package transitions

import "fmt"

// Reason is a stable code of a problem in CamelCase. It fits the reason of a condition.
type Reason string

// Problem is why something is not possible, not proven or not valid. Facts hold a pointer, which is nil if there is none. Code
// compares the Reason and never the Message.
type Problem struct {
	Reason Reason `json:"reason"`
	// Message for users: the object, the problem and the remedy.
	Message string `json:"message"`
}

// Problemf returns a problem with a formatted message.
func Problemf(reason Reason, format string, args ...any) *Problem {
	return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Verdict says yes if there is no problem, and otherwise no with its message and reason.
func (p *Problem) Verdict() Verdict {
	if p == nil {
		return Allow()
	}
	return Verdict{Answer: No, Observed: p.Message, Reason: p.Reason}
}

// Unknown returns the verdict of a guard that cannot be evaluated because of the problem.
func (p *Problem) Unknown() Verdict { return Verdict{Observed: p.Message} }

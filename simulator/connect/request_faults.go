package connect

import "strings"

// FaultKind is what happens to a request.
type FaultKind int

const (
	// LoseRequest: the connection ends, and the request is not executed.
	LoseRequest FaultKind = iota + 1
	// LoseAnswer: the request is executed, and the connection ends without an answer.
	LoseAnswer
	// Hang: the request is not executed, and there is no answer.
	Hang
	// HangApplied: the request is executed, and there is no answer.
	HangApplied
	// TimeOut: Connect gives up after 90 s without having executed the request, and says so.
	TimeOut
	// TimeOutApplied: the same, but the request was executed.
	TimeOutApplied
	// TimeOutLater: the same, and the request is executed at the end of those 90 s, after the answer.
	TimeOutLater
	// Conflict: a rebalance is expected.
	Conflict
	// Refuse: the request is not executed. The answer has the fault's code and message.
	Refuse
)

// requestTimeout is after how many milliseconds Connect gives up a request.
const requestTimeout = 90_000

// Fault is a failure of the next request of a kind.
type Fault struct {
	// Method and Suffix of the path. Empty means any.
	Method, Suffix string
	Kind           FaultKind
	// Code and Message of the answer if Kind is Refuse.
	Code    int
	Message string
	// Times is how many requests it happens to. Default: one.
	Times int
}

// fault returns what happens to a request, and uses it up. The zero Fault is none.
func (c *Cluster) fault(r Request) Fault {
	for i := range c.Faults {
		f := &c.Faults[i]
		if f.Method != "" && f.Method != r.Method || !strings.HasSuffix(r.Path, f.Suffix) {
			continue
		}
		happens := *f
		f.Times--
		if f.Times <= 0 {
			c.Faults = append(c.Faults[:i:i], c.Faults[i+1:]...)
		}
		return happens
	}
	return Fault{}
}

const rebalanceExpected = "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)"

// broken carries out a fault.
func (c *Cluster) broken(f Fault, worker int, r Request) Answer {
	switch f.Kind {
	case LoseAnswer:
		c.execute(worker, r)
		return Answer{Outcome: Closed}
	case Hang:
		return Answer{Outcome: Silent}
	case HangApplied:
		c.execute(worker, r)
		return Answer{Outcome: Silent}
	case TimeOutApplied:
		c.execute(worker, r)
		c.Tick(c.Now + requestTimeout)
		return problem(500, "Request timed out")
	case TimeOut:
		c.Tick(c.Now + requestTimeout)
		return problem(500, "Request timed out")
	case TimeOutLater:
		c.Tick(c.Now + requestTimeout)
		c.execute(worker, r)
		return problem(500, "Request timed out")
	case Conflict:
		return problem(409, rebalanceExpected)
	case Refuse:
		return problem(f.Code, "%s", f.Message)
	default:
		return Answer{Outcome: Closed}
	}
}

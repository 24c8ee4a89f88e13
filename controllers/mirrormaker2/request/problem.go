package request

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// Reasons of the conditions.
const (
	ReasonList  transitions.Reason = "ListOffsets"
	ReasonAlter transitions.Reason = "AlterOffsets"
	ReasonReset transitions.Reason = "ResetOffsets"
	// ReasonManage is the reason if the operation is not known, or is requested of no connector.
	ReasonManage transitions.Reason = "ManageOffsets"
)

// How many bytes of a text by someone else a message quotes: of an error, and of an answer of Connect.
const (
	mostQuoted = 256
	mostAnswer = 1000
)

// Failed returns the problem of an operation on a connector that Connect answered with an error. It quotes the answer.
func Failed(operation connectoroffsets.Operation, connector, answer string) *transitions.Problem {
	return failed(operation, connector, `"%s".`, machines.Cut(answer, mostAnswer))
}

// Expired returns the problem of a request that waited for too long before anything was sent.
func Expired(operation connectoroffsets.Operation, connector string, waited time.Duration, awaited string) *transitions.Problem {
	return failed(operation, connector, "the request having waited for %s, which is as long as the annotation %s permits: %s. Nothing was sent. Remove what it waited for, and request it again; if it is shown as repeated then, remove the request and set it once more.",
		waited, labels.OffsetsExpireAfter, awaited)
}

// Unanswered returns the problem of an operation on a connector of which Connect cannot be asked.
func Unanswered(operation connectoroffsets.Operation, connector string, err error) *transitions.Problem {
	return failed(operation, connector, "Connect not being readable: %s. It is asked again until it answers. Check that the workers run, and that nothing else answers at their Service.", machines.Cut(err.Error(), mostAnswer))
}

func failed(operation connectoroffsets.Operation, connector, cause string, args ...any) *transitions.Problem {
	reason := ReasonManage
	switch operation {
	case connectoroffsets.List:
		reason = ReasonList
	case connectoroffsets.Alter:
		reason = ReasonAlter
	case connectoroffsets.Reset:
		reason = ReasonReset
	}
	return problem(reason, string(operation), connector, cause, args...)
}

// annotations returns a problem of the annotations themselves. The connector may be empty.
func annotations(connector, cause string, args ...any) *transitions.Problem {
	return problem(ReasonManage, "manage", connector, cause, args...)
}

func problem(reason transitions.Reason, verb, connector, cause string, args ...any) *transitions.Problem {
	subject := ""
	if connector = strings.TrimSpace(connector); connector != "" {
		subject = " for " + short(connector)
	}
	return transitions.Problemf(reason, "Failed to %s the connector offsets%s due to %s", verb, subject, fmt.Sprintf(cause, args...))
}

func short(text string) string { return machines.Cut(text, mostQuoted) }

func quote(text string) string { return strconv.Quote(short(text)) }

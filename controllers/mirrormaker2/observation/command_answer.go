package observation

import (
	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/runtime/external"
)

// answerOf converts the outcome of a command. A refusal proves that nothing was executed: clients/connect determines which answers do.
func answerOf(a external.Answer) connectoroffsets.Answer {
	out := connectoroffsets.Answer{Text: a.Text}
	switch a.State {
	case external.None:
	case external.Pending:
		out.State = connectoroffsets.Pending
	case external.Done:
		out.State = connectoroffsets.Confirmed
	case external.Refused:
		out.State = connectoroffsets.Refused
		if (connect.Refused{Code: a.Code}).Transient() {
			out.State = connectoroffsets.NotExecuted
		}
	case external.Failed:
		out.State = connectoroffsets.NotExecuted
	case external.Unknown:
		out.State = connectoroffsets.Uncertain
	}
	return out
}

package roll

import (
	"fmt"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// Serving reports whether the node takes part in the Kafka cluster. The pod's readiness is no evidence of it: a process whose
// probe fails, or whose kubelet is lost, still serves.
//
// No requires positive evidence: the node has no process, or its pod is terminating anyway; or Kafka reports the broker as
// fenced or not registered, and the controller as a voter that has stopped fetching and is not needed for a majority; or Kafka
// does not answer and two independent reports agree, that of the node's kubelet and that of the node itself, while another node
// answers. Unknown must be treated as serving.
func Serving(f *Facts, n *Node) transitions.Verdict {
	if !n.Running || n.NeverStarted {
		return transitions.Deny(n.Name() + " has no process, or its pod is terminating")
	}
	broker, controller := transitions.Deny(""), transitions.Deny("")
	if n.Broker {
		broker = brokerServing(f, n)
	}
	if n.Controller {
		controller = controllerServing(f, n)
	}
	switch {
	case broker.Answer == transitions.Yes, controller.Answer == transitions.Yes:
		return transitions.Allow()
	case broker.Answer == transitions.Unknown:
		return broker
	case controller.Answer == transitions.Unknown:
		return controller
	}
	return transitions.Deny(n.Name() + " serves in none of its roles")
}

func brokerServing(f *Facts, n *Node) transitions.Verdict {
	brokers, known := f.Brokers.Get()
	switch {
	case !known && reachable(f) && silentBroker(f, n):
		return transitions.Deny("does not answer")
	case !known:
		return f.Brokers.Gap()
	}
	b, registered := brokers.Find(n.ID)
	return transitions.If(registered && b.Fencing != kafka.Fenced, "fenced or not registered")
}

// controllerServing treats a voter that fetches as serving even if it is behind, since a majority may need it.
func controllerServing(f *Facts, n *Node) transitions.Verdict {
	quorum, known := f.Quorum.Get()
	switch {
	case (!known || quorum.Leader == kafka.NoLeader) && reachable(f) && silentController(f, n):
		return transitions.Deny("does not answer")
	case !known:
		return f.Quorum.Gap()
	case quorum.Leader == kafka.NoLeader:
		return transitions.Verdict{Observed: "the quorum has no leader"}
	}
	voter, votes := quorum.Voter(n.ID)
	switch {
	case !votes:
		return transitions.Deny("no voter")
	case n.ID == quorum.Leader, fetching(f, quorum, voter):
		return transitions.Allow()
	}
	if check := kafka.QuorumSafeWithout(refilled(f, quorum), n.ID, f.Now.UnixMilli(), f.FetchTimeout); !check.Safe {
		return transitions.Verdict{Observed: fmt.Sprintf("controller %d has stopped fetching, and the quorum has no majority without it", n.ID)}
	}
	return transitions.Deny("has stopped fetching")
}

// fetching reports whether the voter fetched from the leader within the fetch timeout. A new leader has had no fetches yet.
func fetching(f *Facts, quorum kafka.Quorum, voter kafka.QuorumReplica) bool {
	reference := f.Now.UnixMilli()
	if leader, led := quorum.Voter(quorum.Leader); led && leader.LastCaughtUpMillis > 0 {
		reference = leader.LastCaughtUpMillis
	}
	return voter.LastFetchMillis > 0 && reference-voter.LastFetchMillis < f.FetchTimeout.Milliseconds()
}

// Available reports whether the node takes part in full: it is ready, or it is in sync by evidence that is newer than the loss of
// its readiness by one session timeout. A process that died when it became unready has been fenced by then.
func Available(f *Facts, n *Node) bool {
	switch {
	case !n.Running:
		return false
	case n.Ready:
		return true
	case n.UnreadySince.IsZero(), Serving(f, n).Answer != transitions.Yes, InSync(f, n).Answer != transitions.Yes:
		return false
	}
	proof := n.UnreadySince.Add(f.SessionTimeout)
	return (!n.Broker || !f.Brokers.At().Before(proof) && !f.Partitions.At().Before(proof)) && (!n.Controller || !f.Quorum.At().Before(proof))
}

// reachable reports whether some node answered a direct query: the silence of another node is then not caused by the network.
func reachable(f *Facts) bool {
	members, _ := f.Members.Get()
	for _, m := range members {
		if m.Answered || m.Broker || m.Controller {
			return true
		}
	}
	return false
}

// idle reports whether the node demonstrably serves no client, so that a restart interrupts nothing.
func idle(f *Facts, n *Node) bool { return Serving(f, n).Answer == transitions.No }

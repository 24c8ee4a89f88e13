package roll

import (
	"fmt"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// risk is the kind of reason why a node may not be restarted now.
type risk uint8

const (
	safe risk = iota
	othersDown
	quorumAtRisk
	isrAtRisk
)

// Safe reports whether a restart of the node now loses nothing and interrupts no client: nothing is lost with its pod, the pod does
// not already terminate for ever, every other node is available, the quorum keeps its majority, no partition falls below min.insync.replicas, and the other brokers are in every ISR. A restart of a node that demonstrably
// serves no client interrupts nothing. If no node serves, a restart is safe once no other node is about to serve again, so that these checks never block
// recovery. A node that is merely not ready counts as serving. A node that is still starting, and may be recovering its logs, is
// not restarted for some time.
func Safe(f *Facts, n *Node) transitions.Verdict {
	verdict, _ := judge(f, n)
	return verdict
}

func judge(f *Facts, n *Node) (transitions.Verdict, risk) {
	hindrance := n.hindrance()
	switch {
	case hindrance != nil:
		return transitions.Deny(n.Name() + ": " + hindrance.Message), othersDown
	case n.starting(f.Now):
		return transitions.Deny(n.Name() + " is still starting up"), othersDown
	case idle(f, n):
		return transitions.Allow(), safe
	case NothingServing(f).Answer == transitions.Yes:
		return unprotected(f, n)
	}
	if down := others(f, n.ID, func(o *Node) bool { return !Available(f, o) }); len(down) > 0 {
		return transitions.Deny("not ready: " + Names(down)), othersDown
	}
	if n.Controller {
		if v := quorumSafe(f, n); v.Answer != transitions.Yes {
			return v, quorumAtRisk
		}
	}
	if n.Broker {
		if v := isrSafe(f, n); v.Answer != transitions.Yes {
			return v, isrAtRisk
		}
	}
	if v := othersInSync(f, n); v.Answer != transitions.Yes {
		return v, isrAtRisk
	}
	return transitions.Allow(), safe
}

// othersInSync reports whether every other broker is in the ISR of everything that it holds: the disruption lock permits no disruption
// while one is not. A broker that is itself out of an ISR is not judged by the others: its restart may repair it. Partitions that
// cannot be read are judged by isrSafe, of nodes that hold any.
func othersInSync(f *Facts, n *Node) transitions.Verdict {
	partitions, known := f.Partitions.Get()
	if !known || behindISR(f, n) {
		return transitions.Allow()
	}
	for i := range f.Nodes {
		o := &f.Nodes[i]
		if o.ID == n.ID || !o.Broker {
			continue
		}
		if out := kafka.OutOfSync(partitions.Suspect, o.ID); len(out) > 0 {
			return transitions.Deny(fmt.Sprintf("broker %d is out of the ISR of %s", o.ID, Names(partitionNames(out))))
		}
	}
	return transitions.Allow()
}

// unprotected judges a node while no node serves: it protects only nodes that may serve soon or whose loss may be permanent.
func unprotected(f *Facts, n *Node) (transitions.Verdict, risk) {
	coming := others(f, n.ID, func(o *Node) bool { return o.coming(f.Now) })
	if len(coming) > 0 && !silentThroughout(f, n) {
		return transitions.Deny("no node serves; still starting: " + Names(coming)), othersDown
	}
	if v := keepsQuorum(f, n); v.Answer != transitions.Yes {
		return v, quorumAtRisk
	}
	return transitions.Allow(), safe
}

// justStarted returns the first node other than n for which Kafka's answer may still refer to the previous process: it may show a
// node in sync that has just started. The wait for the current node ensures this too; this check also holds if the status was lost
// and no current node is known.
func justStarted(f *Facts, n *Node, young func(*Node) bool) *Node {
	for i := range f.Nodes {
		if o := &f.Nodes[i]; o.ID != n.ID && !o.StartedAt.IsZero() && young(o) {
			return o
		}
	}
	return nil
}

func quorumSafe(f *Facts, n *Node) transitions.Verdict {
	quorum, known := f.Quorum.Get()
	if !known {
		return f.Quorum.Gap()
	}
	if young := justStarted(f, n, func(o *Node) bool { return o.Controller && f.Quorum.At().Before(o.StartedAt.Add(f.FetchTimeout)) }); young != nil {
		return transitions.Deny(fmt.Sprintf("the quorum has not been observed since controller %d started", young.ID))
	}
	check := kafka.QuorumSafeWithout(refilled(f, quorum), n.ID, f.Now.UnixMilli(), f.FetchTimeout)
	switch {
	case check.Safe:
		return transitions.Allow()
	case check.Leader == kafka.NoLeader:
		return transitions.Deny("the quorum has no leader")
	}
	return transitions.Deny(fmt.Sprintf("without controller %d only %d of the %d voters needed are caught up; behind: %s",
		n.ID, len(check.CaughtUp), check.Need, ids(check.Behind)))
}

func isrSafe(f *Facts, n *Node) transitions.Verdict {
	partitions, known := f.Partitions.Get()
	if !known {
		return f.Partitions.Gap()
	}
	if young := justStarted(f, n, func(o *Node) bool { return o.Broker && f.Partitions.At().Before(o.StartedAt.Add(f.SessionTimeout)) }); young != nil {
		return transitions.Deny(fmt.Sprintf("broker %d has not run for one session timeout yet", young.ID))
	}
	risks := kafka.PartitionsAtRisk(partitions.Suspect, n.ID)
	switch {
	case len(risks.Blocking) > 0:
		return transitions.Deny(fmt.Sprintf("without broker %d these fall below min.insync.replicas: %s", n.ID, Names(partitionNames(risks.Blocking))))
	case len(risks.Unknown) > 0:
		return transitions.Verdict{Observed: "min.insync.replicas cannot be read of " + Names(partitionNames(risks.Unknown))}
	}
	return transitions.Allow()
}

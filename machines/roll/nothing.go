package roll

import (
	"github.com/detent-dev/detent/transitions"
)

// NothingServing reports whether there is nothing to protect: no broker serves, or no majority of controllers. It requires two
// independent reports that agree for longer than one session timeout: every such node was queried directly and none answers as a
// member, and live kubelets report the same nodes as not ready. One report alone, such as a failed probe, a lost kubelet or an
// unreachable listener, is no evidence of absence.
func NothingServing(f *Facts) transitions.Verdict {
	if _, known := f.Members.Get(); !known {
		return f.Members.Gap()
	}
	brokers := count(f, func(n *Node) bool { return n.Broker })
	silentBrokers := count(f, func(n *Node) bool { return n.Broker && silentBroker(f, n) })
	controllers := count(f, func(n *Node) bool { return n.Controller })
	noBroker := brokers > 0 && silentBrokers == brokers
	noMajority := controllers > 0 && 2*servingControllers(f) <= controllers
	return transitions.If(noBroker || noMajority, "a node serves, or may serve")
}

// servingControllers counts the controllers that may serve: all except those that are demonstrably silent.
func servingControllers(f *Facts) int {
	return count(f, func(n *Node) bool { return n.Controller && !silentController(f, n) })
}

func count(f *Facts, which func(*Node) bool) int {
	n := 0
	for i := range f.Nodes {
		if which(&f.Nodes[i]) {
			n++
		}
	}
	return n
}

// silentBroker reports whether kubelet and node agree that the node does not serve as a broker.
func silentBroker(f *Facts, n *Node) bool {
	return silent(f, n, func(m Membership) bool { return m.Broker })
}

// silentController reports whether kubelet and node agree that the node does not serve as a controller.
func silentController(f *Facts, n *Node) bool {
	return silent(f, n, func(m Membership) bool { return m.Controller })
}

// Lost reports whether the node serves no client: it is demonstrably idle, or is one of the silent nodes while no node serves.
func Lost(f *Facts, n *Node) transitions.Verdict {
	serving := Serving(f, n)
	switch {
	case serving.Answer == transitions.No:
		return transitions.Allow()
	case serving.Answer == transitions.Unknown && silentThroughout(f, n) && NothingServing(f).Answer == transitions.Yes:
		return transitions.Allow()
	case serving.Answer == transitions.Unknown:
		return serving
	}
	return transitions.Deny(n.Name() + " serves")
}

// silentThroughout reports whether kubelet and node agree that the node serves in none of its roles.
func silentThroughout(f *Facts, n *Node) bool {
	return silent(f, n, func(m Membership) bool { return m.Broker || m.Controller })
}

func silent(f *Facts, n *Node, takesPart func(Membership) bool) bool {
	if !n.Running {
		return true
	}
	members, known := f.Members.Get()
	lull := n.UnreadySince.Add(f.SessionTimeout)
	if !known || n.Ready || n.UnreadySince.IsZero() || f.Members.At().Before(lull) {
		return false
	}
	m, asked := members[n.ID]
	return asked && !m.KubeletLost && (n.NeverStarted || !takesPart(m))
}

// keepsQuorum protects the quorum while no broker serves: if a majority of the controllers may serve, restarts must not stop them
// one after the other for the reason that stopped the brokers. If no broker can answer for the quorum, the answers of the other
// controllers replace it.
func keepsQuorum(f *Facts, n *Node) transitions.Verdict {
	controllers, serving := count(f, func(o *Node) bool { return o.Controller }), servingControllers(f)
	if !n.Controller || 2*serving <= controllers {
		return transitions.Allow()
	}
	if _, known := f.Quorum.Get(); known || f.Quorum.Gap().Pending {
		return quorumSafe(f, n)
	}
	need := controllers/2 + 1
	if controllers <= 2 {
		need = controllers - 1 // without one of them there is no majority
	}
	return transitions.If(answering(f) > need, "too few other controllers answer, and the quorum "+f.Quorum.Gap().Observed)
}

// answering counts the controllers that are ready or answer as members of a quorum. Only positive evidence counts.
func answering(f *Facts) int {
	members, _ := f.Members.Get()
	return count(f, func(n *Node) bool { return n.Controller && n.Running && (n.Ready || members[n.ID].Controller) })
}

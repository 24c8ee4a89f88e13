package roll

import (
	"github.com/detent-dev/detent/transitions"
)

// NothingServing says whether there is nothing to protect: no broker serves, or no majority of controllers. It demands two
// independent reports that agree for longer than one session time-out: every such node was asked directly and none answers as a
// member, and kubelets that are alive report the same nodes as not ready. One report alone, such as a lapsed probe, a lost
// kubelet or a listener that cannot be reached, is not evidence of absence.
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

// servingControllers counts the controllers that may serve: all that are not shown to be silent.
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

// silentBroker says that the node is shown not to serve as a broker, by its kubelet and by itself.
func silentBroker(f *Facts, n *Node) bool {
	return silent(f, n, func(m Membership) bool { return m.Broker })
}

// silentController says that the node is shown not to serve as a controller, by its kubelet and by itself.
func silentController(f *Facts, n *Node) bool {
	return silent(f, n, func(m Membership) bool { return m.Controller })
}

// Lost says whether the node serves no client: it is shown to be idle, or is one of those by which nothing serves.
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

// silentThroughout says that the node is shown not to serve in any of its roles, by its kubelet and by itself.
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

// keepsQuorum protects the quorum where nothing serves for want of brokers: while a majority of the controllers may serve there
// is something to protect among them, and what brought the brokers down is not carried on to one controller after the other.
// Without a broker there may be none to ask for the quorum; then what the other controllers answer stands in for it.
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
		need = controllers - 1 // the majority cannot be kept without one of them
	}
	return transitions.If(answering(f) > need, "too few other controllers answer, and the quorum "+f.Quorum.Gap().Saw)
}

// answering counts the controllers that are ready or answer as members of a quorum: positive evidence only.
func answering(f *Facts) int {
	members, _ := f.Members.Get()
	return count(f, func(n *Node) bool { return n.Controller && n.Running && (n.Ready || members[n.ID].Controller) })
}

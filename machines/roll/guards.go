package roll

import (
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// ServingNeeds are the facts on which Serving and Safe depend.
func ServingNeeds() []transitions.Need {
	return []transitions.Need{NeedQuorum, NeedPartitions, NeedBrokers, NeedMembers}
}

func mayRestart[F any]() transitions.Guard[F, Data] {
	return transitions.Guard[F, Data]{
		Name: "may-restart", Doc: "a node that needs a restart can be restarted safely now", Needs: ServingNeeds(),
		Expected: "every other node available, a quorum and enough in-sync replicas without the node",
	}
}

// outdated is satisfied while a node needs a restart.
func (in Inclusion[F, E]) outdated() transitions.Guard[F, Data] {
	return transitions.Guard[F, Data]{
		Name: "node-outdated", Doc: "a node needs a restart", Expected: "a node that needs a restart",
		Evaluate: func(f *F, _ Data) transitions.Verdict {
			facts := in.Facts(f)
			return transitions.If(facts.Done() < len(facts.Nodes), "every node is up to date")
		},
	}
}

// held is satisfied if the first node in order is blocked by the given risk.
func (in Inclusion[F, E]) held(by risk, name, doc string) transitions.Guard[F, Data] {
	return transitions.Guard[F, Data]{
		Name: name, Doc: doc, Expected: doc, Needs: ServingNeeds(),
		Evaluate: func(f *F, _ Data) transitions.Verdict {
			verdict, _, why := next(in.Facts(f))
			if why == by && verdict.Answer == transitions.No {
				return transitions.Allow()
			}
			if why == by {
				return verdict
			}
			return transitions.Deny("the next node can be restarted, or something else blocks it")
		},
	}
}

// again chooses the current node if it is down and differs from its desired state: the new state may repair it.
func (in Inclusion[F, E]) again() *machines.Choice[F, Data] {
	return &machines.Choice[F, Data]{
		Guard: transitions.Guard[F, Data]{
			Name: "selected-node-outdated", Doc: "the selected node is down and differs from its desired state", Expected: "the selected node down and different from its desired state", Needs: ServingNeeds(),
		},
		Pick: func(f *F, m Data) (transitions.Verdict, Data) {
			facts := in.Facts(f)
			n := facts.Node(m.Node)
			switch {
			case n == nil:
				return transitions.Deny("no selected node"), m
			case n.Ready || !n.due():
				return transitions.Deny(n.Name() + " is ready or up to date"), m
			}
			return Safe(facts, n), m
		},
	}
}

// othersFirst is satisfied if another node that needs a restart serves no client, since the current node may be waiting for it.
func (in Inclusion[F, E]) othersFirst() transitions.Guard[F, Data] {
	return in.ofSelected("another-down", "another node that needs a restart is down and serves no client", "another node that needs a restart and serves no client", ServingNeeds(),
		func(f *Facts, selected *Node) transitions.Verdict {
			verdict := transitions.Deny("every other node that needs a restart is ready, starting or serving")
			for i := range f.Nodes {
				n := &f.Nodes[i]
				if n.ID == selected.ID || !n.Outdated || n.hindrance() != nil || n.Ready || n.starting(f.Now) {
					continue
				}
				switch gone := Lost(f, n); gone.Answer {
				case transitions.Yes:
					return gone
				case transitions.Unknown:
					verdict = gone
				case transitions.No:
				}
			}
			return verdict
		})
}

// inVain is satisfied if the current node had time to start and no node serves: it may be waiting for the remaining nodes.
func (in Inclusion[F, E]) inVain() transitions.Guard[F, Data] {
	return in.ofSelected("nothing-serves", "no node serves although the selected node had time to start", "no serving node", []transitions.Need{NeedMembers},
		func(f *Facts, n *Node) transitions.Verdict {
			had := n.Trouble != nil || !n.StartedAt.IsZero() && !f.Now.Before(n.StartedAt.Add(patience))
			if !had {
				return transitions.Deny(n.Name() + " has just started")
			}
			return NothingServing(f)
		})
}

// other chooses a node that is unavailable although it needs no restart: no other node is restarted before it is back.
func (in Inclusion[F, E]) other() *machines.Choice[F, Data] {
	return &machines.Choice[F, Data]{
		Guard: transitions.Guard[F, Data]{
			Name: "other-unready", Doc: "a node that needs no restart is unavailable", Expected: "an unavailable node that needs no restart", Needs: ServingNeeds(),
		},
		Pick: func(f *F, _ Data) (transitions.Verdict, Data) {
			facts := in.Facts(f)
			verdict := transitions.Deny("every node that needs no restart is available")
			for i := range facts.Nodes {
				n := &facts.Nodes[i]
				if n.Outdated || Available(facts, n) {
					continue
				}
				serving := Serving(facts, n)
				if serving.Answer != transitions.Unknown {
					return transitions.Allow(), Data{Node: n.ID}
				}
				verdict = serving
			}
			return verdict, NoNode()
		},
	}
}

// ofSelected returns a guard about the current node. It is not satisfied if the node is missing in the facts.
func (in Inclusion[F, E]) ofSelected(name, doc, want string, needs []transitions.Need, ask func(*Facts, *Node) transitions.Verdict) transitions.Guard[F, Data] {
	return transitions.Guard[F, Data]{
		Name: name, Doc: doc, Expected: want, Needs: needs,
		Evaluate: func(f *F, m Data) transitions.Verdict {
			facts := in.Facts(f)
			n := facts.Node(m.Node)
			if n == nil {
				return transitions.Deny("no selected node")
			}
			return ask(facts, n)
		},
	}
}

func (in Inclusion[F, E]) selected() transitions.Guard[F, Data] {
	return in.ofSelected("selected-node-exists", "the selected node still belongs to the cluster", "a selected node of the cluster", nil,
		func(*Facts, *Node) transitions.Verdict { return transitions.Allow() })
}

// selectedOrNone is selected, and also satisfied without a current node: then the state waits for all nodes.
func (in Inclusion[F, E]) selectedOrNone() transitions.Guard[F, Data] {
	return transitions.Any(in.selected(), transitions.Guard[F, Data]{
		Name: "no-node-selected", Doc: "no node is selected: the state waits for all nodes", Expected: "no selected node",
		Evaluate: func(_ *F, m Data) transitions.Verdict { return transitions.If(m.Node == None, "a node is selected") },
	})
}

// allReady is satisfied if there is no current node and every node is ready: the end of a cluster's first start.
func (in Inclusion[F, E]) allReady() transitions.Guard[F, Data] {
	return transitions.Guard[F, Data]{
		Name: "all-ready", Doc: "no node is selected and every node is ready", Expected: "every node ready",
		Evaluate: func(f *F, m Data) transitions.Verdict {
			facts := in.Facts(f)
			if m.Node != None {
				return transitions.Deny("a node is selected")
			}
			return transitions.If(len(facts.Nodes) > 0 && len(Troubles(facts)) == 0, notReady(facts))
		},
	}
}

func (in Inclusion[F, E]) safe() transitions.Guard[F, Data] {
	return in.ofSelected("restart-safe", "the selected node can be restarted safely now",
		"every other node available, a quorum and enough in-sync replicas without the node", ServingNeeds(), Safe)
}

func (in Inclusion[F, E]) restarted() transitions.Guard[F, Data] {
	return in.ofSelected("node-restarted", "the pod of the selected node exists and is up to date, or is refused", "a new pod of the selected node", nil,
		func(_ *Facts, n *Node) transitions.Verdict {
			switch {
			case !n.Running && !(n.Trouble != nil && n.Trouble.Reason == PodRefused):
				return transitions.Deny(n.Name() + " is missing or terminating")
			case n.due():
				return transitions.Deny(n.Name() + " is still outdated")
			}
			return transitions.Allow()
		})
}

// notReady describes which nodes of a first start are not ready.
func notReady(f *Facts) string {
	if len(f.Nodes) == 0 {
		return "no node exists yet"
	}
	return "not ready: " + Names(Troubles(f))
}

// ready is satisfied if the current node is ready. Without a current node its reason names the nodes that the first start waits
// for, so that the status shows one reason and not two.
func (in Inclusion[F, E]) ready() transitions.Guard[F, Data] {
	return transitions.Guard[F, Data]{
		Name: "node-ready", Doc: "the pod of the selected node is ready", Expected: "the pod of the selected node ready",
		Evaluate: func(f *F, m Data) transitions.Verdict {
			facts := in.Facts(f)
			n := facts.Node(m.Node)
			switch {
			case n == nil:
				return transitions.Verdict{Answer: transitions.No, Expected: "every pod of the new cluster ready", Observed: notReady(facts), Reason: firstTrouble(facts)}
			case n.Running && n.Ready:
				return transitions.Allow()
			case n.Trouble != nil:
				return transitions.Verdict{Answer: transitions.No, Observed: n.Name() + ": " + n.Trouble.Message, Reason: n.Trouble.Reason}
			}
			return transitions.Deny(n.Name() + " is not ready")
		},
	}
}

func (in Inclusion[F, E]) unready() transitions.Guard[F, Data] {
	return in.ofSelected("node-not-ready", "the pod of the selected node is not ready", "the pod of the selected node not ready", nil,
		func(_ *Facts, n *Node) transitions.Verdict {
			return transitions.If(!(n.Running && n.Ready), n.Name()+" is ready")
		})
}

func (in Inclusion[F, E]) inSync() transitions.Guard[F, Data] {
	return in.ofSelected("in-sync", "the selected node is in every ISR again and has caught up with the quorum", "the selected node back in sync",
		[]transitions.Need{NeedBrokers, NeedPartitions, NeedQuorum}, InSync)
}

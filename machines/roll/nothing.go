package roll

import (
	"github.com/detent-dev/detent/transitions"
)

// keepsQuorum protects the quorum where nothing serves for want of brokers: while a majority of the controllers is ready there is
// something to protect among them, and what brought the brokers down is not carried on to one controller after the other. Brokers
// that are down may leave nobody to ask for the quorum; then the readiness of the other controllers stands in for it.
func keepsQuorum(f *Facts, n *Node) transitions.Verdict {
	controllers, ready := 0, 0
	for i := range f.Nodes {
		if o := &f.Nodes[i]; o.Controller {
			controllers++
			if o.Running && o.Ready {
				ready++
			}
		}
	}
	if !n.Controller || 2*ready <= controllers {
		return transitions.Allow()
	}
	if _, known := f.Quorum.Get(); known || f.Quorum.Gap().Pending {
		return quorumSafe(f, n)
	}
	need := controllers/2 + 1
	if controllers <= 2 {
		need = controllers - 1 // the majority cannot be kept without one of them
	}
	return transitions.If(ready > need, "too few other controllers are ready, and the quorum "+f.Quorum.Gap().Saw)
}

package observation

import (
	"fmt"

	"github.com/detent-dev/detent/transitions"
)

// Foreign describes nodes that another operator created; nil if there are none. Such nodes use TLS among themselves and other
// Service ports: a recreated node could not join the others, and clients could not connect to it.
func Foreign(v *Snapshot) *transitions.Problem {
	first, more := "", 0
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case !n.Pod.Foreign:
		case first == "":
			first = n.PodName
		default:
			more++
		}
	}
	if first == "" {
		return nil
	}
	others := ""
	if more > 0 {
		others = fmt.Sprintf(" (and so were %d more nodes)", more)
	}
	return transitions.Problemf("MadeByStrimzi", "%s was made by Strimzi%s, whose nodes speak TLS among themselves, which is not served here: let Strimzi run "+
		"this cluster, or mirror its data to a new one. Running nodes are not changed", first, others)
}

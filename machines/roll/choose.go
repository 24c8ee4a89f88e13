package roll

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// candidates returns the nodes that need a restart, in the order in which they may be restarted. Nodes that serve no client come
// first: a restart may repair them and interrupts nothing. Next are nodes that are not ready, then nodes that are out of an ISR,
// since no other node may be restarted before they are back in sync. Then controllers precede brokers, and the active controller
// is the last controller.
func candidates(f *Facts) []*Node {
	var dead, unready, behind, controllers, brokers []*Node
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !n.Outdated:
		case !n.Ready && idle(f, n):
			dead = append(dead, n)
		case !n.Ready:
			unready = append(unready, n)
		case behindISR(f, n):
			behind = append(behind, n)
		case n.Controller:
			controllers = append(controllers, n)
		default:
			brokers = append(brokers, n)
		}
	}
	slices.SortStableFunc(dead, controllersFirst)
	slices.SortStableFunc(unready, controllersFirst)
	slices.SortStableFunc(behind, controllersFirst)
	class := leaderLast(f, controllers)
	if len(controllers) == 0 {
		class = brokers
	}
	return slices.Concat(dead, unready, behind, class)
}

func controllersFirst(a, b *Node) int {
	switch {
	case a.Controller == b.Controller:
		return int(a.ID) - int(b.ID)
	case a.Controller:
		return -1
	}
	return 1
}

// behindISR reports whether the node is known to be out of the ISR of a partition that it holds. If the partitions cannot be read,
// it returns false, which changes only the order: Safe then permits no restart.
func behindISR(f *Facts, n *Node) bool {
	if !n.Broker || !f.Partitions.Asked() {
		return false
	}
	partitions, known := f.Partitions.Get()
	return known && len(kafka.OutOfSync(partitions.Suspect, n.ID)) > 0
}

// leaderLast removes the active controller while another node of its class is left. Unreadable quorum state only affects the order
// here; Safe then permits no restart.
func leaderLast(f *Facts, class []*Node) []*Node {
	if len(class) < 2 || !f.Quorum.Asked() {
		return class
	}
	quorum, known := f.Quorum.Get()
	if !known {
		return class
	}
	return slices.DeleteFunc(slices.Clone(class), func(n *Node) bool { return n.ID == quorum.Leader })
}

func others(f *Facts, except int32, which func(*Node) bool) []string {
	var names []string
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.ID != except && which(n) {
			names = append(names, n.Name())
		}
	}
	return names
}

// Troubles returns the names of the nodes that are not ready, with the reason if it is known.
func Troubles(f *Facts) []string {
	var out []string
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case n.Running && n.Ready:
		case n.Trouble != nil:
			out = append(out, n.Name()+" ("+n.Trouble.Message+")")
		default:
			out = append(out, n.Name())
		}
	}
	return out
}

// firstTrouble returns the reason of the first node with a known trouble, or "".
func firstTrouble(f *Facts) transitions.Reason {
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Trouble != nil && !(n.Running && n.Ready) {
			return n.Trouble.Reason
		}
	}
	return ""
}

// next selects the first candidate that may be restarted, or returns why the first one may not and the kind of risk.
func next(f *Facts) (transitions.Verdict, Data, risk) {
	list := candidates(f)
	if len(list) == 0 {
		return transitions.Deny("no node needs a restart"), NoNode(), safe
	}
	first, firstRisk := transitions.Verdict{}, safe
	for i, n := range list {
		verdict, why := judge(f, n)
		if verdict.Answer == transitions.Yes {
			return verdict, Data{Node: n.ID}, safe
		}
		if i == 0 {
			first, firstRisk = verdict, why
		}
	}
	return first, NoNode(), firstRisk
}

// Names joins names, sorted: at most three, and the number of the others.
func Names(names []string) string {
	const shown = 3
	names = slices.Clone(names)
	slices.Sort(names)
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

func ids(list []int32) string {
	names := make([]string, len(list))
	for i, id := range list {
		names[i] = fmt.Sprint(id)
	}
	return Names(names)
}

func partitionNames(partitions []kafka.Partition) []string {
	names := make([]string, len(partitions))
	for i := range partitions {
		names[i] = partitions[i].Name()
	}
	return names
}

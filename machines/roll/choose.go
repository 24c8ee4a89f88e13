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

// risk is the kind of reason why a node may not be restarted now.
type risk uint8

const (
	safe risk = iota
	othersDown
	quorumAtRisk
	isrAtRisk
)

// Safe reports whether a restart of the node now interrupts no client: every other node is available, the quorum keeps its
// majority, and no partition falls below min.insync.replicas. A restart of a node that demonstrably serves no client interrupts
// nothing. If no node serves, a restart is safe once no other node is about to serve again, so that these checks never block
// recovery. A node that is merely not ready counts as serving. A node that is still starting, and may be recovering its logs, is
// not restarted for some time.
func Safe(f *Facts, n *Node) transitions.Verdict {
	verdict, _ := judge(f, n)
	return verdict
}

func judge(f *Facts, n *Node) (transitions.Verdict, risk) {
	switch {
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
	return transitions.Allow(), safe
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

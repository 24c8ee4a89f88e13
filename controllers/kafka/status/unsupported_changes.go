package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Reasons of warnings about nodes that differ from the specs of their pools.
const (
	// ReasonScaleDownPending: brokers that are no longer desired still exist.
	ReasonScaleDownPending = "ScaleDownPending"
	// ReasonRolesNotChanged: nodes have a role that is not in their pool's spec, or lack one that is.
	ReasonRolesNotChanged = "RolesNotChanged"
	// ReasonOrphaned: brokers leave because their pool was deleted or belongs to another cluster.
	ReasonOrphaned = "Orphaned"
)

// unsupportedChanges returns warnings about parts of the pools' specs that are not applied yet, or not at all because that could lose
// data or the quorum.
func unsupportedChanges(v *observation.Snapshot) []nodeids.Warning {
	var out []nodeids.Warning
	for _, pool := range v.Objects.Pools {
		out = append(out, unsupportedChangesIn(v, pool)...)
	}
	return append(out, orphaned(v)...)
}

// unsupportedChangesIn returns the warnings of one pool.
func unsupportedChangesIn(v *observation.Snapshot, pool *kafkav1beta2.KafkaNodePool) []nodeids.Warning {
	var unwanted, demoted, stopped, otherRoles []string
	nodes := 0
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch removal := n.Removal(); {
		case n.Pool != pool.Name:
		case removal == observation.Leaves, !n.Wanted && n.Pod.Exists:
			nodes++
			if n.Record.Stop {
				stopped = append(stopped, n.PodName)
			} else {
				unwanted = append(unwanted, holding(v, n))
			}
		case removal == observation.Demoted && n.Record.Stop:
			stopped = append(stopped, n.PodName)
		case removal == observation.Demoted:
			demoted = append(demoted, holding(v, n))
		case n.Pod.Exists && n.Roles != n.RolesWanted:
			otherRoles = append(otherRoles, n.PodName)
		}
	}
	var out []nodeids.Warning
	add := func(reason, format string, args ...any) {
		out = append(out, nodeids.Warning{Pool: pool.Name, Reason: reason, Message: "KafkaNodePool " + pool.Name + fmt.Sprintf(format, args...)})
	}
	if len(unwanted) > 0 {
		add(ReasonScaleDownPending, " wants %d nodes, and %s leave. %s, or set spec.replicas back to %d", pool.Spec.Replicas, roll.Names(unwanted), howRemoved, int(pool.Spec.Replicas)+nodes)
	}
	if len(demoted) > 0 {
		add(ReasonScaleDownPending, " takes the broker role from %s. %s, or set spec.roles back", roll.Names(demoted), howRemoved)
	}
	if len(stopped) > 0 {
		add(ReasonScaleDownPending, ": %s", waitingForEnd(stopped))
	}
	if len(otherRoles) > 0 {
		add(ReasonRolesNotChanged, " declares other roles than %s run with: controllers of a static quorum cannot change, and a broker with partitions is not taken away: set spec.roles back, or make another pool",
			roll.Names(otherRoles))
	}
	return out
}

// changesPermitted sets Ready to false while a pool declares other controllers or other roles than its nodes keep. What is only pending
// keeps a lifecycle from its rest.
func changesPermitted(v *observation.Snapshot) metav1.Condition {
	var reasons, texts []string
	for _, w := range slices.Concat(v.IDs.Warnings, unsupportedChanges(v)) {
		if w.Reason == nodeids.ReasonFrozen || w.Reason == ReasonRolesNotChanged {
			reasons, texts = append(reasons, w.Reason), append(texts, w.Message)
		}
	}
	if len(reasons) == 0 {
		return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionTrue, Reason: "ChangesPermitted"}
	}
	return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: reasons[0], Message: strings.Join(texts, "; ")}
}

const howRemoved = "A broker goes once it holds no replica: move its replicas, annotate the Kafka with " + observation.AnnotationDrain + "=true"

// waitingForEnd describes brokers that were stopped: no user has to do anything about their replicas any more.
func waitingForEnd(stopped []string) string {
	return "stopped, and waiting to be unregistered: " + roll.Names(stopped) + ". The lifecycle " + observation.LifecycleScaleDown + " shows what is waited for"
}

// holding returns the name of the node's pod, with the number of partitions of which it holds a replica if that is known and not 0.
func holding(v *observation.Snapshot, n *observation.Node) string {
	partitions, known := observation.Known(v.Partitions)
	if held := partitions.Replicas[n.ID]; known && held > 0 {
		return fmt.Sprintf("%s (with replicas of %d partitions)", n.PodName, held)
	}
	return n.PodName
}

// orphaned returns a warning for each deleted or moved pool whose brokers leave.
func orphaned(v *observation.Snapshot) []nodeids.Warning {
	pods, stopped := map[string][]string{}, map[string][]string{}
	for i := range v.Nodes {
		switch n := &v.Nodes[i]; {
		case n.Removal() != observation.Leaves || v.Pool(n.Pool) != nil:
		case n.Record.Stop:
			stopped[n.Pool] = append(stopped[n.Pool], n.PodName)
		default:
			pods[n.Pool] = append(pods[n.Pool], holding(v, n))
		}
	}
	var out []nodeids.Warning
	for pool, nodes := range stopped {
		out = append(out, nodeids.Warning{Pool: pool, Reason: ReasonOrphaned, Message: "KafkaNodePool " + pool + ": " + waitingForEnd(nodes)})
	}
	for pool, nodes := range pods {
		what, remedy := "is gone", "create it again"
		if _, exists := v.Moved[pool]; exists {
			what, remedy = "does not belong to this cluster any more by its label strimzi.io/cluster", "set the label back"
		}
		out = append(out, nodeids.Warning{Pool: pool, Reason: ReasonOrphaned, Message: fmt.Sprintf(
			"KafkaNodePool %s %s, and %s leave. %s, or %s", pool, what, roll.Names(nodes), howRemoved, remedy)})
	}
	return out
}

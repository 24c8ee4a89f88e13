package facts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// SpecError describes why the spec as a whole cannot be applied; nil if it can. Nothing is changed while there is a spec error.
func SpecError(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if wrong := contradiction(k, v); wrong != nil {
		return wrong
	}
	lack := lacking(k, v)
	if lack == nil || v.Now.Before(graceEnd(k, v)) {
		return nil
	}
	return lack
}

// incomplete describes what the spec of a young cluster lacks and may be created soon, and the end of the wait for it.
func incomplete(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	lack, end := lacking(k, v), graceEnd(k, v)
	if lack == nil {
		lack, end = arriving(k, v)
	}
	if lack == nil || !v.Now.Before(end) || contradiction(k, v) != nil {
		return nil
	}
	return transitions.Problemf(lack.Reason, "%s. This is waited for until %s", lack.Message, end.UTC().Format(time.RFC3339))
}

// arriving describes the youngest pool of a cluster that never ran, beside which others may be created in the next seconds, and the end of
// the wait for them. It is nil for any other cluster, and once the first of its pools is old: its pools may be applied long after the Kafka.
func arriving(k *kafkav1beta2.Kafka, v *observation.Snapshot) (youngest *transitions.Problem, end time.Time) {
	if k.Status.KafkaVersion != "" || v.Started() || len(v.Objects.Pools) == 0 {
		return nil, end
	}
	first := slices.MinFunc(v.Objects.Pools, func(a, b *kafkav1beta2.KafkaNodePool) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	}).CreationTimestamp
	limit := first.Add(observation.PoolsGrace)
	if grace := graceEnd(k, v); grace.After(limit) {
		limit = grace
	}
	for _, pool := range v.Objects.Pools {
		if until := pool.CreationTimestamp.Add(observation.PoolsPause); until.After(end) {
			end = until
			youngest = transitions.Problemf("PoolsArriving", "KafkaNodePool %s was just created, and others may follow", pool.Name)
		}
	}
	if end.After(limit) {
		end = limit
	}
	return youngest, end
}

// graceEnd is when a missing pool becomes an error: immediately for a cluster that has run.
func graceEnd(k *kafkav1beta2.Kafka, v *observation.Snapshot) time.Time {
	ran := k.Status.KafkaVersion != "" || slices.ContainsFunc(v.Nodes, func(n observation.Node) bool { return n.Pod.Exists })
	if ran {
		return k.CreationTimestamp.Time
	}
	return k.CreationTimestamp.Add(observation.PoolsGrace)
}

// contradiction describes errors that the creation of further objects cannot resolve.
func contradiction(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	return cmp.Or(observation.Foreign(v), v.Identity.Mismatch, v.IDs.Refusal, unguarded(&k.Spec.Kafka), referredTimes(&k.Spec.Kafka), roleless(v), longNames(v), pinnedBelowDisks(k, v),
		observation.Derived(k, v, "config problem", render.ConfigProblem), observation.Derived(k, v, "template problem", render.TemplateProblem), observation.Derived(k, v, "heap problem", render.HeapProblem), observation.MisplacedDisks(v), observation.MovedMetadataLogs(v), orphans(v))
}

// lacking describes the required pools or roles of pools that do not exist.
func lacking(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if len(v.Objects.Pools) == 0 {
		return transitions.Problemf("PoolsMissing", "no KafkaNodePool carries the label strimzi.io/cluster with this cluster's name: create at least one with the role controller and one with the role broker")
	}
	return cmp.Or(missingRole(v), absentVoters(k, v))
}

// absentVoters describes controllers that belong to no pool, of which only a record is left: they are voters of the quorum, and nothing
// runs them. Records that begin again, or are about to be deleted, are of no voters.
func absentVoters(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if recording.AdoptionOf(k, v) != recording.Adopt {
		return nil
	}
	absent := map[string][]string{}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Recorded && n.Roles.Controller && v.Pool(n.Pool) == nil && !n.Pod.Exists && !n.Entry.Exists && !v.Unused(n) {
			absent[n.Pool] = append(absent[n.Pool], n.PodName)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	var gone []string
	for _, pool := range slices.Sorted(maps.Keys(absent)) {
		gone = append(gone, fmt.Sprintf("KafkaNodePool %s is gone, and %s are voters of the quorum and do not run: create it again, and they start with their node ids", pool, roll.Names(absent[pool])))
	}
	return transitions.Problemf(reasonNodesWithoutPool, "%s%s", strings.Join(gone, "; "), startOver(v))
}

const reasonNodesWithoutPool = "NodesWithoutPool"

// unguarded lists the requested access controls, which are not implemented. Listeners that are not served admit no clients.
func unguarded(spec *kafkav1beta2.KafkaClusterSpec) *transitions.Problem {
	var asked []string
	if spec.Authorization != nil {
		asked = append(asked, "spec.kafka.authorization")
	}
	for i := range spec.Listeners {
		if l := &spec.Listeners[i]; l.Authentication != nil && render.Served(l) {
			asked = append(asked, fmt.Sprintf("spec.kafka.listeners[%s].authentication", l.Name))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return transitions.Problemf("AccessControlNotSupported", "not supported, so that whoever reaches the cluster could do everything: %s"+
		". Remove it to run the cluster open. Running nodes are not changed", strings.Join(asked, ", "))
}

// referredTimes lists the times in the configuration that decide when a node may be restarted and that refer to a value elsewhere, such as
// ${env:NAME}: only the process that starts resolves it, and with a default in its place a dead broker would count as alive.
func referredTimes(spec *kafkav1beta2.KafkaClusterSpec) *transitions.Problem {
	var referred []string
	for _, name := range []string{kafkaclient.ConfigSessionTimeout, kafkaclient.ConfigQuorumFetchTimeout, kafkaclient.ConfigSnapshotInterval} {
		if text, _ := spec.Property(name); strings.Contains(text, "${") {
			referred = append(referred, fmt.Sprintf("spec.kafka.config[%s] is %s", name, text))
		}
	}
	if len(referred) == 0 {
		return nil
	}
	return transitions.Problemf("TimeIsReference", "no pod is changed, because %s, which only Kafka can resolve, and restarts depend on this time: write the number of milliseconds",
		strings.Join(referred, " and "))
}

// roleless describes pools without a role. The schema does not permit them; they may have been stored under another one.
func roleless(v *observation.Snapshot) *transitions.Problem {
	for _, pool := range v.Objects.Pools {
		if observation.RolesOf(pool.Spec.Roles) == (observation.Roles{}) {
			return transitions.Problemf("RolesMissing", "KafkaNodePool %s has no role: set spec.roles to controller, broker or both", pool.Name)
		}
	}
	return nil
}

// longNames describes pods of a cluster that was never started whose names Kubernetes rejects. The rest would start without them, and the
// pool of controllers that were started cannot be replaced by one with a shorter name.
func longNames(v *observation.Snapshot) *transitions.Problem {
	if v.Started() {
		return nil
	}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Wanted && n.NameTooLong() {
			return transitions.Problemf("NameTooLong", "pod %s of KafkaNodePool %s would have a name of %d characters, and Kubernetes takes %d: make a pool with a shorter name in its place",
				n.PodName, n.Pool, len(n.PodName), observation.LongestPodName)
		}
	}
	return nil
}

func missingRole(v *observation.Snapshot) *transitions.Problem {
	var have observation.Roles
	for _, pool := range v.Objects.Pools {
		if pool.Spec.Replicas > 0 {
			roles := observation.RolesOf(pool.Spec.Roles)
			have.Broker, have.Controller = have.Broker || roles.Broker, have.Controller || roles.Controller
		}
	}
	switch {
	case !have.Controller:
		return transitions.Problemf("ControllersMissing", "no KafkaNodePool with replicas has the role controller: add it to a pool, or create one")
	case !have.Broker:
		return transitions.Problemf("BrokersMissing", "no KafkaNodePool with replicas has the role broker: add it to a pool, or create one")
	}
	return nil
}

// orphans describes running controllers that belong to no pool of the cluster: their pool was deleted, or its label names another
// cluster. Brokers of such a pool are removed.
func orphans(v *observation.Snapshot) *transitions.Problem {
	pods := map[string][]string{}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Pod.Exists && v.Pool(n.Pool) == nil && (n.WasController() || !n.WasBroker()) {
			pods[n.Pool] = append(pods[n.Pool], n.PodName)
		}
	}
	var gone []string
	for pool, nodes := range pods {
		cluster, exists := v.Moved[pool]
		switch {
		case !exists:
			gone = append(gone, fmt.Sprintf("KafkaNodePool %s is gone, and %s still run and are not changed: create it again with their node ids", pool, roll.Names(nodes)))
		case cluster == "":
			gone = append(gone, fmt.Sprintf("KafkaNodePool %s has lost its label strimzi.io/cluster, and %s still run here and are not changed: set the label again", pool, roll.Names(nodes)))
		default:
			gone = append(gone, fmt.Sprintf("the label strimzi.io/cluster of KafkaNodePool %s names %s now, and %s still run here and are not changed: set the label back", pool, cluster, roll.Names(nodes)))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	return transitions.Problemf(reasonNodesWithoutPool, "%s%s", strings.Join(gone, "; "), startOver(v))
}

// startOver is the other remedy for controllers without a pool, if the cluster has no data; empty if it may have some.
func startOver(v *observation.Snapshot) string {
	if !v.NeverLed() {
		return ""
	}
	return ". No controller of this cluster ever ran, so that it has no data: it can also be deleted with its PersistentVolumeClaims and applied again"
}

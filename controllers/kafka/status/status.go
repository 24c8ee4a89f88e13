// Package status sets the status of Kafka resources and KafkaNodePools: their fields, conditions and warnings. It is pure.
package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Conditions of a Kafka resource in addition to those of every lifecycle.
const (
	// Available reports whether clients can use the cluster.
	Available = "Available"
	// VersionSettled reports whether binaries, features and registrations all match the spec.
	VersionSettled = "VersionSettled"
)

// Project sets the status fields of a Kafka resource and returns its own conditions. A field whose value is unknown keeps its old
// value, so that a failure does not erase known values.
func Project(k *kafkav1beta2.Kafka, v *observation.Snapshot, request lifecycle.ProjectRequest) []metav1.Condition {
	s := &k.Status
	if version, ok := versionOfAll(v); ok {
		s.KafkaVersion = version
	}
	if level, ok := finalizedLevel(v); ok {
		s.KafkaMetadataVersion = level
	}
	if v.Identity.Mismatch == nil && v.Identity.ID != "" {
		s.ClusterID = v.Identity.ID
	}
	s.NodeIDs = nodeIDs(s.NodeIDs, v)
	s.KafkaNodePools = usedPools(s.KafkaNodePools, v)
	if now, known := listeners(k, v); known && !slices.EqualFunc(s.Listeners, now, listenerEqual) {
		s.Listeners = now
	}
	decided := decide(k, v)
	settled := versionSettled(k, v, &decided)
	own := []metav1.Condition{settled, podsReady(v), changesPermitted(v), componentsReady(k, v), volumesExpanded(v)}
	succeeded := !slices.ContainsFunc(own, func(c metav1.Condition) bool { return c.Status != metav1.ConditionTrue })
	if succeeded && request.Applied && atRest(&s.Status) {
		s.OperatorLastSuccessfulVersion = v.Options.OperatorVersion
	}
	return append(append(warnings(k, v, &decided), available(v)), own...)
}

// Equal compares the fields that Project sets.
func Equal(a, b *kafkav1beta2.Kafka) bool {
	x, y := &a.Status, &b.Status
	return x.KafkaVersion == y.KafkaVersion && x.KafkaMetadataVersion == y.KafkaMetadataVersion && x.ClusterID == y.ClusterID &&
		x.OperatorLastSuccessfulVersion == y.OperatorLastSuccessfulVersion && slices.Equal(x.NodeIDs, y.NodeIDs) &&
		slices.Equal(x.KafkaNodePools, y.KafkaNodePools) &&
		slices.EqualFunc(x.Listeners, y.Listeners, listenerEqual)
}

func listenerEqual(a, b kafkav1beta2.ListenerStatus) bool {
	return a.Name == b.Name && a.Type == b.Type && a.BootstrapServers == b.BootstrapServers && slices.Equal(a.Addresses, b.Addresses) &&
		slices.Equal(a.Certificates, b.Certificates)
}

// versionOfAll returns the version on which every desired node, controllers included, has a ready pod. It returns false during a
// roll, and for a cluster without a ready controller, whose pool may be gone.
func versionOfAll(v *observation.Snapshot) (string, bool) {
	version := ""
	if observation.CountReady(v).Controllers == 0 {
		return "", false
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Wanted {
			continue
		}
		if !n.Pod.Ready || n.Pod.Version == "" || version != "" && n.Pod.Version != version {
			return "", false
		}
		version = n.Pod.Version
	}
	return version, version != ""
}

// finalizedLevel returns the metadata version that Kafka reports.
func finalizedLevel(v *observation.Snapshot) (string, bool) {
	if !v.Features.Asked() {
		return "", false
	}
	features, known := v.Features.Get()
	if !known {
		return "", false
	}
	level := features.Level(versions.FeatureMetadata)
	if name, named := versions.MetadataName(level); named {
		return name, true
	}
	return fmt.Sprintf("level %d", level), level > 0
}

// nodeIDs adds the ids of all nodes. An id is removed only when it is released.
func nodeIDs(old []int32, v *observation.Snapshot) []int32 {
	old = withoutReleased(old, v)
	complete := true
	for i := range v.Nodes {
		_, known := slices.BinarySearch(old, v.Nodes[i].ID)
		complete = complete && known
	}
	for i := range old {
		complete = complete && (i == 0 || old[i-1] < old[i])
	}
	if complete {
		return old
	}
	ids := slices.Clone(old)
	for i := range v.Nodes {
		ids = append(ids, v.Nodes[i].ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func usedPools(old []kafkav1beta2.UsedNodePool, v *observation.Snapshot) []kafkav1beta2.UsedNodePool {
	if len(v.Objects.Pools) == 0 {
		return old
	}
	if slices.EqualFunc(old, v.Objects.Pools, func(a kafkav1beta2.UsedNodePool, p *kafkav1beta2.KafkaNodePool) bool { return a.Name == p.Name }) {
		return old
	}
	out := make([]kafkav1beta2.UsedNodePool, len(v.Objects.Pools))
	for i, p := range v.Objects.Pools {
		out[i].Name = p.Name
	}
	return out
}

// available reports whether clients can use the cluster: a broker and a majority of the controllers are ready.
func available(v *observation.Snapshot) metav1.Condition {
	ready := observation.CountReady(v)
	if ready.Serves() {
		return metav1.Condition{Type: Available, Status: metav1.ConditionTrue, Reason: "QuorumAndBrokers", Message: "brokers and a majority of the controllers are ready"}
	}
	return metav1.Condition{
		Type: Available, Status: metav1.ConditionFalse, Reason: "NotServing",
		Message: fmt.Sprintf("%d brokers and %d of %d controllers are ready", ready.Brokers, ready.Controllers, ready.Voters),
	}
}

// podsReady sets Ready to false while a desired node has no ready pod, or no id yet, independently of the lifecycles.
func podsReady(v *observation.Snapshot) metav1.Condition {
	var down []string
	for i := range v.IDs.Pools {
		if a := &v.IDs.Pools[i]; a.Withheld > 0 {
			down = append(down, fmt.Sprintf("%d new nodes of KafkaNodePool %s (without a node id)", a.Withheld, a.Pool))
		}
	}
	wanted := 0
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Wanted {
			wanted++
			if !n.Pod.Ready {
				name := n.PodName
				if n.Pod.Trouble != nil {
					name += " (" + n.Pod.Trouble.Message + ")"
				}
				down = append(down, name)
			}
		}
	}
	if len(down) == 0 && wanted > 0 {
		return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionTrue, Reason: "PodsReady"}
	}
	message := "not ready: " + roll.Names(down)
	if wanted == 0 {
		message = "no node exists yet"
	}
	return metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: "PodsNotReady", Message: message}
}

// atRest reports whether every lifecycle of the resource is at rest.
func atRest(s *lifecyclev1.Status) bool {
	rests := map[string]string{observation.LifecycleVersion: kafkaversion.Settled, observation.LifecycleRoll: noderoll.Settled, observation.LifecycleStorage: nodestorage.Intact,
		observation.LifecycleScaleDown: kraftscaledown.Steady, observation.LifecycleConfiguration: dynamicconfig.Settled}
	for i := range s.Lifecycles {
		if e := &s.Lifecycles[i]; rests[e.Name] == e.State {
			delete(rests, e.Name)
		}
	}
	return len(rests) == 0
}

// versionSettled is the condition that a user waits for after a version change.
func versionSettled(k *kafkav1beta2.Kafka, v *observation.Snapshot, decided *decision.Decision) metav1.Condition {
	c := metav1.Condition{Type: VersionSettled, Status: metav1.ConditionFalse}
	wanted := observation.WantedVersion(k, v)
	for i := range k.Status.Lifecycles {
		if e := &k.Status.Lifecycles[i]; e.Name == observation.LifecycleVersion && e.State != kafkaversion.Settled {
			c.Reason, c.Message = e.State, "the version change is in state "+e.State
			return c
		}
	}
	if version, ok := versionOfAll(v); !ok || version != wanted {
		c.Reason, c.Message = "NodesNotOnVersion", "no ready pod on version "+wanted+": "+notOnVersion(v, wanted)
		return c
	}
	return levelsSettled(k, v, decided, c)
}

// notOnVersion returns the nodes without a ready pod on the version.
func notOnVersion(v *observation.Snapshot, version string) string {
	var pods []string
	wanted := false
	for i := range v.Nodes {
		wanted = wanted || v.Nodes[i].Wanted
		if n := &v.Nodes[i]; n.Wanted && (!n.Pod.Ready || n.Pod.Version != version) {
			pods = append(pods, n.PodName)
		}
	}
	switch {
	case !wanted:
		return "no node exists yet"
	case len(pods) == 0:
		return "no controller is ready"
	}
	return roll.Names(pods)
}

const reasonStaleRegistration = "StaleRegistration"

// levelsSettled keeps what the last answers of Kafka showed, until there are others: a new process has none at first.
func levelsSettled(k *kafkav1beta2.Kafka, v *observation.Snapshot, decided *decision.Decision, c metav1.Condition) metav1.Condition {
	old := meta.FindStatusCondition(k.Status.Conditions, VersionSettled)
	_, readable := observation.Known(v.Features)
	brokers, listed := observation.Known(v.Brokers)
	if !readable || !listed {
		if old != nil && (old.Status == metav1.ConditionTrue || old.Reason == reasonStaleRegistration) && k.Status.ObservedGeneration == k.Generation {
			return metav1.Condition{Type: VersionSettled, Status: old.Status, Reason: old.Reason, Message: old.Message}
		}
		c.Reason, c.Message = "LevelsUnreadable", "Kafka has not been asked for its feature levels and registrations, or has not answered"
		return c
	}
	if !decided.Settled() {
		c.Reason, c.Message = "MetadataNotSettled", "metadata.version does not match the spec: "+decided.Message
		return c
	}
	if stale := staleRegistrations(v, brokers.IDs()); len(stale) > 0 {
		c.Reason, c.Message = reasonStaleRegistration, "still registered although not wanted: "+strings.Join(stale, ", ")
		return c
	}
	level, _ := finalizedLevel(v)
	c.Status, c.Reason, c.Message = metav1.ConditionTrue, "Settled", fmt.Sprintf("every node runs %s at metadata version %s", observation.WantedVersion(k, v), level)
	return c
}

// staleRegistrations returns the ids of registered brokers that are not desired and have no process: nothing else is left of them, their
// pod is gone, or it runs without the broker role. A broker that leaves and still runs is like any other.
func staleRegistrations(v *observation.Snapshot, registered []int32) []string {
	var stale []string
	for _, id := range registered {
		n := v.Node(id)
		if n == nil || !n.Wanted && !n.Pod.Exists || n.Removal() == observation.Demoted && !v.RunsAsBroker(n) {
			stale = append(stale, fmt.Sprint(id))
		}
	}
	return stale
}

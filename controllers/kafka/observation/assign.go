package observation

import (
	"slices"
	"strings"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// assign computes the ids of the pools, and the nodes of the snapshot. In a cluster that may have registrations that no other
// source lists, it creates nodes only on ids that Kafka reports as unknown.
func (d *deriver) assign() {
	pools, kafka := d.pools(), d.snapshot.registry()
	d.snapshot.IDs = nodeids.Assign(pools, nodeids.Reserved{Remembered: d.remembered(), Known: slices.Concat(d.kept(), kafka.ids)})
	d.snapshot.asksForIDs = d.registers() && d.snapshot.IDs.Creates()
	if d.snapshot.asksForIDs && kafka.missing {
		d.snapshot.IDs = d.snapshot.IDs.Withhold(pools, kafka.problem())
	}
	d.decideWanted()
	d.snapshot.Nodes = slices.DeleteFunc(slices.Clone(d.nodes), func(n Node) bool { return !n.Wanted && !n.exists() })
}

// pools returns the input of the id assignment.
func (d *deriver) pools() []nodeids.Pool {
	frozen := slices.ContainsFunc(d.nodes, started)
	out := make([]nodeids.Pool, 0, len(d.snapshot.Objects.Pools))
	for _, pool := range d.snapshot.Objects.Pools {
		p := nodeids.Pool{
			Name: pool.Name, Replicas: int(pool.Spec.Replicas), Controllers: pool.Spec.HasRole(kafkav1beta2.RoleController),
			Next: pool.Annotations[labels.NextNodeIDs], Remove: pool.Annotations[labels.RemoveNodeIDs],
		}
		if pool.DeletionTimestamp != nil {
			p.Replicas = 0
		}
		if frozen && (p.Controllers || d.wereControllers(pool.Name)) {
			p.Frozen = transitions.Problemf(nodeids.ReasonFrozen, "the controllers of a cluster that was started are its voters, and a static quorum cannot change them")
		}
		for i := range d.nodes {
			n := &d.nodes[i]
			if n.Pool != pool.Name {
				continue
			}
			p.IDs = append(p.IDs, n.ID)
			switch {
			case !n.exists():
				p.Unproven = append(p.Unproven, n.ID)
			case n.Recorded && n.Record.Leaving:
				p.Leaving = append(p.Leaving, n.ID)
			}
		}
		p.IDs = append(p.IDs, d.twice[pool.Name]...)
		out = append(out, p)
	}
	return out
}

// wereControllers reports whether a node of the pool runs or has run as a controller: it remains a voter if its pool loses the role.
func (d *deriver) wereControllers(pool string) bool {
	return slices.ContainsFunc(d.nodes, func(n Node) bool { return n.Pool == pool && n.WasController() })
}

// remembered returns ids that no new node gets: those of nodes of deleted pools, and those in the statuses of the cluster.
func (d *deriver) remembered() []int32 {
	out := slices.Concat(d.kafka.Status.NodeIDs, d.kafka.Status.RegisteredNodeIDs)
	for i := range d.nodes {
		out = append(out, d.nodes[i].ID)
	}
	return out
}

// kept returns the ids of all claims, including claims that outlived their node or are being deleted.
func (d *deriver) kept() []int32 {
	var out []int32
	for _, claim := range d.snapshot.Objects.Claims {
		if id, ok := idFromClaim(claim.Name, d.kafka.Name, claim.Labels[labels.Pool]); ok {
			out = append(out, id)
		}
	}
	return out
}

// registers reports whether Kafka may know ids that no other source lists, because a broker of the cluster may have run. Before
// that no process could answer.
func (d *deriver) registers() bool {
	return slices.ContainsFunc(d.nodes, func(n Node) bool {
		if !d.brokers(&n) {
			return false
		}
		if n.Recorded {
			return n.Pod.Exists || n.Record.Started() || n.Record.Format == record.FormatDone
		}
		return n.Pod.Exists || n.HasClaims
	})
}

// brokers reports whether the node was, or may have been, a broker.
func (d *deriver) brokers(n *Node) bool {
	if n.RolesRunning.Broker || n.Recorded && n.Record.Has(kafkav1beta2.RoleBroker) {
		return true
	}
	pool := d.snapshot.Pool(n.Pool)
	return !n.Recorded && !n.Pod.Exists && pool != nil && pool.Spec.HasRole(kafkav1beta2.RoleBroker)
}

// registry returns the ids that Kafka knows, as far as they were read: the registered brokers, the voters and observers of the
// quorum, and the replicas of partitions. The latter include fenced brokers, which Kafka before 4.0 does not list.
func (v *Snapshot) registry() registry {
	var r registry
	if brokers, readable := read(&r, v.SeenBrokers, "its registered brokers"); readable {
		r.ids = append(r.ids, brokers.IDs()...)
	}
	if quorum, readable := read(&r, v.SeenQuorum, "the voters of its quorum"); readable {
		for _, replica := range slices.Concat(quorum.Voters, quorum.Observers) {
			r.ids = append(r.ids, replica.ID)
		}
	}
	if partitions, readable := read(&r, v.SeenPartitions, "the replicas of its partitions"); readable {
		for i := range partitions.Suspect {
			r.ids = append(r.ids, partitions.Suspect[i].Replicas...)
		}
	}
	return r
}

// registry is the set of node ids that Kafka knows.
type registry struct {
	ids []int32
	// missing is true if at least one list was not read.
	missing bool
	// unreadable names the lists that could not be read. Lists whose first answer is pending are not among them.
	unreadable []string
}

// read returns the value of a fact if it is known. Otherwise it marks the registry as incomplete.
func read[T any](r *registry, fact transitions.Fact[T], name string) (T, bool) {
	value, readable := Known(fact)
	r.missing = r.missing || !readable
	if !readable && fact.Asked() && !fact.Gap().Pending {
		r.unreadable = append(r.unreadable, name)
	}
	return value, readable
}

// problem describes what an assignment waits for. It is nil while an answer is pending, which needs no message.
func (r *registry) problem() *transitions.Problem {
	if len(r.unreadable) == 0 {
		return nil
	}
	return transitions.Problemf(nodeids.ReasonWithheld, "Kafka did not list %s, and an id that it still knows must not be assigned again. "+
		"The query is repeated every few seconds: see that a broker is ready and reachable", strings.Join(r.unreadable, ", "))
}

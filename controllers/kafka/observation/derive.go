package observation

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// deriver derives the nodes from the observed objects. It is a pure function of them.
type deriver struct {
	kafka    *kafkav1beta2.Kafka
	snapshot *Snapshot
	entries  *entryCache
	// records of the previous observation, and afterwards of this one.
	records []keptRecord
	// nodes by id. twice are ids that several pools claim, by the later pool.
	nodes []Node
	twice map[string][]int32
}

func (d *deriver) derive() {
	d.nodes = make([]Node, 0, len(d.snapshot.Objects.Pods)+len(d.snapshot.Objects.Claims))
	d.fromPodSets()
	d.fromPods()
	d.fromConfigMaps()
	d.refusedPods()
	d.fromClaims()
	d.fromPools()
	d.judge()
	slices.SortFunc(d.nodes, func(a, b Node) int { return int(a.ID) - int(b.ID) })
	d.snapshot.Identity = identify(d.kafka, &d.snapshot.Objects, d.nodes)
	d.assign()
}

// node returns the node of the pool and id, and adds it if it is new. If another pool has the id already, node records that and
// returns nil.
func (d *deriver) node(pool string, id int32) *Node {
	for i := range d.nodes {
		if n := &d.nodes[i]; n.ID == id {
			if n.Pool == pool {
				return n
			}
			if d.twice == nil {
				d.twice = map[string][]int32{}
			}
			d.twice[pool] = append(d.twice[pool], id)
			return nil
		}
	}
	d.nodes = append(d.nodes, Node{ID: id, Pool: pool, PodName: PodName(d.kafka.Name, pool, id), MetadataStorage: StoragePersistent})
	return &d.nodes[len(d.nodes)-1]
}

// owner returns the node that an object belongs to, by its labels and its name, which parse reads. An object under another name is a
// defect and not of the node: a copy, such as a backup, must not take the place of what it was copied from.
func (d *deriver) owner(o client.Object, parse func(name, cluster, pool string) (int32, bool)) *Node {
	pool := o.GetLabels()[labels.Pool]
	if pool == "" {
		return nil
	}
	id, ok := parse(o.GetName(), d.kafka.Name, pool)
	if !ok {
		d.defect("%T %s carries the label of pool %s and is not named after one of its nodes", o, o.GetName(), pool)
		return nil
	}
	return d.node(pool, id)
}

func (d *deriver) defect(format string, args ...any) {
	d.snapshot.Defects = append(d.snapshot.Defects, fmt.Sprintf(format, args...))
}

// fromPodSets reads the entries of the nodes. The pool of a set is known by its name: Repair restores a set by the same name, and a label
// that was edited must not make its entries look lost. Of two entries of a pod the first counts, as for the controller of StrimziPodSets.
func (d *deriver) fromPodSets() {
	lists := d.entries.summaries(d.kafka.UID, d.snapshot.Objects.PodSets)
	for k, set := range d.snapshot.Objects.PodSets {
		pool, ok := strings.CutPrefix(set.Name, render.PodSetName(d.kafka.Name, ""))
		if !ok || pool == "" {
			d.defect("StrimziPodSet %s carries the label of Kafka %s and is not named after one of its pools", set.Name, d.kafka.Name)
			continue
		}
		for i, s := range lists[k].summaries {
			if s.err != nil {
				d.defect("StrimziPodSet %s, entry %d: %s", set.Name, i, s.err)
				continue
			}
			id, ok := IDFrom(s.name, d.kafka.Name, pool)
			if !ok {
				d.defect("StrimziPodSet %s, entry %d: pod %q is not named after a node of pool %q", set.Name, i, s.name, pool)
				continue
			}
			switch n := d.node(pool, id); {
			case n == nil:
			case n.Entry.Exists:
				n.Entry.Repeated = true
			default:
				n.Entry = s.entry(lists[k].written[s.name])
			}
		}
	}
}

func (d *deriver) fromPods() {
	for _, pod := range d.snapshot.Objects.Pods {
		if n := d.owner(pod, IDFrom); n != nil {
			n.Pod = podFacts(pod, d.snapshot.Now)
			n.Pod.RestartDue = restarting.Due(pod, Named(d.snapshot.Objects.PodSets, render.PodSetName(d.kafka.Name, n.Pool)))
			if restarting.ReplacementRequested(pod) {
				n.Pod.ReplacementDue = len(PersistentVolumes(pod)) > 0
				n.Pod.RestartDue = n.Pod.RestartDue || !n.Pod.ReplacementDue // a restart empties its storage
			}
		}
	}
}

func (d *deriver) fromConfigMaps() {
	place := 0
	for _, m := range d.snapshot.Objects.ConfigMaps {
		if m.Labels[labels.Record] != labels.RecordNode {
			d.owner(m, IDFrom)
			continue
		}
		n := d.owner(m, idFromRecord)
		if n == nil {
			continue
		}
		d.records = decoded(d.records, place, m)
		r, err := d.records[place].record, d.records[place].err
		place++
		if err == nil && (r.ID != n.ID || r.Pool != n.Pool) {
			err = fmt.Errorf("it is of node %d of pool %q by its name, and of node %d of pool %q by its data", n.ID, n.Pool, r.ID, r.Pool)
		}
		if err != nil {
			d.defect("ConfigMap %s: %s", m.Name, err)
		}
		r.ID, r.Pool = n.ID, n.Pool
		n.Recorded, n.Record, n.RecordBroken = true, r, err != nil
	}
	d.records = d.records[:place]
}

func (d *deriver) fromClaims() {
	for _, claim := range d.snapshot.Objects.Claims {
		if claim.Annotations[labels.Released] == "true" {
			continue
		}
		if n := d.owner(claim, idFromClaim); n != nil && claim.DeletionTimestamp == nil {
			n.HasClaims = true
		}
	}
}

func (d *deriver) fromPools() {
	for _, pool := range d.snapshot.Objects.Pools {
		ids, _ := OfPoolStatus(d.kafka, pool)
		for _, id := range ids {
			if id < 0 {
				d.defect("the status of KafkaNodePool %s lists node id %d, which no node can have", pool.Name, id)
				continue
			}
			d.node(pool.Name, id)
		}
	}
}

// decideWanted marks the desired nodes and sets their roles. An assigned id that is not yet committed to its pool's status is not
// a node yet.
func (d *deriver) decideWanted() {
	for i := range d.nodes {
		n := &d.nodes[i]
		pool := d.snapshot.Pool(n.Pool)
		if pool == nil {
			n.Roles = settledRoles(n)
			continue
		}
		plan := d.snapshot.IDs.Of(n.Pool)
		n.Wanted, n.RolesWanted = slices.Contains(plan.Wanted, n.ID), Roles{}
		n.MetadataStorage = metadataStorage(&pool.Spec.Storage)
		if n.Wanted {
			n.RolesWanted = RolesOf(pool.Spec.Roles)
		}
		n.Roles = settledRoles(n)
	}
}

// settledRoles returns the roles with which a node is to run now. A controller that was stopped as a broker runs without that role
// until its record permits it again.
func settledRoles(n *Node) Roles {
	was := RolesOf(n.Record.Roles)
	if !n.Recorded {
		was = n.RolesRunning
	}
	if !(n.Recorded && n.Record.Started() || n.Pod.Exists) || was == (Roles{}) {
		if n.RolesWanted != (Roles{}) {
			return n.RolesWanted
		}
		return was
	}
	demoted := was.Controller && n.Recorded && n.Record.Stop
	return Roles{Controller: was.Controller, Broker: (was.Broker || n.RolesWanted.Broker) && !demoted}
}

// metadataStorage returns whether the metadata log of a pool's nodes outlives their pods.
func metadataStorage(s *kafkav1beta2.Storage) Storage {
	kind := kafkav1beta2.VolumeType(s.Type)
	if id, ok := s.MetadataVolume(); ok {
		for i := range s.Volumes {
			if s.Volumes[i].ID == id {
				kind = s.Volumes[i].Type
			}
		}
	}
	if kind == kafkav1beta2.VolumeEphemeral {
		return StorageEphemeral
	}
	return StoragePersistent
}

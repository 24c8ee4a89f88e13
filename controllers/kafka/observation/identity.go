package observation

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// keyClusterID is the key of the cluster id in the ConfigMaps that Strimzi creates for nodes.
const keyClusterID = "cluster.id"

// identify determines the cluster id. All sources of the id must agree. Without any source the id is derived from the resource's
// UID, so that a repeated reconcile chooses the same id.
func identify(kafka *kafkav1beta2.Kafka, o *Objects, nodes []Node) Identity {
	found := map[string]source{}
	add := func(id, kind, name string) {
		at := source{kind, name}
		if first, known := found[id]; id != "" && (!known || at.before(first)) {
			found[id] = at
		}
	}
	for i := range nodes {
		if nodes[i].Recorded {
			add(nodes[i].Record.ClusterID, "the record of ", nodes[i].PodName)
		}
	}
	for _, m := range o.ConfigMaps {
		add(m.Data[keyClusterID], "ConfigMap ", m.Name)
	}
	for _, claim := range o.Claims {
		add(claim.Annotations[labels.ClusterID], "PersistentVolumeClaim ", claim.Name)
	}
	for _, pool := range o.Pools {
		_, id := OfPoolStatus(kafka, pool)
		add(id, "the status of KafkaNodePool ", pool.Name)
	}
	add(kafka.Status.ClusterID, "the status of the Kafka", "")
	add(kafka.Annotations[labels.ClusterID], "annotation ", labels.ClusterID)
	switch len(found) {
	case 0:
		return Identity{ID: newClusterID(kafka)}
	case 1:
		for id := range found {
			return Identity{ID: id}
		}
	}
	var sources []string
	for id, at := range found {
		sources = append(sources, fmt.Sprintf("%s in %s", id, at.text()))
	}
	slices.Sort(sources)
	return Identity{Mismatch: transitions.Problemf("ClusterIDMismatch", "the cluster id is %s: only one of them can be that of this cluster's data. Remove the others from the objects that have them (of a status: kubectl edit --subresource=status), "+
		"or these objects if they are of another cluster; nothing is changed until then", strings.Join(sources, ", "))}
}

// source of a cluster id: the kind of the object and its name.
type source struct{ kind, name string }

func (s source) text() string { return s.kind + s.name }

func (s source) before(other source) bool {
	return s.kind < other.kind || s.kind == other.kind && s.name < other.name
}

// newClusterID creates an id in Kafka's own form: 16 bytes in URL-safe base 64. It does not begin with a dash, which a command
// line would read as an option.
func newClusterID(kafka *kafkav1beta2.Kafka) string {
	seed := cmp.Or(string(kafka.UID), kafka.Namespace+"/"+kafka.Name)
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte("cluster id " + strconv.Itoa(n) + " of " + seed))
		id := base64.RawURLEncoding.EncodeToString(sum[:16])
		if !strings.HasPrefix(id, "-") {
			return id
		}
	}
}

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
	said := map[string]string{}
	say := func(id, where string) {
		if first, known := said[id]; id != "" && (!known || where < first) {
			said[id] = where
		}
	}
	for i := range nodes {
		if nodes[i].Recorded {
			say(nodes[i].Record.ClusterID, "the record of "+nodes[i].PodName)
		}
	}
	for _, m := range o.ConfigMaps {
		say(m.Data[keyClusterID], "ConfigMap "+m.Name)
	}
	for _, claim := range o.Claims {
		say(claim.Annotations[labels.ClusterID], "PersistentVolumeClaim "+claim.Name)
	}
	for _, pool := range o.Pools {
		say(pool.Status.ClusterID, "the status of KafkaNodePool "+pool.Name)
	}
	say(kafka.Status.ClusterID, "the status of the Kafka")
	say(kafka.Annotations[labels.ClusterID], "annotation "+labels.ClusterID)
	switch len(said) {
	case 0:
		return Identity{ID: newClusterID(kafka)}
	case 1:
		for id := range said {
			return Identity{ID: id}
		}
	}
	var sources []string
	for id, where := range said {
		sources = append(sources, fmt.Sprintf("%s in %s", id, where))
	}
	slices.Sort(sources)
	return Identity{Mismatch: transitions.Problemf("ClusterIDMismatch", "the cluster id is %s", strings.Join(sources, ", "))}
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

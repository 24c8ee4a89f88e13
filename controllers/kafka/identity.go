package kafka

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
)

// keyClusterID is where Strimzi keeps the id in the ConfigMap of a node's configuration.
const keyClusterID = "cluster.id"

// identify finds out what the data of a cluster belongs to. Everything that remembers the id must agree; where nothing does,
// the id follows from the resource's UID, so that a pass that is cut short and the next one choose the same.
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
	return Identity{Mismatch: "the cluster id is " + strings.Join(sources, ", ")}
}

// newClusterID makes an id in the form that Kafka gives its own: 16 bytes in URL-safe base 64. One that begins with a dash
// would read as an option on a command line.
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

package observation

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/kafka/entryhash"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// entrySummary is the part of a StrimziPodSet entry that a reconcile uses.
type entrySummary struct {
	name              string
	version, revision string
	// hash of the entry.
	hash string
	// image of the Kafka container.
	image            string
	snapshotInterval time.Duration
	// configKeys are the keys of the node's ConfigMap that the pod mounts.
	configKeys []string
	// volumes are the ids of the volumes with a claim.
	volumes []int32
	// metadataLog is where the pod keeps the metadata log.
	metadataLog render.MetadataLog
	roles       Roles
	err         error
}

// entryCache caches summaries, because decoding an entry costs more than the rest of a reconcile at rest. The key is a hash of the
// whole content, so that a summary depends only on the content.
type entryCache struct {
	mu   sync.Mutex
	seen map[[sha256.Size]byte]*entrySummary
	// lists are the last lists of each cluster. At rest an informer's cache returns the same lists again, which need no hash.
	lists map[types.UID][]entryList
}

// entryList is the entries of one StrimziPodSet with their summaries.
type entryList struct {
	entries   []corev1beta2.PodEntry
	summaries []*entrySummary
	// written are the hashes of the entries as the operator wrote them, by the name of the pod, and hashes the annotation with them.
	written map[string]string
	hashes  string
}

// is reports whether the set has the very same list. A list is never modified after it was read.
func (l *entryList) is(set *corev1beta2.StrimziPodSet) bool {
	entries := set.Spec.Pods
	return len(l.entries) == len(entries) && (len(entries) == 0 || &l.entries[0] == &entries[0]) && l.hashes == set.Annotations[labels.ContentHashes]
}

// summaries returns the summaries of the entries of each set.
func (c *entryCache) summaries(cluster types.UID, sets []*corev1beta2.StrimziPodSet) []entryList {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.lists[cluster]
	if slices.EqualFunc(old, sets, func(l entryList, set *corev1beta2.StrimziPodSet) bool { return l.is(set) }) {
		return old
	}
	lists := make([]entryList, len(sets))
	for i, set := range sets {
		if i < len(old) && old[i].is(set) {
			lists[i] = old[i]
			continue
		}
		lists[i] = entryList{
			entries: set.Spec.Pods, summaries: make([]*entrySummary, len(set.Spec.Pods)),
			written: entryhash.Written(set), hashes: set.Annotations[labels.ContentHashes],
		}
		for k, entry := range set.Spec.Pods {
			lists[i].summaries[k] = c.summary(entry)
		}
	}
	if c.lists == nil || len(c.lists) >= mostClusters {
		c.lists = map[types.UID][]entryList{}
	}
	c.lists[cluster] = lists
	return lists
}

// drop removes the lists of a cluster.
func (c *entryCache) drop(cluster types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.lists, cluster)
}

// mostEntries is the maximum size of the cache. It is emptied when full, because an order of use would not be worth its cost.
const mostEntries = 20000

// summary returns the summary of an entry. The caller holds the lock.
func (c *entryCache) summary(entry corev1beta2.PodEntry) *entrySummary {
	key := sha256.Sum256(entry.Raw)
	if s, ok := c.seen[key]; ok {
		return s
	}
	if c.seen == nil || len(c.seen) >= mostEntries {
		c.seen = map[[sha256.Size]byte]*entrySummary{}
	}
	s := summarise(entry)
	c.seen[key] = s
	return s
}

func summarise(entry corev1beta2.PodEntry) *entrySummary {
	pod := &corev1.Pod{}
	if err := json.Unmarshal(entry.Raw, pod); err != nil {
		return &entrySummary{err: fmt.Errorf("reading an entry: %w", err)}
	}
	s := &entrySummary{name: pod.Name, hash: entryhash.Of(entry), version: pod.Annotations[labels.KafkaVersion], revision: pod.Annotations[labels.Revision]}
	s.configKeys, s.roles = ConfigKeys(&pod.Spec, pod.Name), labelledRoles(pod.Labels)
	s.volumes, s.metadataLog = PersistentVolumes(pod), render.MetadataLogOf(&pod.Spec)
	s.image, s.snapshotInterval = kafkaImage(&pod.Spec), interval(pod.Annotations[labels.SnapshotInterval])
	return s
}

// entry returns the entry of the node. written is its hash as the operator wrote it, or empty.
func (s *entrySummary) entry(written string) Entry {
	return Entry{
		Exists: true, Edited: written != "" && written != s.hash, written: written, Version: s.version, Revision: s.revision,
		ConfigKeys: s.configKeys, Volumes: s.volumes, MetadataLog: s.metadataLog, roles: s.roles, image: s.image, snapshotInterval: s.snapshotInterval,
	}
}

// EveryKey represents all keys of a ConfigMap that is mounted as a whole.
const EveryKey = "*"

// ConfigKeys returns the keys of the node's ConfigMap that a pod mounts.
func ConfigKeys(spec *corev1.PodSpec, name string) []string { return AppendConfigKeys(nil, spec, name) }

// AppendConfigKeys appends what ConfigKeys returns.
func AppendConfigKeys(keys []string, spec *corev1.PodSpec, name string) []string {
	for i := range spec.Volumes {
		c := spec.Volumes[i].ConfigMap
		if c == nil || c.Name != name {
			continue
		}
		if len(c.Items) == 0 {
			keys = append(keys, EveryKey)
		}
		keys = slices.Grow(keys, len(c.Items))
		for _, item := range c.Items {
			keys = append(keys, item.Key)
		}
	}
	return keys
}

// PodName returns the name of a node's pod.
func PodName(cluster, pool string, id int32) string {
	return cluster + "-" + pool + "-" + strconv.Itoa(int(id))
}

// IDFrom parses the node id from the name of a pod. It returns false for every name that PodName does not return for the cluster and
// pool, such as that of a copy under a prefix.
func IDFrom(name, cluster, pool string) (int32, bool) {
	prefix, id, ok := cutPodName(name, cluster, pool)
	return id, ok && prefix == ""
}

// idFromRecord parses the node id from the name of the ConfigMap with a node's record.
func idFromRecord(name, cluster, pool string) (int32, bool) {
	pod, is := strings.CutSuffix(name, record.Name(""))
	id, ok := IDFrom(pod, cluster, pool)
	return id, is && ok
}

// idFromClaim parses the node id from the name of a claim: that of the pod with a prefix for the volume.
func idFromClaim(name, cluster, pool string) (int32, bool) {
	prefix, id, ok := cutPodName(name, cluster, pool)
	return id, ok && (prefix == "" || strings.HasSuffix(prefix, "-"))
}

// cutPodName parses a name that ends with the name of a pod, and returns what precedes that.
func cutPodName(name, cluster, pool string) (prefix string, id int32, ok bool) {
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return "", 0, false
	}
	number, err := strconv.ParseInt(name[dash+1:], 10, 32)
	prefix, fits := strings.CutSuffix(name[:dash], pool)
	prefix, belongs := strings.CutSuffix(prefix, "-")
	prefix, is := strings.CutSuffix(prefix, cluster)
	if err != nil || number < 0 || strconv.Itoa(int(number)) != name[dash+1:] || !fits || !belongs || !is {
		return "", 0, false
	}
	return prefix, int32(number), true
}

package connect

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	client "github.com/detent-dev/detent/clients/connect"
)

// connector is one connector. It stays when it is deleted, because its offsets do.
type connector struct {
	name    string
	deleted bool
	config  map[string]string
	// target is the requested state, state the published one.
	target, state client.State
	// failed means that the connector has failed and its tasks go on. It publishes no requested state before it is restarted.
	failed bool
	owner  int
	// configured is the number of configured tasks; tasks are the published states by id.
	configured int
	tasks      []task
	// cursors are the positions in the partitions of the source topic.
	cursors  []cursor
	mirrored int64
	// offsets are the committed offsets by partition, both in canonical JSON.
	offsets map[string]string
}

type task struct {
	worker int
	state  client.State
}

// cursor is the position of a task in one partition.
type cursor struct {
	worker          int
	reading         bool
	next, committed int64
}

// class is the name of the connector's class without its package.
func (k *connector) class() string {
	full := k.config["connector.class"]
	return full[strings.LastIndex(full, ".")+1:]
}

// partition is the canonical JSON of a partition of the source topic.
func (k *connector) partition(p int) string {
	return fmt.Sprintf(`{"cluster":%q,"partition":%d,"topic":%q}`, k.config["source.cluster.alias"], p, k.config["topics"])
}

// follow publishes the requested state.
func (k *connector) follow() {
	k.state = k.target
	if k.failed && k.target != client.Stopped {
		k.state = client.Failed
	}
}

// restart restarts the connector.
func (k *connector) restart() Answer {
	k.failed = false
	return success(http.StatusAccepted, k.status())
}

// wantedTasks is the number of tasks that the connector generates.
func (k *connector) wantedTasks(partitions int) int {
	most, err := strconv.Atoi(k.config["tasks.max"])
	if err != nil || most < 1 {
		most = 1
	}
	if k.class() != "MirrorSourceConnector" {
		return 1
	}
	return min(most, partitions)
}

// assign ends revoked tasks and starts the configured ones on the workers.
func (k *connector) assign(up []int) {
	for p := range k.cursors {
		if k.cursors[p].reading && slices.Contains(up, k.cursors[p].worker) {
			k.commit(p)
		}
	}
	k.tasks = k.tasks[:0]
	for id := range k.configured {
		k.tasks = append(k.tasks, task{worker: up[id%len(up)], state: k.target})
	}
	for p := range k.cursors {
		cur := &k.cursors[p]
		if k.configured == 0 || k.target != client.Running {
			cur.reading = false
			continue
		}
		worker := k.tasks[p%k.configured].worker
		if !cur.reading || cur.worker != worker {
			cur.next = k.stored(p)
			cur.committed = cur.next
		}
		cur.worker, cur.reading = worker, true
	}
}

// stored returns the position after the committed offset of a partition: the offset is that of the last record that was mirrored.
func (k *connector) stored(p int) int64 {
	var o struct {
		Offset *int64 `json:"offset"`
	}
	if err := json.Unmarshal([]byte(k.offsets[k.partition(p)]), &o); err != nil || o.Offset == nil {
		return 0
	}
	return *o.Offset + 1
}

// commit commits the offset of a partition.
func (k *connector) commit(p int) {
	if cur := &k.cursors[p]; cur.reading && cur.next > cur.committed {
		k.offsets[k.partition(p)], cur.committed = offsetOf(cur.next-1), cur.next
	}
}

// document is Connect's answer with all offsets.
func (k *connector) document() string {
	var entries []string
	for _, p := range slices.Sorted(maps.Keys(k.offsets)) {
		entries = append(entries, `{"partition":`+p+`,"offset":`+k.offsets[p]+`}`)
	}
	return `{"offsets":[` + strings.Join(entries, ",") + `]}`
}

// validate returns why the connector rejects an offset, or "".
func (k *connector) validate(offsets client.Offsets) string {
	keys := map[string][]string{
		"MirrorSourceConnector": {"cluster", "topic"}, "MirrorCheckpointConnector": {"group", "topic"}, "MirrorHeartbeatConnector": {"sourceClusterAlias", "targetClusterAlias"},
	}[k.class()]
	for _, partition := range slices.Sorted(maps.Keys(offsets)) {
		fields := decode(partition)
		if problem := invalidPartition(partition, fields, keys, k.class() != "MirrorHeartbeatConnector"); problem != "" {
			return problem
		}
		if problem := invalidOffset(partition, offsets[partition], k.class() != "MirrorSourceConnector"); problem != "" {
			return problem
		}
	}
	return ""
}

func decode(object string) map[string]any {
	fields := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(object))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil
	}
	return fields
}

func invalidPartition(partition string, fields map[string]any, texts []string, numbered bool) string {
	for _, key := range texts {
		value, found := fields[key]
		if _, text := value.(string); !found {
			return missing("Source partition "+partition, key)
		} else if !text {
			return fmt.Sprintf("Source partition %s has an invalid value %v for the '%s' key, which must be a string", partition, value, key)
		}
	}
	if !numbered {
		return ""
	}
	value, found := fields["partition"]
	if !found {
		return missing("Source partition "+partition, "partition")
	}
	return invalidNumber("Source partition "+partition, "partition", value, 32)
}

func invalidOffset(partition, offset string, onlyZero bool) string {
	if offset == "null" {
		return ""
	}
	what := "Source offset " + offset + " for source partition " + partition
	value, found := decode(offset)["offset"]
	if !found {
		return missing(what, "offset")
	}
	if number, ok := value.(json.Number); ok && onlyZero && number != "0" && !strings.ContainsAny(string(number), ".eE") {
		return fmt.Sprintf("%s has an invalid value %s for the 'offset' key; the only accepted value is 0", what, number)
	}
	return invalidNumber(what, "offset", value, 64)
}

func missing(what, key string) string {
	return fmt.Sprintf("%s is missing the '%s' key, which is required", what, key)
}

func invalidNumber(what, key string, value any, bits int) string {
	number, ok := value.(json.Number)
	n, err := strconv.ParseInt(string(number), 10, bits)
	switch {
	case !ok || err != nil:
		return fmt.Sprintf("%s has an invalid value %v for the '%s' key, which must be an integer", what, value, key)
	case n < 0:
		return fmt.Sprintf("%s has an invalid value %v for the '%s' key, which cannot be negative", what, value, key)
	default:
		return ""
	}
}

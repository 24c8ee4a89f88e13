// Package keep is what is kept of offsets in ConfigMaps: the records of requests, the offsets from before a change, and the entries of a
// list. Records and kept offsets have no owner: they outlive the resource, because the offsets in Kafka do.
package keep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

const (
	// Annotation shows the ids of the requests that the annotations of the user made, with commas between them.
	Annotation = labels.OffsetsRequest
	// mostBytes is the size of a ConfigMap's data that is used at most. Kubernetes allows 1 MiB, and the names of the entries need some of it.
	mostBytes = 1<<20 - 4096
	// most is how many documents are kept for each connector.
	most = 3
)

// Reasons of documents that are too large.
const (
	ReasonList transitions.Reason = "ListOffsets"
	ReasonKeep transitions.Reason = "KeepOffsets"
)

// Key is the key of the record of a connector.
func Key(connector string) string { return strings.TrimSuffix(connect.EntryName(connector), ".json") }

// Digest is the SHA-256 of a text in hexadecimal digits.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Shown returns the ids that the annotation shows.
func Shown(annotations map[string]string) []string {
	if annotations[Annotation] == "" {
		return nil
	}
	return strings.Split(annotations[Annotation], ",")
}

// Records returns the records of the connectors. The error names the first that cannot be read; it is missing.
func Records(stored *corev1.ConfigMap, connectors []kafkav1beta2.NamedConnector) (map[string]connectoroffsets.Record, error) {
	out := make(map[string]connectoroffsets.Record, len(connectors))
	if stored == nil {
		return out, nil
	}
	var problem error
	for _, c := range connectors {
		record, err := connectoroffsets.ReadRecord(stored.Data, Key(c.Name))
		if err != nil && problem == nil {
			problem = err
		}
		out[c.Name] = record
	}
	return out, problem
}

// Document is what was kept of one request.
type Document struct {
	// ID of the request.
	ID string `json:"id"`
	// Offsets from before it.
	Offsets string `json:"-"`
	// Requested is the body of an alter.
	Requested string `json:"-"`
}

// index is the annotation of the ConfigMap that lists the ids of each connector's documents, the newest first.
const index = "detent.dev/kept"

func indexed(m *corev1.ConfigMap) map[string][]string {
	out := map[string][]string{}
	if m != nil {
		_ = json.Unmarshal([]byte(m.Annotations[index]), &out) // one that cannot be read lists nothing: the offsets are kept again
	}
	return out
}

// entryKey is the key of a connector's document: the newest has the name of the entry of an alter.
func entryKey(connector string, place int) string {
	if place == 0 {
		return connect.EntryName(connector)
	}
	return Key(connector) + "." + string(rune('0'+place)) + ".json"
}

func requestedKey(connector string) string { return Key(connector) + ".requested.json" }

// Of returns what was kept of a request.
func Of(m *corev1.ConfigMap, connector, id string) (Document, bool) {
	place := slices.Index(indexed(m)[connector], id)
	if place < 0 || id == "" {
		return Document{}, false
	}
	text, found := m.Data[entryKey(connector, place)]
	d := Document{ID: id, Offsets: text}
	if place == 0 {
		d.Requested = m.Data[requestedKey(connector)]
	}
	return d, found
}

// Put adds what is kept of a request. It replaces what was kept of the same request. The connector's oldest documents are dropped, to three
// and to what fits.
func Put(m *corev1.ConfigMap, connector string, d Document) {
	ids := indexed(m)
	if m.Data == nil {
		m.Data = map[string]string{}
	}
	if list := ids[connector]; len(list) > 0 && list[0] == d.ID {
		ids[connector] = list[1:]
	} else {
		for place := min(len(list), most-1); place > 0; place-- {
			m.Data[entryKey(connector, place)] = m.Data[entryKey(connector, place-1)]
		}
	}
	m.Data[entryKey(connector, 0)] = d.Offsets
	delete(m.Data, requestedKey(connector))
	if d.Requested != "" {
		m.Data[requestedKey(connector)] = d.Requested
	}
	list := append([]string{d.ID}, ids[connector]...)
	ids[connector] = list[:min(len(list), most)]
	for n := len(ids[connector]); n > 1 && size(m, "") > mostBytes; n-- { // older ones make room
		delete(m.Data, entryKey(connector, n-1))
		ids[connector] = ids[connector][:n-1]
	}
	if size(m, "") > mostBytes { // the body is kept for the case that the user removes it while it is being verified
		delete(m.Data, requestedKey(connector))
	}
	text, err := json.Marshal(ids)
	if err != nil {
		panic(err) // texts always encode
	}
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[index] = string(text)
}

// Undo changes a copy of the ConfigMap for an alter that restores kept offsets. The body of a request that is recorded stays the entry
// until the request is released, although what the request replaced is kept under the same key: otherwise the same annotations would
// request that the restore is reversed. A request without effect is not released: it has replaced nothing.
func Undo(m *corev1.ConfigMap, records map[string]connectoroffsets.Record) {
	for connector, r := range records {
		if r.Operation != connectoroffsets.Alter || r.Released {
			continue
		}
		for place := range most {
			if text, found := m.Data[entryKey(connector, place)]; found && Digest(text) == r.Digest {
				m.Data[entryKey(connector, 0)] = text
			}
		}
	}
}

// Entry returns the entry that a list writes for the offsets that Connect answered, or why it does not fit into the ConfigMap with what
// else that holds. It is indented, unless only compact JSON fits.
func Entry(m *corev1.ConfigMap, connector, document string) (string, *transitions.Problem) {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(document), "", "  "); err != nil {
		return document, nil // it was read as offsets before
	}
	out.WriteByte('\n')
	other := size(m, connect.EntryName(connector))
	if other+out.Len() <= mostBytes {
		return out.String(), nil
	}
	compact, err := connect.Compact(document)
	if err != nil {
		return document, nil // as above
	}
	if other+len(compact) > mostBytes {
		return compact, transitions.Problemf(ReasonList, "Failed to list the connector offsets for %s due to the offsets having %d bytes, beside %d bytes of other entries: a ConfigMap holds at most %d. "+
			"Nothing was written. Name another ConfigMap in listOffsets, or reduce the number of partitions.", connector, len(compact), other, mostBytes)
	}
	return compact, nil
}

// Fits returns the offsets as they are kept before a change, or why they do not fit.
func Fits(m *corev1.ConfigMap, connector, document, body string, operation connectoroffsets.Operation) (string, *transitions.Problem) {
	compact, err := connect.Compact(document)
	if err != nil {
		return document, nil // it was read as offsets before
	}
	next := &corev1.ConfigMap{}
	if m != nil {
		next = m.DeepCopy()
	}
	Put(next, connector, Document{ID: "-", Offsets: compact, Requested: body})
	if total := size(next, ""); total > mostBytes {
		return compact, transitions.Problemf(ReasonKeep, "Failed to %s the connector offsets for %s due to the present offsets not fitting into the ConfigMap in which they are kept: it would have %d bytes, and a ConfigMap holds at most %d. "+
			"Nothing was changed. Remove entries of that ConfigMap.", operation, connector, total, mostBytes)
	}
	return compact, nil
}

// size returns the size of the entries but one.
func size(m *corev1.ConfigMap, but string) int {
	n := 0
	if m == nil {
		return 0
	}
	for key, text := range m.Data {
		if key != but {
			n += len(key) + len(text)
		}
	}
	for key, data := range m.BinaryData {
		n += len(key) + len(data)
	}
	for key, text := range m.Annotations {
		n += len(key) + len(text)
	}
	return n
}

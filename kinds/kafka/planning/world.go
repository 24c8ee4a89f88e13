package planning

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/internal/plan"
)

// World are the sections of the World document about Kafka.
type World struct {
	// Versions replace the built-in table of versions, in section kafkaVersions. They have the format of the rows of the table's file.
	Versions []map[string]any
	// Clusters by the name of the Kafka resource, in section kafka.
	Clusters map[string]KafkaWorld
	// Table of the versions: the document's, or the built-in one.
	Table *versions.Table
}

func readWorld(d *plan.Document) plan.Section {
	w := &World{Clusters: plan.Entries[KafkaWorld](d, "kafka")}
	d.Take("kafkaVersions", &w.Versions)
	return w
}

// KafkaWorld describes the answers of one Kafka cluster.
type KafkaWorld struct {
	// MetadataVersion is the finalized metadata.version, such as 4.0-IV3.
	MetadataVersion string `json:"metadataVersion,omitempty"`
	// RegisteredBrokers are the ids of registered brokers, including brokers without a pod.
	RegisteredBrokers []int32 `json:"registeredBrokers,omitempty"`
	// Replicas is the number of partition replicas that a broker still holds, by its id.
	Replicas map[string]int32 `json:"replicas,omitempty"`
	Refuse   Refusals         `json:"refuse,omitzero"`
	// Unreachable makes every request to the cluster fail.
	Unreachable bool `json:"unreachable,omitempty"`
	// OutOfSync are the replicas that stay out of the ISR: broker ids by partition, which is written as topic-index.
	OutOfSync map[string][]int32 `json:"outOfSync,omitempty"`
	// Lag is how many milliseconds a controller is behind the leader, by its id.
	Lag map[string]int64 `json:"lag,omitempty"`
	// Features that are finalized in addition to metadata.version.
	Features map[string]int16 `json:"features,omitempty"`
	// LogHolds are the levels that a node's log still replays in addition to the finalized ones, by node id and feature.
	LogHolds map[string]map[string]Level `json:"logHolds,omitempty"`
	// Fenced are registered brokers without a live session.
	Fenced []int32 `json:"fenced,omitempty"`
}

// Refusals are requests that Kafka rejects, in the form "ERROR_CODE: message".
type Refusals struct {
	UpdateFeatures string `json:"updateFeatures,omitempty"`
	// UnregisterBroker by broker id.
	UnregisterBroker map[string]string `json:"unregisterBroker,omitempty"`
}

// Level is a feature level: a number, or a name of metadata.version.
type Level struct {
	Number int16
	Name   string
	// invalid is the text that is neither a number nor a name.
	invalid string
}

// UnmarshalJSON decodes a number or a name. Any other value gives an error only in the method of, whose caller can name the field.
func (l *Level) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &l.Name)
	}
	if n, err := strconv.ParseInt(string(text), 10, 16); err == nil && n >= 0 {
		l.Number = int16(n)
	} else {
		l.invalid = string(text)
	}
	return nil
}

// of returns the level of the feature. Only metadata.version has named levels.
func (l Level) of(feature string) (int16, error) {
	switch {
	case l.invalid != "":
		return 0, fmt.Errorf("%s is not a feature level: write a number, or a name such as 4.1-IV1 for metadata.version", l.invalid)
	case l.Name == "":
		return l.Number, nil
	}
	if feature != versions.FeatureMetadata {
		return 0, fmt.Errorf("%q is not a level of %s: write a number", l.Name, feature)
	}
	return metadataLevel(l.Name)
}

func metadataLevel(name string) (int16, error) {
	m, err := versions.ParseMetadata(name)
	if err != nil {
		return 0, err
	}
	level, known := m.Level()
	if !known {
		return 0, fmt.Errorf("no level of %q is known", name)
	}
	return level, nil
}

// Check implements plan.Section. It also reads the table of versions: the document's, else the built-in one.
func (w *World) Check(d *plan.Document, objects []string) error {
	if err := w.readTable(d); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(w.Clusters)) {
		c := checker{path: "kafka." + name}
		if !slices.Contains(objects, name) {
			c.fail("", "there is no Kafka of that name in the input: there are "+plan.Few(objects))
		}
		k := w.Clusters[name]
		c.kafka(&k)
		for _, p := range c.problems {
			d.Fail(p.field, p.text)
		}
	}
	return nil
}

func (w *World) readTable(d *plan.Document) error {
	if w.Versions == nil {
		table, err := versions.Embedded()
		w.Table = table
		return err
	}
	text, err := yaml.Marshal(w.Versions)
	if err != nil {
		return fmt.Errorf("reading kafkaVersions: %w", err)
	}
	w.Table, err = versions.Parse(text, "kafkaVersions")
	var broken *versions.TableError
	if !errors.As(err, &broken) {
		return err
	}
	for _, f := range broken.Findings {
		path := field.NewPath("kafkaVersions")
		if f.Row > 0 {
			path = path.Index(f.Row - 1)
		}
		if f.Field != "" {
			path = path.Child(f.Field)
		}
		d.Fail(path.String(), f.Problem)
	}
	return nil
}

// problem is one invalid field.
type problem struct{ field, text string }

type checker struct {
	path     string
	problems []problem
}

func (c *checker) fail(field, text string) {
	path := c.path
	if field != "" {
		path += "." + field
	}
	c.problems = append(c.problems, problem{path, text})
}

func (c *checker) kafka(k *KafkaWorld) {
	if k.MetadataVersion != "" {
		if _, err := metadataLevel(k.MetadataVersion); err != nil {
			c.fail("metadataVersion", err.Error())
		}
	}
	c.ids("registeredBrokers", k.RegisteredBrokers)
	c.ids("fenced", k.Fenced)
	for _, id := range k.Fenced {
		if k.RegisteredBrokers != nil && !slices.Contains(k.RegisteredBrokers, id) {
			c.fail("fenced", fmt.Sprintf("broker %d is fenced and not in registeredBrokers: only a registered broker can be fenced", id))
		}
	}
	for id, count := range k.Replicas {
		c.id("replicas", id)
		if count < 0 {
			c.fail("replicas."+id, "a number of replicas cannot be negative")
		}
	}
	for id, lag := range k.Lag {
		c.id("lag", id)
		if lag < 0 {
			c.fail("lag."+id, "a lag cannot be negative")
		}
	}
	c.refusals(&k.Refuse)
	for name, brokers := range k.OutOfSync {
		if _, _, err := partition(name); err != nil {
			c.fail("outOfSync."+name, err.Error())
		}
		c.ids("outOfSync."+name, brokers)
	}
	c.levels(k)
	slices.SortStableFunc(c.problems, func(a, b problem) int { return strings.Compare(a.field, b.field) })
}

func (c *checker) levels(k *KafkaWorld) {
	for name, level := range k.Features {
		switch {
		case name == versions.FeatureMetadata:
			c.fail("features."+name, "write it as metadataVersion")
		case level < 0:
			c.fail("features."+name, "a level cannot be negative")
		}
	}
	for id, held := range k.LogHolds {
		c.id("logHolds", id)
		for feature, level := range held {
			if _, err := level.of(feature); err != nil {
				c.fail("logHolds."+id+"."+feature, err.Error())
			}
		}
	}
}

func (c *checker) refusals(r *Refusals) {
	if r.UpdateFeatures != "" {
		if _, _, err := refusal(r.UpdateFeatures); err != nil {
			c.fail("refuse.updateFeatures", err.Error())
		}
	}
	for id, text := range r.UnregisterBroker {
		c.id("refuse.unregisterBroker", id)
		if _, _, err := refusal(text); err != nil {
			c.fail("refuse.unregisterBroker."+id, err.Error())
		}
	}
}

func (c *checker) ids(field string, ids []int32) {
	for i, id := range ids {
		switch {
		case id < 0:
			c.fail(field, fmt.Sprintf("%d is not a node id", id))
		case slices.Contains(ids[:i], id):
			c.fail(field, fmt.Sprintf("%d is listed twice", id))
		}
	}
}

func (c *checker) id(field, key string) {
	if _, err := nodeID(key); err != nil {
		c.fail(field+"."+key, err.Error())
	}
}

func nodeID(text string) (int32, error) {
	id, err := strconv.ParseInt(text, 10, 32)
	if err != nil || id < 0 {
		return 0, fmt.Errorf("%q is not a node id", text)
	}
	return int32(id), nil
}

// partition parses topic-index.
func partition(name string) (topic string, index int32, err error) {
	at := strings.LastIndex(name, "-")
	if at > 0 {
		n, err := strconv.ParseInt(name[at+1:], 10, 32)
		if err == nil && n >= 0 {
			return name[:at], int32(n), nil
		}
	}
	return "", 0, fmt.Errorf("%q is not a partition: write topic-index, such as orders-7", name)
}

// refusal parses "ERROR_CODE: message".
func refusal(text string) (code int16, message string, err error) {
	name, message, _ := strings.Cut(text, ":")
	code, known := kafka.CodeByName(strings.TrimSpace(name))
	if !known {
		return 0, "", fmt.Errorf("%q does not begin with an error code of Kafka: write one such as INVALID_UPDATE_VERSION: and Kafka's words", text)
	}
	return code, strings.TrimSpace(message), nil
}

package planning

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/simulator/kafka"
)

// finalized returns the level of metadata.version: from the World document, else from the status, else the highest level that every
// process supports. It returns 0 if the level of the name in the status is unknown: no other level may replace it.
func (b *background) finalized() int16 {
	if level, err := metadataLevel(b.declared.MetadataVersion); err == nil {
		return level
	}
	text := b.kafka.Status.KafkaMetadataVersion
	if text == "" {
		return b.lowest()
	}
	m, err := versions.ParseMetadata(text)
	switch level, known := m.Level(); {
	case err == nil && known:
		return level
	case err == nil && m.Newer():
		return versions.HighestMetadata + 1
	}
	return 0
}

// finalizedWhy returns the assumption about metadata.version and its source.
func (b *background) finalizedWhy() string {
	level, status := b.finalized(), b.kafka.Status.KafkaMetadataVersion
	_, named := versions.MetadataName(level)
	switch {
	case status == "":
		return fmt.Sprintf("Kafka has finalized metadata.version %s: the highest that every node runs", versions.FeatureLevelName(versions.FeatureMetadata, level))
	case level == 0:
		return fmt.Sprintf("Kafka does not report metadata.version: the status says %q, and no level of that name is known. Set metadataVersion in the World document", status)
	case !named:
		return fmt.Sprintf("Kafka has finalized a metadata.version above every known level: the status says %q, which is of a newer release", status)
	}
	return fmt.Sprintf("Kafka has finalized metadata.version %s: as the status says", versions.FeatureLevelName(versions.FeatureMetadata, level))
}

// lowest returns the highest level that all versions of the nodes support.
func (b *background) lowest() int16 {
	level := int16(0)
	for i := range b.snapshot.Nodes {
		v, err := b.section.Table.Find(b.versionOf(&b.snapshot.Nodes[i]))
		row, known := v.Row()
		if err != nil || !known {
			continue
		}
		if runs, named := row.Range(versions.FeatureMetadata); named && (level == 0 || runs.Max < level) {
			level = runs.Max
		}
	}
	if level > 0 {
		return level
	}
	for row := range b.section.Table.Rows() {
		if runs, named := row.Range(versions.FeatureMetadata); named {
			level = max(level, runs.Max)
		}
	}
	return level
}

// metadataName is the name of the finalized level; empty for a level without a name.
func (b *background) metadataName() string {
	name, _ := versions.MetadataName(b.finalized())
	return name
}

// answers applies the answers of the World document to the simulated cluster, and records an assumption for each answer that the
// document does not give.
func (b *background) answers(ran []process) error {
	b.levels()
	if err := b.registrations(ran); err != nil {
		return err
	}
	b.partitions(ran)
	b.logs()
	b.refusals()
	c := b.world.Kafka
	for id, lag := range b.declared.Lag {
		if n, err := nodeID(id); err == nil {
			c.SetVoterLag(n, lag)
		}
	}
	c.Unreachable = b.declared.Unreachable
	c.Tick(b.system.Now)
	return nil
}

// levels finalizes the feature levels, on processes that have run at these levels from their start.
func (b *background) levels() {
	c := b.world.Kafka
	want := map[string]int16{versions.FeatureMetadata: b.finalized()}
	for _, f := range c.Finalized {
		if _, said := want[f.Name]; !said {
			want[f.Name] = f.Level
		}
	}
	maps.Copy(want, b.declared.Features)
	c.Finalized = nil
	for _, name := range sortedKeys(want) {
		if want[name] > 0 {
			c.Finalized = append(c.Finalized, kafka.FeatureLevel{Name: name, Level: want[name]})
		}
	}
	for i := range c.Nodes {
		c.Nodes[i].Replays, c.Nodes[i].SnapshotAt = nil, 0
	}
	if b.declared.MetadataVersion == "" {
		b.env.Assume(b.name, "%s", b.finalizedWhy())
	}
	if len(b.declared.Features) == 0 && len(c.Finalized) > 1 {
		var names []string
		for _, f := range c.Finalized {
			if f.Name != versions.FeatureMetadata {
				names = append(names, fmt.Sprintf("%s %d", f.Name, f.Level))
			}
		}
		b.env.Assume(b.name, "the other features stand where a new cluster of that level has them: %s", strings.Join(names, ", "))
	}
}

// registrations sets the registered brokers: those of the World document, else those with a process.
func (b *background) registrations(ran []process) error {
	c := b.world.Kafka
	if b.declared.RegisteredBrokers == nil {
		var ids []string
		for i := range c.Registrations {
			ids = append(ids, strconv.Itoa(int(c.Registrations[i].ID)))
		}
		b.env.Assume(b.name, "the registered brokers are %s: those that have a node", plan.Few(ids))
	} else {
		c.Registrations = slices.DeleteFunc(c.Registrations, func(r kafka.Registration) bool {
			return !slices.Contains(b.declared.RegisteredBrokers, r.ID)
		})
		for _, id := range b.declared.RegisteredBrokers {
			if _, registered := c.Registration(id); registered {
				continue
			}
			if err := c.Register(id, b.oldest(ran), true); err != nil {
				return err
			}
			b.env.Assume(b.name, "broker %d, which is registered and has no node, last ran %s", id, b.oldest(ran))
		}
	}
	for i := range c.Registrations {
		if slices.Contains(b.declared.Fenced, c.Registrations[i].ID) {
			c.Registrations[i].Fenced, c.Registrations[i].SessionEnds = true, 0
		}
	}
	return nil
}

// oldest returns the oldest version of the processes. A broker without a process is assumed to have run it.
func (b *background) oldest(ran []process) string {
	first := slices.MinFunc(ran, func(x, y process) int {
		v, errV := versions.ParseNumber(x.version)
		w, errW := versions.ParseNumber(y.version)
		if errV != nil || errW != nil {
			return cmp.Compare(x.version, y.version)
		}
		return v.Compare(w)
	})
	return first.version
}

// partitions creates the partitions that the World document mentions. Without any, no partition is at risk.
func (b *background) partitions(ran []process) {
	var brokers []int32
	for i := range ran {
		if n := b.snapshot.Node(ran[i].id); n != nil && n.Roles.Broker {
			brokers = append(brokers, n.ID)
		}
	}
	slices.Sort(brokers)
	c := b.world.Kafka
	properties, _ := b.kafka.Spec.Kafka.Properties()
	minISR := number(properties["min.insync.replicas"], 1)
	replication := int(number(properties["default.replication.factor"], 3))
	for _, name := range sortedKeys(b.declared.OutOfSync) {
		topic, index, err := partition(name)
		if err != nil {
			continue
		}
		out := b.declared.OutOfSync[name]
		replicas := spread(out, brokers, int(index), max(replication, len(out)+1))
		c.CreatePartition(topic, index, minISR, replicas...)
		for _, id := range out {
			c.SetLagging(topic, index, id, true)
		}
		b.env.Assume(b.name, "partition %s has replicas on %s and needs %d in sync", name, plan.Few(words(replicas)), minISR)
	}
	for _, text := range sortedKeys(b.declared.Replicas) {
		id, err := nodeID(text)
		if err != nil {
			continue
		}
		for i := range b.declared.Replicas[text] {
			c.CreatePartition("held-by-"+text, i, minISR, spread([]int32{id}, brokers, int(i), replication)...)
		}
	}
	if len(b.declared.OutOfSync) == 0 {
		b.env.Assume(b.name, "every partition has all its replicas in sync and can spare any one of them")
	}
}

// spread returns the first brokers and adds others in turn, up to a maximum number.
func spread(first, others []int32, turn, most int) []int32 {
	out := slices.Clone(first)
	for i := range others {
		id := others[(turn+i)%len(others)]
		if len(out) >= most {
			break
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

func words(ids []int32) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = strconv.Itoa(int(id))
	}
	return out
}

func number(text string, otherwise int32) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return otherwise
	}
	return int32(n)
}

// logs adds the levels that are still replayed from a node's log.
func (b *background) logs() {
	for _, text := range sortedKeys(b.declared.LogHolds) {
		id, err := nodeID(text)
		if err != nil {
			continue
		}
		for _, feature := range sortedKeys(b.declared.LogHolds[text]) {
			if level, err := b.declared.LogHolds[text][feature].of(feature); err == nil {
				b.world.Kafka.HoldInLog(id, kafka.FeatureLevel{Name: feature, Level: level})
			}
		}
	}
}

// refusals makes the simulated Kafka reject the requests that the World document names.
func (b *background) refusals() {
	refuse := func(request kafka.Request, target int32, text string) {
		if code, message, err := refusal(text); err == nil {
			b.world.Kafka.AddFault(kafka.Fault{Request: request, Kind: kafka.Refuse, Target: target, Code: code, Message: message})
		}
	}
	if text := b.declared.Refuse.UpdateFeatures; text != "" {
		refuse(kafka.RequestUpdateFeatures, kafka.None, text)
	}
	for _, id := range sortedKeys(b.declared.Refuse.UnregisterBroker) {
		if n, err := nodeID(id); err == nil {
			refuse(kafka.RequestUnregisterBroker, n, b.declared.Refuse.UnregisterBroker[id])
		}
	}
}

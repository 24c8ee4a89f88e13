package observation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

const (
	// keyAltered is the key of the record with the names of altered configurations, separated by spaces. Earlier releases write nothing else.
	keyAltered = "altered"
	// keyValues is the key with the entries: the names with the values that were set, each in a line. An entry with a line break is quoted.
	keyValues = "values"
)

// AlteredRecord returns the data of the record of altered configurations, from its entries: each a name, or a name and a value.
func AlteredRecord(entries []string) map[string]string {
	names, lines := make([]string, len(entries)), make([]string, len(entries))
	for i, entry := range entries {
		names[i], _, _ = strings.Cut(entry, "=")
		if lines[i] = entry; strings.Contains(entry, "\n") {
			lines[i] = strconv.Quote(entry)
		}
	}
	slices.Sort(names)
	return map[string]string{keyAltered: strings.Join(slices.Compact(names), " "), keyValues: strings.Join(lines, "\n")}
}

// entryOfLine returns the entry in a line of the record. No name begins with a quote.
func entryOfLine(line string) string {
	if entry, err := strconv.Unquote(line); err == nil {
		return entry
	}
	return line
}

// Altered returns the entries of the record of altered configurations, sorted. A name without an entry is one: an earlier release wrote it.
// An entry whose name is missing does not count.
func (v *Snapshot) Altered(kafka *kafkav1beta2.Kafka) []string {
	m := Named(v.Objects.ConfigMaps, render.AlteredName(kafka.Name))
	if m == nil || m.Labels[labels.Record] != labels.RecordConfiguration {
		return nil
	}
	names, detailed := strings.Fields(m.Data[keyAltered]), map[string]bool{}
	var out []string
	for line := range strings.SplitSeq(m.Data[keyValues], "\n") {
		entry := entryOfLine(line)
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(names, name) {
			out, detailed[name] = append(out, entry), true
		}
	}
	for _, name := range names {
		if !detailed[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// settingsQueries returns the queries about the dynamic configurations of the brokers whose pods are ready. An answer from before the
// pod was ready is of an earlier process, and is read again.
func (v *Snapshot) settingsQueries(request lifecycle.ObserveRequest) []connection.Query {
	if !request.Wants(dynamicconfig.NeedSettings) {
		return nil
	}
	var age time.Duration
	if request.MaxAge != nil {
		age = request.MaxAge(dynamicconfig.NeedSettings)
	}
	var out []connection.Query
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Pod.Ready || !n.RolesRunning.Broker {
			continue
		}
		q := connection.Query{Question: kafkaclient.Question{About: kafkaclient.AboutSettings, Broker: n.ID}, MaxAge: age}
		external.RefreshSooner(v.Altering, &q, request.Now)
		if since := request.Now.Sub(n.Pod.ReadySince); since > 0 && (q.Renew == 0 || since < q.Renew) {
			q.Renew = since
		}
		out = append(out, q)
	}
	return out
}

// settingsReadings collects the answers about dynamic configurations.
type settingsReadings struct {
	readings

	of map[int32]kafkaclient.Settings
}

// add adds one answer. A broker that did not answer is missing. An answer of an earlier process is none yet: the question is under way.
func (m *settingsReadings) add(v *Snapshot, id int32, r *connection.Reading) {
	if n := v.Node(id); n != nil && !r.At.IsZero() && r.Err == nil && r.At.Before(n.Pod.ReadySince) {
		m.pending = true
		return
	}
	if m.readings.add(r) {
		m.of = with(m.of, id, r.Answer.Settings)
	}
}

// set sets the fact, if it is requested. It is unreadable only if no broker has answered.
func (m *settingsReadings) set(v *Snapshot, request lifecycle.ObserveRequest) {
	if !request.Wants(dynamicconfig.NeedSettings) {
		return
	}
	if len(m.of) > 0 {
		m.err = nil
	}
	v.Settings = factOf(&m.readings, m.of, v.Now)
}

// Acceptance is what Kafka has decided of the declared dynamic configurations.
type Acceptance uint8

const (
	// Unopposed: Kafka takes them, or cannot be asked.
	Unopposed Acceptance = iota
	// Asking: Kafka is being asked, and can answer.
	Asking
	// Opposed: Kafka refused one. A process that is started with it may die.
	Opposed
)

// Reasons for which no node is started with the declared dynamic configurations.
const (
	// ReasonConfigurationRefused: Kafka does not take one.
	ReasonConfigurationRefused transitions.Reason = "ConfigurationRefused"
	// ReasonConfigurationNotJudged: Kafka has not answered yet.
	ReasonConfigurationNotJudged transitions.Reason = "ConfigurationNotJudged"
)

// AcceptanceOf returns what Kafka has decided of the declared dynamic configurations. A refusal counts until other values are declared,
// because the lifecycle leaves its state then. At rest the answers of the brokers show whether a value is to be asked about; after a restart
// of the operator none has answered yet. While Kafka is asked, nothing is waited for unless the cluster serves: its nodes may need other
// values to answer at all.
func AcceptanceOf(k *kafkav1beta2.Kafka, v *Snapshot) Acceptance {
	state := dynamicconfig.Settled
	for i := range k.Status.Lifecycles {
		if e := &k.Status.Lifecycles[i]; e.Name == LifecycleConfiguration {
			state = e.State
		}
	}
	asking := state == dynamicconfig.Remembering || state == dynamicconfig.Altering || state == dynamicconfig.Settled && v.unanswered
	switch {
	case state == dynamicconfig.Refusing:
		return Opposed
	case asking && CountReady(v).Serves():
		return Asking
	}
	return Unopposed
}

// Unwritable describes why no file may be written with the declared configurations as they are now: one of them cannot be read, so that
// Kafka's default would apply in its place, or Kafka refuses one, or is being asked. It is nil if they may be written.
func Unwritable(k *kafkav1beta2.Kafka, v *Snapshot) *transitions.Problem {
	if problem := Derived(k, v, "config problem", render.ConfigProblem); problem != nil {
		return problem
	}
	if AcceptanceOf(k, v) == Opposed {
		return transitions.Problemf(ReasonConfigurationRefused, "Kafka refuses a value of spec.kafka.config: correct it. The lifecycle %s shows Kafka's words", LifecycleConfiguration)
	}
	return Unjudged(k, v)
}

// Unjudged describes that Kafka is being asked whether it takes the declared configurations; nil if it is not.
func Unjudged(k *kafkav1beta2.Kafka, v *Snapshot) *transitions.Problem {
	if AcceptanceOf(k, v) != Asking {
		return nil
	}
	return transitions.Problemf(ReasonConfigurationNotJudged, "Kafka is being asked whether it takes the values of spec.kafka.config. If this lasts, the lifecycle %s shows why", LifecycleConfiguration)
}

// Startable reports whether a node may be started with the declared configurations as they are now: they may be written. While the spec
// cannot be applied, Kafka is not asked, and its silence shows nothing. A cluster that does not serve cannot answer, and its nodes may need
// other values to do so.
func Startable(k *kafkav1beta2.Kafka, v *Snapshot) bool {
	return Unwritable(k, v) == nil && (v.SpecError == nil || !CountReady(v).Serves())
}

// isPending reports whether an answer is still awaited. A question that failed is answered.
func isPending[T any](fact transitions.Fact[T]) bool { return fact.Asked() && fact.Gap().Pending }

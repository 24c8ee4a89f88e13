package runtime

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/detent-dev/detent/machines"
)

// Metrics of lifecycles. The methods of a nil *Metrics do nothing.
type Metrics struct {
	state, entered, deadline, progress, blocked *prometheus.GaugeVec
	paused                                      *prometheus.GaugeVec
	transitions, failures, projections          *prometheus.CounterVec
	refusals, prunes, defects                   *prometheus.CounterVec
	duration                                    *prometheus.HistogramVec
}

// gauges are the label values of an object's series, by series.
type gauges struct {
	state, since, progress, blocked, paused map[string][]string
}

// NewMetrics creates the metrics and registers them. It returns the error of the registry.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	object := []string{"kind", "namespace", "name", "lifecycle"}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "detent", Subsystem: "lifecycle", Name: name, Help: help}, append(append([]string(nil), object...), labels...))
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "detent", Subsystem: "lifecycle", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		state:    gauge("state", "1 for the state an object's lifecycle is in.", "state"),
		entered:  gauge("state_entered_timestamp_seconds", "When the current state was entered, in Unix seconds."),
		deadline: gauge("deadline_timestamp_seconds", "When the current wait becomes stalled, in Unix seconds."),
		progress: gauge("progress", "Units of the attempt, done and total.", "phase"),
		blocked:  gauge("guard_blocked", "1 while a guard holds the lifecycle back.", "guard"),
		paused: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "detent", Subsystem: "object", Name: "paused",
			Help: "1 while an object's lifecycles are paused, so that their deadlines stand still.",
		}, object[:3]),
		transitions: counter("transitions_total", "Transitions committed.", "kind", "machine", "from", "to", "event"),
		failures:    counter("action_failures_total", "Actions that failed and were backed off.", "kind", "lifecycle", "state"),
		projections: counter("projection_writes_total", "Status writes that moved no lifecycle.", "kind"),
		refusals:    counter("rejected_transitions_total", "Status writes that the API server rejected, other than for a conflict, or that keep failing.", "kind"),
		prunes:      counter("pruned_writes_total", "Status writes that the API server stored without parts of what was written.", "kind"),
		defects:     counter("defects_total", "Passes in which a machine panicked or read what it did not declare.", "kind"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "detent", Subsystem: "lifecycle", Name: "state_duration_seconds", Help: "Time spent in a state, observed when it is left.",
			Buckets: []float64{1, 5, 15, 60, 300, 900, 3600, 14400, 86400},
		}, []string{"kind", "machine", "state"}),
	}
	for _, c := range []prometheus.Collector{m.state, m.entered, m.deadline, m.progress, m.blocked, m.paused, m.transitions, m.failures, m.projections, m.refusals, m.prunes, m.defects, m.duration} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) transition(kind, machine string, move *machines.Move, spent time.Duration) {
	if m == nil {
		return
	}
	name, _, _ := strings.Cut(machine, "@")
	m.transitions.WithLabelValues(kind, name, move.From, move.To, move.Event).Inc()
	if move.From != "" {
		m.duration.WithLabelValues(kind, name, move.From).Observe(spent.Seconds())
	}
}

// show sets the object's gauges from its entries and deletes the series that are no longer valid.
func (m *Metrics) show(mem *memory, kind string, object Object, all []lifecycleState) {
	if m == nil {
		return
	}
	next := gauges{state: map[string][]string{}, since: map[string][]string{}, progress: map[string][]string{}, blocked: map[string][]string{}}
	for i := range all {
		s := &all[i]
		if s.entry == nil {
			continue
		}
		labels := []string{kind, object.GetNamespace(), object.GetName(), s.name}
		with := func(more string) []string { return append(append([]string(nil), labels...), more) }
		set(m.state, next.state, with(s.entry.State), 1)
		set(m.entered, next.since, labels, float64(s.entry.EnteredAt.Unix()))
		if s.entry.Deadline != nil {
			m.deadline.WithLabelValues(labels...).Set(float64(s.entry.Deadline.Unix()))
		} else {
			m.deadline.DeleteLabelValues(labels...)
		}
		if p := s.entry.Progress; p != nil {
			set(m.progress, next.progress, with("done"), float64(p.Done))
			set(m.progress, next.progress, with("total"), float64(p.Total))
		}
		for _, w := range s.entry.WaitingFor {
			set(m.blocked, next.blocked, with(w.Guard), 1)
		}
	}
	m.dropMissing(mem.gauges, next)
	mem.gauges = next
}

// pause marks an object as paused until show is called. The other gauges keep their values.
func (m *Metrics) pause(mem *memory, kind string, object Object) {
	if m == nil {
		return
	}
	mem.gauges.paused = map[string][]string{}
	set(m.paused, mem.gauges.paused, []string{kind, object.GetNamespace(), object.GetName()}, 1)
	mem.measured = ""
}

func set(vec *prometheus.GaugeVec, into map[string][]string, labels []string, value float64) {
	into[strings.Join(labels, "\x00")] = labels
	vec.WithLabelValues(labels...).Set(value)
}

func (m *Metrics) dropMissing(old, next gauges) {
	drop := func(vec *prometheus.GaugeVec, old, next map[string][]string) {
		for key, labels := range old {
			if _, kept := next[key]; !kept {
				vec.DeleteLabelValues(labels...)
			}
		}
	}
	drop(m.state, old.state, next.state)
	drop(m.entered, old.since, next.since)
	drop(m.deadline, old.since, next.since)
	drop(m.progress, old.progress, next.progress)
	drop(m.blocked, old.blocked, next.blocked)
	drop(m.paused, old.paused, next.paused)
}

// drop deletes all series of a deleted object.
func (m *Metrics) drop(mem *memory) {
	if m != nil {
		m.dropMissing(mem.gauges, gauges{})
		mem.gauges = gauges{}
	}
}

func (m *Metrics) failed(kind, lifecycle, state string) {
	if m != nil {
		m.failures.WithLabelValues(kind, lifecycle, state).Inc()
	}
}

func (m *Metrics) projected(kind string) {
	if m != nil {
		m.projections.WithLabelValues(kind).Inc()
	}
}

func (m *Metrics) refusedWrite(kind string) {
	if m != nil {
		m.refusals.WithLabelValues(kind).Inc()
	}
}

func (m *Metrics) prunedWrite(kind string) {
	if m != nil {
		m.prunes.WithLabelValues(kind).Inc()
	}
}

func (m *Metrics) defect(kind string) {
	if m != nil {
		m.defects.WithLabelValues(kind).Inc()
	}
}

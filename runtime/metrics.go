package runtime

import (
	"slices"
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

// gauges are the series of one object. There are a few, and one list for each object of a fleet.
type gauges []gauge

// gauge is one series.
type gauge struct {
	vec    *prometheus.GaugeVec
	labels []string
}

func (g gauge) key() gaugeKey { return gaugeKey{g.vec, strings.Join(g.labels, "\x00")} }

type gaugeKey struct {
	vec    *prometheus.GaugeVec
	labels string
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
	next := make(gauges, 0, len(mem.gauges))
	for i := range all {
		s := &all[i]
		if s.entry == nil {
			continue
		}
		labels := []string{kind, object.GetNamespace(), object.GetName(), s.name}
		with := func(more string) []string { return append(slices.Clip(labels), more) }
		next.set(m.state, with(s.entry.State), 1)
		next.set(m.entered, labels, float64(s.entry.EnteredAt.Unix()))
		if s.entry.Deadline != nil {
			next.set(m.deadline, labels, float64(s.entry.Deadline.Unix()))
		}
		if p := s.entry.Progress; p != nil {
			next.set(m.progress, with("done"), float64(p.Done))
			next.set(m.progress, with("total"), float64(p.Total))
		}
		for _, w := range s.entry.WaitingFor {
			next.set(m.blocked, with(w.Guard), 1)
		}
	}
	mem.gauges.dropMissing(next)
	mem.gauges = slices.Clip(next)
}

// pause marks an object as paused until show is called. The other gauges keep their values.
func (m *Metrics) pause(mem *memory, kind string, object Object) {
	if m == nil {
		return
	}
	mem.measured = ""
	if slices.ContainsFunc(mem.gauges, func(g gauge) bool { return g.vec == m.paused }) {
		return
	}
	mem.gauges.set(m.paused, []string{kind, object.GetNamespace(), object.GetName()}, 1)
}

// set sets a series and adds it to the object's.
func (g *gauges) set(vec *prometheus.GaugeVec, labels []string, value float64) {
	*g = append(*g, gauge{vec, labels})
	vec.WithLabelValues(labels...).Set(value)
}

// dropMissing deletes the series that are not in next.
func (g gauges) dropMissing(next gauges) {
	kept := make(map[gaugeKey]bool, len(next))
	for _, one := range next {
		kept[one.key()] = true
	}
	for _, one := range g {
		if !kept[one.key()] {
			one.vec.DeleteLabelValues(one.labels...)
		}
	}
}

// drop deletes all series of a deleted object.
func (m *Metrics) drop(mem *memory) {
	if m != nil {
		mem.gauges.dropMissing(nil)
		mem.gauges = nil
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

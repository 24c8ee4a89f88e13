package runtime

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/detent-dev/detent/machines"
)

// Metrics of lifecycles. The methods of a nil *Metrics do nothing.
type Metrics struct {
	objects                            *objectMetrics
	transitions, failures, projections *prometheus.CounterVec
	refusals, prunes, defects          *prometheus.CounterVec
	duration                           *prometheus.HistogramVec
}

// NewMetrics creates the metrics and registers them. It returns the error of the registry.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "detent", Subsystem: "lifecycle", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		objects:     newObjectMetrics(),
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
	for _, c := range []prometheus.Collector{m.objects, m.transitions, m.failures, m.projections, m.refusals, m.prunes, m.defects, m.duration} {
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

// show sets the object's gauges from its entries, and drops the series that are no longer valid.
func (m *Metrics) show(mem *memory, kind string, object Object, all []lifecycleState) {
	if m != nil {
		m.objects.show(mem, seriesOf(kind, object, all))
	}
}

// pause marks an object as paused until show is called. The other gauges keep their values.
func (m *Metrics) pause(mem *memory, kind string, object Object) {
	if m != nil {
		mem.measured = ""
		m.objects.pause(mem, kind, object)
	}
}

// drop drops all series of a deleted object.
func (m *Metrics) drop(mem *memory) {
	if m != nil {
		m.objects.drop(mem)
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

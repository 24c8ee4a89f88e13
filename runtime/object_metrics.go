package runtime

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// objectMetrics are the gauges of all objects. Their series are made when they are collected: a series that is kept takes more
// memory than all else that is kept for an object at rest.
type objectMetrics struct {
	state, entered, deadline, progress, blocked, paused *prometheus.Desc

	mu      sync.Mutex
	objects map[objectName]*objectSeries
}

// objectName are the labels of all series of an object.
type objectName struct{ kind, namespace, name string }

var _ prometheus.Collector = &objectMetrics{}

// objectSeries is what the gauges show of one object. It is not modified once it is shown.
type objectSeries struct {
	of         objectName
	paused     bool
	lifecycles []lifecycleSeries
}

type lifecycleSeries struct {
	name, state string
	// entered and deadline are in Unix seconds.
	entered, deadline       int64
	hasDeadline, progresses bool
	done, total             int32
	// blocked are the guards that hold the lifecycle back, each once.
	blocked []string
}

func newObjectMetrics() *objectMetrics {
	object := []string{"kind", "namespace", "name"}
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName("detent", "lifecycle", name), help, slices.Concat(object, []string{"lifecycle"}, labels), nil)
	}
	return &objectMetrics{
		state:    gauge("state", "1 for the state an object's lifecycle is in.", "state"),
		entered:  gauge("state_entered_timestamp_seconds", "When the current state was entered, in Unix seconds."),
		deadline: gauge("deadline_timestamp_seconds", "When the current wait becomes stalled, in Unix seconds."),
		progress: gauge("progress", "Units of the attempt, done and total.", "phase"),
		blocked:  gauge("guard_blocked", "1 while a guard holds the lifecycle back.", "guard"),
		paused: prometheus.NewDesc(prometheus.BuildFQName("detent", "object", "paused"),
			"1 while an object's lifecycles are paused, so that their deadlines stand still.", object, nil),
		objects: map[objectName]*objectSeries{},
	}
}

func nameOf(kind string, object Object) objectName {
	return objectName{kind, object.GetNamespace(), object.GetName()}
}

// seriesOf returns the series of an object that is not paused.
func seriesOf(kind string, object Object, all []lifecycleState) *objectSeries {
	s := &objectSeries{of: nameOf(kind, object), lifecycles: make([]lifecycleSeries, 0, len(all))}
	for i := range all {
		entry := all[i].entry
		if entry == nil {
			continue
		}
		l := lifecycleSeries{name: all[i].name, state: entry.State, entered: entry.EnteredAt.Unix()}
		if entry.Deadline != nil {
			l.deadline, l.hasDeadline = entry.Deadline.Unix(), true
		}
		if p := entry.Progress; p != nil {
			l.progresses, l.done, l.total = true, p.Done, p.Total
		}
		for _, w := range entry.WaitingFor {
			if !slices.Contains(l.blocked, w.Guard) {
				l.blocked = append(l.blocked, w.Guard)
			}
		}
		s.lifecycles = append(s.lifecycles, l)
	}
	return s
}

func (m *objectMetrics) show(mem *memory, series *objectSeries) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mem.shows, m.objects[series.of] = series, series
}

// pause marks an object as paused. Its other series keep their values.
func (m *objectMetrics) pause(mem *memory, kind string, object Object) {
	next := objectSeries{of: nameOf(kind, object)}
	if mem.shows != nil {
		next = *mem.shows
	}
	next.paused = true
	m.show(mem, &next)
}

func (m *objectMetrics) drop(mem *memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if mem.shows != nil && m.objects[mem.shows.of] == mem.shows {
		delete(m.objects, mem.shows.of)
	}
	mem.shows = nil
}

// Describe implements prometheus.Collector.
func (m *objectMetrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.state, m.entered, m.deadline, m.progress, m.blocked, m.paused} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector.
func (m *objectMetrics) Collect(metrics chan<- prometheus.Metric) {
	m.mu.Lock()
	shown := make([]*objectSeries, 0, len(m.objects))
	for _, s := range m.objects {
		shown = append(shown, s)
	}
	m.mu.Unlock()
	for _, s := range shown {
		m.collect(metrics, s)
	}
}

func (m *objectMetrics) collect(metrics chan<- prometheus.Metric, s *objectSeries) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		metric, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, value, labels...)
		if err != nil { // a label is no UTF-8, which the API server does not store
			metric = prometheus.NewInvalidMetric(d, err)
		}
		metrics <- metric
	}
	o := s.of
	if s.paused {
		gauge(m.paused, 1, o.kind, o.namespace, o.name)
	}
	for i := range s.lifecycles {
		l := &s.lifecycles[i]
		gauge(m.state, 1, o.kind, o.namespace, o.name, l.name, l.state)
		gauge(m.entered, float64(l.entered), o.kind, o.namespace, o.name, l.name)
		if l.hasDeadline {
			gauge(m.deadline, float64(l.deadline), o.kind, o.namespace, o.name, l.name)
		}
		if l.progresses {
			gauge(m.progress, float64(l.done), o.kind, o.namespace, o.name, l.name, "done")
			gauge(m.progress, float64(l.total), o.kind, o.namespace, o.name, l.name, "total")
		}
		for _, guard := range l.blocked {
			gauge(m.blocked, 1, o.kind, o.namespace, o.name, l.name, guard)
		}
	}
}

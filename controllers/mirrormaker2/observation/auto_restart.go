package observation

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// counted reads the counts of automatic restarts: those of this process, else those of the status.
func (c *Collector) counted(m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot) {
	v.AutoRestarts = map[string]AutoRestart{}
	for _, s := range m.Status.AutoRestartStatuses {
		a := AutoRestart{Count: s.Count}
		if s.LastRestartTimestamp != nil {
			a.Last = s.LastRestartTimestamp.Time
		}
		v.AutoRestarts[s.ConnectorName] = a
	}
	for name := range v.Declared {
		if a, found := c.memory.restarts(string(m.UID), name); found && !a.Last.Before(v.AutoRestarts[name].Last) {
			v.AutoRestarts[name] = a
		}
	}
}

// recovered ends a count, in the memory of the process too, when the connector was seen to run after its pause: a failure after that is
// counted from zero.
func (c *Collector) recovered(m *kafkav1beta2.KafkaMirrorMaker2, v *Snapshot) {
	if !v.Connectors.Asked() {
		return
	}
	reported, known := v.Connectors.Get()
	for name, a := range v.AutoRestarts {
		one, exists := reported[name]
		if known && exists && !HasFailed(&one.Status) && !v.Connectors.At().Before(a.Last.Add(a.Pause())) {
			delete(v.AutoRestarts, name)
			c.memory.recovered(string(m.UID), name)
		}
	}
}

// look is how often the states of the connectors are read at rest: no watch reports them. It is Strimzi's interval.
const look = 2 * time.Minute

// nextLook returns how soon the states of the connectors matter again: at the next look, or once a connector that has failed may be restarted
// again.
func (v *Snapshot) nextLook(scale float64) time.Duration {
	next := connection.Scaled(look, scale)
	for _, a := range v.AutoRestarts {
		if left := a.Last.Add(a.Pause()).Sub(v.Now); left > 0 {
			next = min(next, left)
		}
	}
	return next
}

// HasFailed reports whether the connector or one of its tasks has failed.
func HasFailed(s *connect.Status) bool {
	return s.Connector.State == connect.Failed || slices.ContainsFunc(s.Tasks, func(t connect.TaskStatus) bool { return t.State == connect.Failed })
}

// AutoRestart counts the automatic restarts of a connector.
type AutoRestart struct {
	Count int32
	Last  time.Time
}

// Pause is how long after its last automatic restart a connector is restarted again: n² + n minutes for n restarts, at most an hour.
func (a AutoRestart) Pause() time.Duration {
	if a.Count > 7 {
		return time.Hour
	}
	return min(time.Duration(a.Count*a.Count+a.Count)*time.Minute, time.Hour)
}

// RestartsItself reports whether an automatic restart of the declared connector is due.
func (v *Snapshot) RestartsItself(name string, declared *render.Connector, now time.Time) bool {
	all, known := v.Connectors.Get()
	auto := declared.Spec.MirrorMaker2Connector
	if !known || auto == nil || auto.AutoRestart == nil || auto.AutoRestart.Enabled != nil && !*auto.AutoRestart.Enabled {
		return false
	}
	one, exists := all[name]
	count, most := v.AutoRestarts[name], auto.AutoRestart.MaxRestarts
	return exists && HasFailed(&one.Status) && (most == nil || count.Count < *most) && !now.Before(count.Last.Add(count.Pause()))
}

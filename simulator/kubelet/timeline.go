package kubelet

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Timeline relates simulated milliseconds to the wall clock.
type Timeline struct {
	// Epoch is the time on the wall clock at millisecond 0.
	Epoch time.Time
	// Speed is the number of simulated seconds per second of the wall clock. Default: 1.
	Speed float64
}

func (t Timeline) speed() float64 {
	if t.Speed <= 0 {
		return 1
	}
	return t.Speed
}

// Milliseconds is the simulated time at a time on the wall clock.
func (t Timeline) Milliseconds(at time.Time) int64 {
	return int64(float64(at.Sub(t.Epoch)) / float64(time.Millisecond) * t.speed())
}

// Time is the time on the wall clock at a simulated time.
func (t Timeline) Time(ms int64) time.Time { return t.Epoch.Add(t.Wall(ms)) }

// Wall is the duration on the wall clock of a simulated duration.
func (t Timeline) Wall(ms int64) time.Duration {
	return time.Duration(float64(ms) * float64(time.Millisecond) / t.speed())
}

// stamp converts a simulated time to a time in a status, in whole seconds.
func (t Timeline) stamp(ms int64) metav1.Time {
	return metav1.NewTime(t.Time(ms).Truncate(time.Second))
}

package kubelet

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Timeline relates simulated milliseconds to the wall clock.
type Timeline struct {
	// Epoch is the wall clock's time at millisecond 0.
	Epoch time.Time
	// Speed is how many simulated seconds pass in one of the wall clock's. 0 stands for 1.
	Speed float64
}

func (t Timeline) speed() float64 {
	if t.Speed <= 0 {
		return 1
	}
	return t.Speed
}

// Milliseconds that have passed at the given time.
func (t Timeline) Milliseconds(at time.Time) int64 {
	return int64(float64(at.Sub(t.Epoch)) / float64(time.Millisecond) * t.speed())
}

// Time of the wall clock at which so many milliseconds have passed.
func (t Timeline) Time(ms int64) time.Time { return t.Epoch.Add(t.Wall(ms)) }

// Wall is how long a simulated time takes on the wall clock.
func (t Timeline) Wall(ms int64) time.Duration {
	return time.Duration(float64(ms) * float64(time.Millisecond) / t.speed())
}

// stamp is a point in time as statuses carry it, in whole seconds.
func (t Timeline) stamp(ms int64) metav1.Time {
	return metav1.NewTime(t.Time(ms).Truncate(time.Second))
}

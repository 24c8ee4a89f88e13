package kubelet

import (
	"hash/fnv"
	"math"
)

// Delays are the times that things take, in simulated milliseconds.
type Delays struct {
	// Schedule until a pod is bound to a node.
	Schedule int64
	// Create until the sandbox, the volumes and the image are there.
	Create int64
	// Init is how long the init containers run, all of them.
	Init int64
	// Stop until a program that was asked to has ended, at most the pod's grace period.
	Stop int64
	// Probe is the period of looking at a program that runs.
	Probe int64
	// Jitter is the share that a delay may be longer.
	Jitter float64
}

// DefaultDelays are what a small pod with its image on the node was seen to take.
func DefaultDelays() Delays {
	return Delays{Schedule: 200, Create: 800, Init: 600, Stop: 1_200, Probe: 1_000, Jitter: 0.3}
}

// Back-off of pulls and of restarts. Source: the kubelet's MaxContainerBackOff and its initial value.
const (
	backOffFirst = 10_000
	backOffMax   = 300_000
	// backOffForgets is how long a program must have run for the next back-off to start anew.
	backOffForgets = 2 * backOffMax
	// restartAtOnce is how long the first restart after a good run takes.
	restartAtOnce = 1_000
)

// backOff after so many failures in a row: 10 s, twice as much each time, 5 min at most.
func backOff(failures int32) int64 {
	if failures < 1 {
		return backOffFirst
	}
	return min(int64(backOffFirst)<<min(failures-1, 10), backOffMax)
}

// jittered stretches a delay by the pod's own share for this step, which is always the same: runs repeat themselves.
func (d Delays) jittered(delay int64, p *Pod) int64 {
	if d.Jitter <= 0 || delay <= 0 {
		return delay
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.UID)) // never fails
	_, _ = h.Write([]byte{byte(p.Step), byte(p.Restarts)})
	share := float64(h.Sum32()) / math.MaxUint32
	return delay + int64(float64(delay)*d.Jitter*share)
}

package kubelet

import (
	"hash/fnv"
	"math"
)

// Delays are the durations of a pod's steps, in simulated milliseconds.
type Delays struct {
	// Schedule is the time until a pod is bound to a node.
	Schedule int64
	// Create is the time until the sandbox, the volumes and the image are ready.
	Create int64
	// Init is how long the init containers run, all of them together.
	Init int64
	// Stop is the time until a program has exited after SIGTERM, at most the pod's grace period.
	Stop int64
	// Probe is the interval at which a running program is checked.
	Probe int64
	// Jitter is the maximum share by which a delay is longer.
	Jitter float64
}

// DefaultDelays are the times that were measured for a small pod whose image is on the node.
func DefaultDelays() Delays {
	return Delays{Schedule: 200, Create: 800, Init: 600, Stop: 1_200, Probe: 1_000, Jitter: 0.3}
}

// Back-off of pulls and of restarts. Source: the kubelet's MaxContainerBackOff and its initial value.
const (
	backOffFirst = 10_000
	backOffMax   = 300_000
	// backOffForgets is how long a program must have run so that the next back-off starts with backOffFirst.
	backOffForgets = 2 * backOffMax
	// restartAtOnce is the delay of the first restart after such a run.
	restartAtOnce = 1_000
)

// backOff is the delay after so many consecutive failures: 10 s, doubled each time, at most 5 min.
func backOff(failures int32) int64 {
	if failures < 1 {
		return backOffFirst
	}
	return min(int64(backOffFirst)<<min(failures-1, 10), backOffMax)
}

// backsOff reports whether the restart of a container waits: the first failure after a long run restarts almost at once.
func (p *Pod) backsOff() bool { return p.Failures > 1 }

// jittered adds jitter to a delay. The jitter depends only on the pod and the step, so that runs are reproducible.
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

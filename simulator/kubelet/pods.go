package kubelet

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Step is the position of a pod in its lifecycle.
type Step uint8

const (
	// Unscheduled: no node was chosen.
	Unscheduled Step = iota
	// Bound: a node was chosen; the API server does not show the binding yet.
	Bound
	// Creating: sandbox, volumes and image are being prepared.
	Creating
	// PullBackOff: an image cannot be pulled.
	PullBackOff
	// Initializing: the init containers run.
	Initializing
	// Running: the containers run.
	Running
	// Exited: the program, or an init container, exited and is restarted after its back-off.
	Exited
	// Stopping: the pod was deleted and its program received SIGTERM.
	Stopping
	// Stopped: none of its processes runs any more.
	Stopped
)

// Pod is the state of one pod in its kubelet.
type Pod struct {
	types.NamespacedName
	UID  types.UID
	Step Step
	// Group of pods that are spread over the nodes: the name of their Kafka cluster.
	Group string
	// Node is the name of the node it is bound to.
	Node string
	// Due is when the step ends without outside events, 0 if it does not.
	Due int64
	// Since is when the pod was bound.
	Since int64
	// Problem is why it makes no progress, in the words of the scheduler or the container runtime.
	Problem string
	// BadImage is the image that cannot be pulled; Pulls counts its consecutive failures.
	BadImage string
	Pulls    int32
	// PullFailed is true directly after a failure: the status shows the error first and the back-off later.
	PullFailed bool
	// InitAt is when the init containers started. Initialized is true once they have succeeded.
	InitAt      int64
	Initialized bool
	// StartedAt is when the current process, or the last one, started.
	StartedAt int64
	// Aged is how much earlier the current process is shown as started, on the wall clock. See Pods.Age.
	Aged  time.Duration
	Ready bool
	// ProbeAt is when readiness is probed next. Misses is the number of consecutive failed probes.
	ProbeAt int64
	Misses  int32
	// Restarts of the main container, or of the init container before it. Failures is the number of consecutive failures, which
	// determines the back-off.
	Restarts, Failures int32
	// Last is how the previous process exited. The zero value means that there was none.
	Last Exit
}

// Exit is the exit of a process.
type Exit struct {
	At, StartedAt int64
	End
}

// Pods are all pods that the simulated kubelets know, by namespace and name. The zero value is ready for use.
type Pods struct {
	Delays Delays
	all    []Pod
}

// Clone returns an independent copy.
func (s *Pods) Clone() Pods { return Pods{Delays: s.Delays, all: slices.Clone(s.all)} }

// All returns the pods by namespace and name. The slice must not be modified.
func (s *Pods) All() []Pod { return s.all }

// Find returns the state of the pod with the name, with any UID, and false if there is none.
func (s *Pods) Find(name types.NamespacedName) (Pod, bool) {
	i, found := s.index(name)
	if !found {
		return Pod{}, false
	}
	return s.all[i], true
}

// Age makes the current process of a pod appear to have started earlier by that much, on the wall clock. Without it, a process
// that started recently counts as starting up even if its probe passes. The effect ends with the process.
func (s *Pods) Age(name types.NamespacedName, by time.Duration) {
	if i, found := s.index(name); found {
		s.all[i].Aged = by
	}
}

// NextEvent is the time of the next step of a pod, without what programs do. It returns false if there is none.
func (s *Pods) NextEvent() (int64, bool) {
	next := int64(0)
	for i := range s.all {
		if due := s.all[i].Due; due > 0 && (next == 0 || due < next) {
			next = due
		}
	}
	return next, next > 0
}

func (s *Pods) index(name types.NamespacedName) (int, bool) {
	return slices.BinarySearchFunc(s.all, name, func(p Pod, name types.NamespacedName) int {
		return cmp.Or(cmp.Compare(p.Namespace, name.Namespace), cmp.Compare(p.Name, name.Name))
	})
}

// Gone removes a pod that the API server does not have any more. It kills a process that is still running, as after a forced
// deletion.
func (s *Pods) Gone(host Host, name types.NamespacedName, now int64) {
	if i, found := s.index(name); found {
		s.drop(host, i, now)
	}
}

func (s *Pods) drop(host Host, i int, now int64) {
	host.Kill(s.all[i], now)
	s.all = slices.Delete(s.all, i, i+1)
}

// NeedsMounts reports whether the next Sync of the pod may use its mounts. Reading them costs requests to the API server.
func (s *Pods) NeedsMounts(name types.NamespacedName, uid types.UID) bool {
	p, known := s.Find(name)
	return !known || p.UID != uid || p.Step != Running && p.Step < Stopping
}

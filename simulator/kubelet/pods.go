package kubelet

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Step is where the life of a pod stands.
type Step uint8

const (
	// Unscheduled: no node was chosen.
	Unscheduled Step = iota
	// Bound: a node was chosen, the API server has yet to show it.
	Bound
	// Creating: sandbox, volumes and image are being prepared.
	Creating
	// PullBackOff: an image cannot be pulled.
	PullBackOff
	// Initializing: init containers run.
	Initializing
	// Running: the containers run.
	Running
	// Exited: the program, or an init container, ended and is started again when its back-off has passed.
	Exited
	// Stopping: the pod was deleted and its program asked to end.
	Stopping
	// Stopped: nothing of it runs any more.
	Stopped
)

// Pod is what a kubelet remembers of one pod.
type Pod struct {
	types.NamespacedName
	UID  types.UID
	Step Step
	// Group of pods that are spread over the nodes: the cluster they belong to.
	Group string
	// Node it is bound to.
	Node string
	// Due is when the step ends by itself, 0 if it does not.
	Due int64
	// Since is when the pod was bound.
	Since int64
	// Problem stands in its way, in the words of the scheduler or the container runtime.
	Problem string
	// BadImage cannot be pulled; Pulls counts the failures in a row.
	BadImage string
	Pulls    int32
	// PullFailed says that the failure is fresh: the back-off is yet to be shown.
	PullFailed bool
	// InitAt is when the init containers started, Initialized that they have ended well.
	InitAt      int64
	Initialized bool
	// StartedAt is when the process that runs, or ran last, started.
	StartedAt int64
	// Aged is how much earlier, on the wall clock, the process that runs is shown to have started. See Pods.Age.
	Aged  time.Duration
	Ready bool
	// ProbeAt is when the readiness is looked at next, Misses how often in a row it was not given.
	ProbeAt int64
	Misses  int32
	// Restarts of the main container, or of the init container before it; Failures in a row decide the back-off.
	Restarts, Failures int32
	// Last is how the process before this one ended. Its zero value says that there was none.
	Last Exit
}

// Exit is the end of a process.
type Exit struct {
	At, StartedAt int64
	End
}

// Pods are all pods that the simulated kubelets know, by namespace and name. The zero value is ready for use.
type Pods struct {
	Delays Delays
	all    []Pod
}

// Clone returns a copy that lives on independently.
func (s *Pods) Clone() Pods { return Pods{Delays: s.Delays, all: slices.Clone(s.all)} }

// All lists the pods by namespace and name. The slice must not be changed.
func (s *Pods) All() []Pod { return s.all }

// Find returns what is known of the pod with the name, whatever its UID.
func (s *Pods) Find(name types.NamespacedName) (Pod, bool) {
	i, found := s.index(name)
	if !found {
		return Pod{}, false
	}
	return s.all[i], true
}

// Age lets the process that runs in a pod show as started so much earlier, on the wall clock: what was started a moment ago counts as
// starting up, whatever its probe says. It lasts until the process ends.
func (s *Pods) Age(name types.NamespacedName, by time.Duration) {
	if i, found := s.index(name); found {
		s.all[i].Aged = by
	}
}

// NextEvent is when something happens next to a pod by itself, programs left aside.
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

// Gone forgets a pod that the API server does not have any more. What still ran of it is killed, as when a pod is deleted
// by force.
func (s *Pods) Gone(host Host, name types.NamespacedName, now int64) {
	if i, found := s.index(name); found {
		s.drop(host, i, now)
	}
}

func (s *Pods) drop(host Host, i int, now int64) {
	host.Kill(s.all[i], now)
	s.all = slices.Delete(s.all, i, i+1)
}

// NeedsMounts says whether the next Sync of the pod may look at its mounts. They cost a look at the API server.
func (s *Pods) NeedsMounts(name types.NamespacedName, uid types.UID) bool {
	p, known := s.Find(name)
	return !known || p.UID != uid || p.Step != Running && p.Step < Stopping
}

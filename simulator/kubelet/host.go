package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Host is the environment of pods: registries, disks and programs. Every pod that is passed to it is bound to a node.
type Host interface {
	// Pull returns why the image cannot be pulled, "" if it can.
	Pull(pod *corev1.Pod, image string) (problem string)
	// Init runs the init containers and returns how the last one exited: after one that fails the others do not run.
	Init(pod *corev1.Pod, mounts Mounts, now int64) End
	// Start starts the main container's program. A Code other than 0 means that it exited at once.
	Start(pod *corev1.Pod, mounts Mounts, now int64) End
	// Look returns the state of the program. It is called often and must be cheap.
	Look(pod Pod, now int64) Process
	// Stop sends SIGTERM to the program, which has exited once the time to stop has passed.
	Stop(pod Pod, now int64)
	// Kill kills the program if it is running, and deletes what belongs only to the pod: its ephemeral storage. It must be
	// idempotent, and may be called for a pod that was never started.
	Kill(pod Pod, now int64)
}

// End is how a program exited: the exit code, and the last lines that it printed. The zero value is a successful end.
type End struct {
	Code  int32
	Words string
}

// Process is the main container's program as seen by its kubelet.
type Process struct {
	// Ready is true if it would pass the readiness probe now.
	Ready bool
	// Exited is true if it has exited without Stop or Kill, with End.
	Exited bool
	End    End
}

// Mounts are what a pod uses of other objects.
type Mounts struct {
	// Files of the mounted ConfigMaps, by the name of the pod's volume and their path in it.
	Files map[string]map[string]string
	// Claims that exist, in the order of the pod's volumes.
	Claims []Claim
	// Unclaimed is the name of a claim that does not exist: the pod cannot be scheduled. Empty if all exist.
	Unclaimed string
	// Missing is the message about a ConfigMap or Secret that does not exist: the containers cannot be created. Empty if
	// all exist.
	Missing string
}

// Claim is a PersistentVolumeClaim that a pod mounts. Its data has the lifetime of the claim.
type Claim struct {
	// Volume is the name of the pod's volume for it.
	Volume string
	Name   string
	UID    types.UID
}

// Claim returns the claim of the pod's volume, and false if the volume has none.
func (m Mounts) Claim(volume string) (Claim, bool) {
	for _, c := range m.Claims {
		if c.Volume == volume {
			return c, true
		}
	}
	return Claim{}, false
}

// Node is a simulated node to which pods are bound.
type Node struct {
	Name string
	// Unschedulable is true after kubectl cordon.
	Unschedulable bool
	// Lost is true if its kubelet does not report any more. See LoseNode.
	Lost bool
}

package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Host is what pods run on: registries, disks and programs. Every call is about a pod that is bound to a node.
type Host interface {
	// Pull says why the image cannot be pulled, nothing if it can.
	Pull(pod *corev1.Pod, image string) (problem string)
	// Init runs the init containers and says how the last of them ended: those after one that fails do not run.
	Init(pod *corev1.Pod, mounts Mounts, now int64) End
	// Start starts the main container's program. A Code other than 0 says that it ended at once.
	Start(pod *corev1.Pod, mounts Mounts, now int64) End
	// Look says how the program is. It is called often and must be cheap.
	Look(pod Pod, now int64) Process
	// Stop asks the program to end: it has, once the time to stop has passed.
	Stop(pod Pod, now int64)
	// Kill ends the program without a word, if it still runs, and takes away what only the pod had: its ephemeral storage.
	// It may be called more than once, and for a pod that was never started.
	Kill(pod Pod, now int64)
}

// End is how a program ended: the exit code, and the last lines it printed. The zero value is a good end.
type End struct {
	Code  int32
	Words string
}

// Process is the main container's program as its kubelet sees it.
type Process struct {
	// Ready says that it would pass the readiness probe now.
	Ready bool
	// Exited by itself, as End says.
	Exited bool
	End    End
}

// Mounts are what a pod takes from other objects.
type Mounts struct {
	// Files of the ConfigMaps that are mounted, by the name of the pod's volume and their path in it.
	Files map[string]map[string]string
	// Claims that exist, in the order of the pod's volumes.
	Claims []Claim
	// Unclaimed is the name of a claim that does not exist: the pod cannot be scheduled.
	Unclaimed string
	// Missing says which ConfigMap or Secret does not exist: the containers cannot be created.
	Missing string
}

// Claim is a PersistentVolumeClaim that a pod mounts. What lies on it is as old as the claim.
type Claim struct {
	// Volume of the pod that it is mounted as.
	Volume string
	Name   string
	UID    types.UID
}

// Claim of the pod's volume, if it is one.
func (m Mounts) Claim(volume string) (Claim, bool) {
	for _, c := range m.Claims {
		if c.Volume == volume {
			return c, true
		}
	}
	return Claim{}, false
}

// Node is a simulated machine that pods are bound to.
type Node struct {
	Name string
	// Unschedulable as kubectl cordon makes it.
	Unschedulable bool
	// Lost says that its kubelet does not report any more. See LoseNode.
	Lost bool
}

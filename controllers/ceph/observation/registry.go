package observation

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// patience is how long after the first such answer of a registry the image counts as missing: one that was just pushed may not be everywhere
// yet.
const patience = 30 * time.Second

// lack marks the detections whose image a registry does not have. The kubelet shows the answer of the registry only while it pulls, and
// otherwise that it waits, so that the answer is remembered for as long as the pod exists. Other errors, such as a registry that does not
// answer, end with the time limit of the Job.
func (o *Collector) lack(cluster types.UID, s *Snapshot) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := map[types.UID]time.Time{}
	for id, d := range s.Detections {
		if d.Pod == nil {
			continue
		}
		first, answered := o.lacking[cluster][d.Pod.UID]
		if !answered && !unknown(d.Pod) {
			continue
		} else if !answered {
			first = s.Now
		}
		next[d.Pod.UID], d.Absent = first, s.Now.Sub(first) >= patience
		s.Detections[id] = d
	}
	if o.lacking == nil {
		o.lacking = map[types.UID]map[types.UID]time.Time{}
	}
	o.lacking[cluster] = next
}

// unknown reports whether the registry answered that it does not have the image of the container, in the words of containerd or of CRI-O.
// The kubelet has no code for it: the reason of the container is the same for every failed pull.
func unknown(pod *corev1.Pod) bool {
	if waiting(pod) == "" {
		return false
	}
	message := pod.Status.ContainerStatuses[0].State.Waiting.Message
	return strings.Contains(message, "code = NotFound") || strings.Contains(message, "manifest unknown")
}

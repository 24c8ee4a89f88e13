package podset

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// firstPause is the delay before the second of two pods that terminated soon is deleted; it doubles up to longestPause.
	firstPause, longestPause = 5 * time.Second, 5 * time.Minute
	// lived is the age from which the end of a pod counts as independent of the end of the previous pod.
	lived = 10 * time.Minute
)

// relapses track pods that repeatedly terminate soon after their creation, such as pods that a node does not admit. Each is
// recreated later than the previous one. The zero value is ready to use. A restart of the process costs one more attempt.
type relapses struct {
	mu   sync.Mutex
	pods map[types.UID]map[string]relapse
}

type relapse struct {
	uid  types.UID
	ends int
	at   time.Time
}

// rest returns how much longer the terminated pod of a set is kept before it is recreated.
func (r *relapses) rest(set types.UID, pod *corev1.Pod, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pods == nil {
		r.pods = map[types.UID]map[string]relapse{}
	}
	if r.pods[set] == nil {
		r.pods[set] = map[string]relapse{}
	}
	last, known := r.pods[set][pod.Name]
	if !known || last.uid != pod.UID {
		if now.Sub(pod.CreationTimestamp.Time) >= lived || now.Sub(last.at) >= lived+longestPause {
			last.ends = 0
		}
		last = relapse{uid: pod.UID, ends: last.ends + 1, at: now}
		r.pods[set][pod.Name] = last
	}
	if last.ends == 1 {
		return 0
	}
	pause := longestPause
	if doublings := last.ends - 2; doublings < 6 { // 5 s doubled six times exceeds longestPause
		pause = firstPause << doublings
	}
	return last.at.Add(pause).Sub(now)
}

// forget drops the state of a deleted set.
func (r *relapses) forget(set types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, set)
}

package podset

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// firstPause is how long a pod rests that ended at once after one that ended at once; it doubles up to longestPause.
	firstPause, longestPause = 5 * time.Second, 5 * time.Minute
	// lived is how long a pod must have existed for its end to be news, and not what became of the one before.
	lived = 10 * time.Minute
)

// relapses remember pods that end again and again soon after they were made, such as those that a node does not admit: each is
// made anew later than the one before. The zero value is ready. What is forgotten with the process costs one more attempt.
type relapses struct {
	mu   sync.Mutex
	pods map[types.UID]map[string]relapse
}

type relapse struct {
	uid  types.UID
	ends int
	at   time.Time
}

// rest is how long the ended pod of a set is still left where it is.
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
	if doublings := last.ends - 2; doublings < 6 { // 5 s doubled six times is more than the longest
		pause = firstPause << doublings
	}
	return last.at.Add(pause).Sub(now)
}

// forget a set that is gone.
func (r *relapses) forget(set types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, set)
}

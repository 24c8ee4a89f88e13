package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// AttemptID is a short hash of what makes a run a run of its own: the object, the lifecycle, the target and the start,
// so that going back and forth between two targets makes a new attempt each time.
func AttemptID(uid, lifecycle, target string, startedAt time.Time) string {
	h := sha256.New()
	for _, part := range []string{uid, lifecycle, target, strconv.FormatInt(startedAt.Unix(), 10)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:3])
}

// newAttempt hashes the whole target and shows as much of it as the status holds.
func newAttempt(uid, lifecycle string, aim Aim, now time.Time) *lifecyclev1.Attempt {
	start := metav1.NewTime(now.Truncate(time.Second))
	return &lifecyclev1.Attempt{ID: AttemptID(uid, lifecycle, aim.To, start.Time), From: Cut(aim.From, maxTarget), To: Cut(aim.To, maxTarget), StartedAt: start}
}

package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// AttemptID returns a short hash of what identifies an attempt: the object, the lifecycle, the target and the start.
// Alternating between two targets therefore starts a new attempt each time.
func AttemptID(uid, lifecycle, target string, startedAt time.Time) string {
	h := sha256.New()
	for _, part := range []string{uid, lifecycle, target, strconv.FormatInt(startedAt.Unix(), 10)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:attemptBytes])
}

const (
	// attemptBytes is the length of the hash in bytes: 16 characters, the limit of the status field.
	attemptBytes = 8
	// shortID is the length of an id in entries that an earlier release wrote.
	shortID = 6
)

// SameAttempt reports whether both are the same attempt: the id, the start and the target must be equal.
func SameAttempt(a, b *lifecyclev1.Attempt) bool {
	return a != nil && b != nil && a.ID == b.ID && a.To == b.To && a.StartedAt.Equal(&b.StartedAt)
}

// pursues reports whether the attempt was started towards the target. A shorter id of an earlier release matches as well, so
// that an attempt in progress continues under this release.
func pursues(a *lifecyclev1.Attempt, uid, lifecycle, target string) bool {
	if a == nil || a.To != Cut(target, maxTarget) {
		return false
	}
	id := AttemptID(uid, lifecycle, target, a.StartedAt.Time)
	return a.ID == id || len(a.ID) == shortID && strings.HasPrefix(id, a.ID)
}

// newAttempt hashes the whole target and shows as much of it as the status field holds.
func newAttempt(uid, lifecycle string, target Target, now time.Time) *lifecyclev1.Attempt {
	start := metav1.NewTime(now.Truncate(time.Second))
	return &lifecyclev1.Attempt{ID: AttemptID(uid, lifecycle, target.To, start.Time), From: Cut(target.From, maxTarget), To: Cut(target.To, maxTarget), StartedAt: start}
}

package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// AttemptID returns a short text of what identifies an attempt: a hash of the object, the lifecycle, the target and the second of the
// start, and then the fraction of that second. Alternating between two targets therefore starts a new attempt each time. The fraction
// separates an attempt from one that started in the same second and whose status was lost since: a command that was sent for the
// other must not count as sent.
func AttemptID(uid, lifecycle, target string, startedAt time.Time) string {
	return attemptHash(uid, lifecycle, target, startedAt) + fmt.Sprintf("%04x", startedAt.Nanosecond()>>fractionShift)
}

// attemptHash is the part of the id that follows from what the status shows.
func attemptHash(uid, lifecycle, target string, startedAt time.Time) string {
	h := sha256.New()
	for _, part := range []string{uid, lifecycle, target, strconv.FormatInt(startedAt.Unix(), 10)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:attemptBytes])
}

const (
	// attemptBytes is the length of the hash in bytes. With the four characters of the fraction an id has 16, the limit of the status
	// field.
	attemptBytes = 6
	// fractionShift reduces nanoseconds to 16 bits.
	fractionShift = 14
	// shortID is the length of an id in entries that an earlier release wrote.
	shortID = 6
)

// SameAttempt reports whether both are the same attempt: the id, the start and the target must be equal.
func SameAttempt(a, b *lifecyclev1.Attempt) bool {
	return a != nil && b != nil && a.ID == b.ID && a.To == b.To && a.StartedAt.Equal(&b.StartedAt)
}

// pursues reports whether the attempt was started towards the target. An id of an earlier release, which has no fraction or is shorter,
// matches as well, so that an attempt in progress continues under this release.
func pursues(a *lifecyclev1.Attempt, uid, lifecycle, target string) bool {
	if a == nil || a.To != Cut(target, maxTarget) {
		return false
	}
	hash := attemptHash(uid, lifecycle, target, a.StartedAt.Time)
	return strings.HasPrefix(a.ID, hash) || len(a.ID) == shortID && strings.HasPrefix(hash, a.ID)
}

// newAttempt hashes the whole target and shows as much of it as the status field holds.
func newAttempt(uid, lifecycle string, target Target, now time.Time) *lifecyclev1.Attempt {
	start := metav1.NewTime(now.Truncate(time.Second))
	return &lifecyclev1.Attempt{ID: AttemptID(uid, lifecycle, target.To, now), From: Cut(target.From, maxTarget), To: Cut(target.To, maxTarget), StartedAt: start}
}

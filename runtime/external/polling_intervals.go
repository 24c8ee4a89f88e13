package external

import (
	"time"

	"github.com/detent-dev/detent/runtime/internal/poller"
)

// renewals is how often an answer is requested again within its maximum age.
const renewals = 10

// retryFailed is the delay before a failed question is sent again, independently of the state that waits for it: at rest only the
// next resync would repeat it.
const retryFailed = 10 * time.Second

// intervals returns from which age on the last answer to a query is renewed when the object is reconciled, and how soon the object is
// reconciled for it; zero if it is not.
func intervals[Q comparable](q Query[Q], last poller.ReadingState) (renew, again time.Duration) {
	renew, again = q.MaxAge/renewals, q.Again
	if q.Renew > 0 {
		renew = min(renew, q.Renew)
	}
	if last == poller.Unreadable {
		renew, again = min(renew, retryFailed), retryFailed
	}
	return renew, again
}

package external

import "time"

// renewals is how often an answer is requested again within its maximum age.
const renewals = 10

// retryFailed is the delay before a failed question is sent again, independently of the state that waits for it: at rest only the
// next resync would repeat it.
const retryFailed = 10 * time.Second

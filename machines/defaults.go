package machines

import (
	"time"
)

const (
	inferringDeadline     = 10 * time.Minute
	defaultMaxAge         = 30 * time.Second
	defaultMaxTransitions = 64
	defaultRequeueAfter   = time.Second
)

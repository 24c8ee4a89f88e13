package machines

// Limits of texts, lists and counts in the status, as the schema of crds/lifecycle/v1 has them. Every text is cut to them before it is
// written.
const (
	maxText     = 512
	maxObserved = 1024
	maxName     = 64
	maxUnit     = 32
	maxTarget   = 128
	maxWaiting  = 8
	maxHistory  = 20
	maxCount    = 1 << 30
)

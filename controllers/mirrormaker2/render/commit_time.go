package render

import (
	"strconv"
	"time"
)

// milliseconds returns a time from the configuration of the workers.
func (c *Cluster) milliseconds(property string, otherwise time.Duration) time.Duration {
	if n, err := strconv.ParseInt(c.worker[property], 10, 64); err == nil && n > 0 {
		return time.Duration(n) * time.Millisecond
	}
	return otherwise
}

// Flush is the interval at which workers commit offsets.
func (c *Cluster) Flush() time.Duration { return c.milliseconds(propertyFlush, time.Minute) }

// LongestCommit is how long a task that was stopped may take to commit its last offsets.
func (c *Cluster) LongestCommit() time.Duration {
	return c.Flush() + c.milliseconds(propertyFlushLimit, 5*time.Second) + c.milliseconds(propertyGraceful, 5*time.Second)
}

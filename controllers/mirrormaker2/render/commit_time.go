package render

import (
	"strconv"
	"strings"
	"time"
)

// Endless is the longest time that a worker may commit for. It stands for one that is not known: a value that is a reference, which only the
// worker resolves.
const Endless = time.Duration(1 << 60)

// milliseconds returns a time from the configuration of the workers, at most Endless. A value that Kafka cannot read starts no worker.
func (c *Cluster) milliseconds(property string, otherwise time.Duration) time.Duration {
	value := strings.TrimSpace(c.worker[property])
	if strings.Contains(value, "${") {
		return Endless
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil || n <= 0:
		return otherwise
	case n > Endless.Milliseconds():
		return Endless
	}
	return time.Duration(n) * time.Millisecond
}

// Flush is the interval at which workers commit offsets.
func (c *Cluster) Flush() time.Duration {
	const usual = time.Minute
	if flush := c.milliseconds(propertyFlush, usual); flush < Endless {
		return flush
	}
	return usual
}

// LongestCommit is how long a task that was stopped may take to commit its last offsets, at most Endless.
func (c *Cluster) LongestCommit() time.Duration {
	return min(Endless, c.milliseconds(propertyFlush, time.Minute)+c.milliseconds(propertyFlushLimit, 5*time.Second)+c.milliseconds(propertyGraceful, 5*time.Second))
}

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
func milliseconds(config map[string]string, property string, otherwise time.Duration) time.Duration {
	value := strings.TrimSpace(config[property])
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
	if flush := milliseconds(c.worker, propertyFlush, usual); flush < Endless {
		return flush
	}
	return usual
}

// LongestCommit is how long a task that was stopped may take to commit its last offsets in a worker of the cluster, at most Endless.
func (c *Cluster) LongestCommit() time.Duration { return longestCommit(c.worker) }

// LongestCommitOf is what LongestCommit is for a worker with a configuration of the ConfigMap.
func LongestCommitOf(content string) time.Duration {
	config := map[string]string{}
	for line := range strings.Lines(content) {
		name, value, _ := strings.Cut(line, "=") // the names of the times contain no escape
		config[name] = value
	}
	return longestCommit(config)
}

func longestCommit(config map[string]string) time.Duration {
	return min(Endless, milliseconds(config, propertyFlush, time.Minute)+milliseconds(config, propertyFlushLimit, 5*time.Second)+milliseconds(config, propertyGraceful, 5*time.Second))
}

// Package poller decouples a reconcile from the latency of an external system. An Endpoint
// sends questions and commands to one external system, one call at a time, in a goroutine
// that exists only while there is work. A reconcile reads the last answer with its age,
// requests a newer one, and is requeued when it arrives.
//
// The reader decides how old an answer may be. The outcome of a command is kept until
// another command replaces it. One process never executes a command twice. After a restart
// of the process the outcome is unknown, and the caller must resolve it by reading.
package poller

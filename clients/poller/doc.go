// Package poller keeps a pass from waiting on the world. An Endpoint puts questions to
// one outside system and hands it commands, one call at a time, in a goroutine of its
// own that exists only while there is something to do. A pass reads the last answer with
// its age, asks for a newer one, and is woken when it arrives.
//
// How old an answer may be is the reader's decision. What became of a command is kept
// until another one takes its place; it is never executed twice by one process, and a
// process that was lost leaves its outcome unknown, to be settled by reading.
package poller

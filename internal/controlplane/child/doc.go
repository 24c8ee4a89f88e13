// Package child runs another program as a child that cannot outlive its parent.
//
// A control plane that is left running after its test was killed holds ports,
// memory and a temporary directory, and the next run fails for reasons that
// have nothing to do with it. So the promise here is stronger than a deferred
// clean-up, which a SIGKILL never runs: when the parent goes, in whatever way,
// the kernel (Linux) or a watcher on a pipe (elsewhere) ends the child.
//
// A child's output goes to a file, and the end of that file is part of the
// error when the child ends by itself: the reason why a server did not start is
// nearly always in its own last lines.
package child

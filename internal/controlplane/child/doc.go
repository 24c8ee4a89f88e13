// Package child runs another program as a child that cannot outlive its parent.
//
// A control plane that keeps running after its test was killed occupies ports,
// memory and a temporary directory, and makes the next run fail for unrelated
// reasons. A deferred clean-up does not run on SIGKILL. Therefore the kernel
// (Linux) or a watcher on a pipe (other systems) kills the child whenever the
// parent ends.
//
// A child's output goes to a file. If the child ends unexpectedly, the end of
// that file is part of the error, because it usually contains the reason why a
// server did not start.
package child

package observation

import "time"

// worker is what the answers of one process showed.
type worker struct {
	// quiet is since when each of its answers showed no tasks. asked is when it was asked first, and answered when it last answered.
	quiet, asked, answered time.Time
	// ran is the time between its answers since then. Time in which it gave none, or was not asked for long, does not count. pause is the
	// longest part of it, between two answers: the process may have been frozen in it.
	ran, pause time.Duration
	// failed means that it has failed to answer since it last answered.
	failed bool
	// sparse means that its last two answers were too far apart to be connected, although it did not fail in between.
	sparse bool
}

// of returns what the answers of one process showed. It is asked from now on at the latest.
func (w *watch) of(process string, now time.Time) *worker {
	if w.workers == nil {
		w.workers = map[string]*worker{}
	}
	one := w.workers[process]
	if one == nil {
		one = &worker{asked: now}
		w.workers[process] = one
	}
	return one
}

// sawWorker adds an answer of one process. Two answers that are further apart than most are not connected.
func (w *watch) sawWorker(one *worker, tasks int, at time.Time, most time.Duration) {
	passed, failed := at.Sub(one.answered), one.failed
	one.answered, one.failed = at, false
	switch {
	case tasks > 0 || w.stopped.IsZero() || at.Before(w.stopped):
		one.disquiet()
	case one.quiet.IsZero():
		one.quiet = at
	case !failed && passed > most:
		one.sparse = true
	case !failed && passed > 0:
		one.ran, one.pause, one.sparse = one.ran+passed, max(one.pause, passed), false
	}
}

func (one *worker) disquiet() { one.quiet, one.ran, one.pause, one.sparse = time.Time{}, 0, 0, false }

// quiet reports whether the process has had the time to commit its last offsets since it had no tasks, and the offsets stayed equal. Time
// in which it may have been frozen does not count: it would commit after it continues.
func (w *watch) quiet(one *worker, longest time.Duration) bool {
	if one.quiet.IsZero() || !w.read || one.ran < longest+one.pause {
		return false
	}
	from := one.quiet
	if w.since.After(from) {
		from = w.since
	}
	return !w.last.Before(from.Add(longest))
}

// silent reports whether the process has not answered for so long that it must be restarted. A process to which the last question is still
// under way, or waits for others, has not failed to answer.
func (one *worker) silent(now time.Time, most time.Duration) bool {
	if !one.failed {
		return false
	}
	from := one.asked
	if one.answered.After(from) {
		from = one.answered
	}
	return !now.Before(from.Add(most))
}

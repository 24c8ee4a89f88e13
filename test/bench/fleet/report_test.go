package fleet

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/detent-dev/detent/test/lab"
)

// What a manager process is asked for.
const (
	askCounts = "counts"
	// askWrites leaves out everything but the writes, so that asking often costs little.
	askWrites = "writes"
	// askMemory lets it collect its garbage first.
	askMemory = "memory"
)

// report of a manager process about itself.
type report struct {
	// Writes by what they are.
	Writes map[string]int
	// Passes by controller.
	Passes map[string]int
	// CPU time of the process.
	CPU time.Duration
	// Resident memory of the process, and its heap after a collection, in bytes.
	Resident, Heap uint64
	Err            string
}

func (r report) writes() int {
	all := 0
	for _, n := range r.Writes {
		all += n
	}
	return all
}

func measure(what string, counter *lab.RequestCounter) report {
	r := report{Writes: counter.Writes()}
	if what == askWrites {
		return r
	}
	fail := func(err error) report { return report{Err: err.Error()} }
	var err error
	if r.Passes, err = passes(); err != nil {
		return fail(err)
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return fail(err)
	}
	r.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	if r.Resident, err = resident(); err != nil {
		return fail(err)
	}
	if what == askMemory {
		runtime.GC()
		runtime.GC() // what the first one has only finalized
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		r.Heap = stats.HeapAlloc
	}
	return r
}

// passes that were taken, by controller.
func passes() (map[string]int, error) {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, f := range families {
		if f.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "controller" {
					out[l.GetValue()] += int(m.GetCounter().GetValue())
				}
			}
		}
	}
	return out, nil
}

// resident memory as Linux reports it, in bytes.
func resident() (uint64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib uint64
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("no VmRSS in /proc/self/status")
}

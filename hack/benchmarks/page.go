package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const preface = `# What it costs

Written by ` + "`make bench`" + `, which takes about half an hour; do not edit. Times are wall-clock times. They are not
representative if other work runs on the machine; the table shows its load.

`

const fleetPreface = `
## A fleet at rest

%s, at rest together, on a real kube-apiserver and etcd on the same machine. The Kafka clusters have three nodes each, with both
roles; nodes and Kafka are simulated in another process. Each kind has a manager: ` + "`examples/hello`" + ` and ` + "`detent manager`" + `
as they are shipped, with four workers, a lease, and no limit on requests to the API server. Both are restarted when all resources
are at rest, so that memory contains nothing from before, and are measured for one minute. In that minute each resource is
reconciled: the resync of ten minutes is set to thirty seconds, and all other times in proportion. The transport counts every
request as a write, except reads and renewals of the lease. After its start a new manager writes
one event, which says that it leads; any other write fails the benchmark.

`

// page returns the page of all measurements. It fails if a benchmark on it was not
// measured.
func page(m machine, r results) (string, error) {
	var b strings.Builder
	b.WriteString(preface)
	m.write(&b)
	b.WriteString("\n## A pass\n\nWithout a server: the client is in memory, and its cost is negligible.\n\n")
	missed, err := writePasses(&b, r)
	if err != nil {
		return "", err
	}
	if len(missed) > 0 {
		b.WriteString("\nWhy an aim is missed:\n\n" + strings.Join(missed, "\n") + "\n")
	}
	if err := writeSequences(&b, r); err != nil {
		return "", err
	}
	if err := writeFleet(&b, r); err != nil {
		return "", err
	}
	err = writeMemory(&b, r)
	return b.String(), err
}

func (m machine) write(b *strings.Builder) {
	for _, line := range [][2]string{
		{"machine", ""}, {"---", "---"},
		{"processor", fmt.Sprintf("%s, %d cores", m.CPU, m.Cores)}, {"memory", m.Memory}, {"system", m.System}, {"Go", m.Go},
		{"commit", m.Commit}, {"load before and after", m.Before + " and " + m.After},
	} {
		fmt.Fprintf(b, "| %s | %s |\n", line[0], line[1])
	}
}

func writePasses(b *strings.Builder, r results) (missed []string, err error) {
	b.WriteString("| | median | least | aim | allocations | aim | memory | |\n|---|---:|---:|---:|---:|---:|---:|---|\n")
	for _, row := range passes {
		took, err := r.spread(row.benchmark, row.Unit)
		if err != nil {
			return nil, err
		}
		allocs, err := r.spread(row.benchmark, "allocs/op")
		if err != nil {
			return nil, err
		}
		memory, err := r.spread(row.benchmark, "B/op")
		if err != nil {
			return nil, err
		}
		verdict := ""
		if row.Aim >= 0 {
			verdict = "met"
			if took.Median > row.Aim || row.Allocs >= 0 && allocs.Median > row.Allocs {
				verdict = "**missed**"
				missed = append(missed, fmt.Sprintf("- %s: %s", row.What, row.cause()))
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.0f | %s | %s | %s |\n", row.What, duration(took.Median), duration(took.Least),
			aim(row.Aim, duration), allocs.Median, aim(row.Allocs, count), kibibytes(memory.Median), verdict)
	}
	return missed, nil
}

func (r row) cause() string {
	if r.Cause == "" {
		return "not looked into yet"
	}
	return r.Cause
}

func aim(most float64, show func(float64) string) string {
	if most < 0 {
		return ""
	}
	return "≤ " + show(most)
}

// duration formats nanoseconds with three digits.
func duration(ns float64) string {
	switch {
	case ns < float64(time.Microsecond):
		return fmt.Sprintf("%.3g ns", ns)
	case ns < float64(time.Millisecond):
		return fmt.Sprintf("%.3g µs", ns/float64(time.Microsecond))
	default:
		return fmt.Sprintf("%.3g ms", ns/float64(time.Millisecond))
	}
}

// fleets returns the benchmarks of fleets, by name, and the names of the fleets.
func fleets(r results) (found []benchmark, names []string) {
	for b := range r {
		if strings.HasPrefix(b.Name, "Fleet/") {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b benchmark) int { return strings.Compare(a.Name, b.Name) })
	for _, b := range found {
		kind, size, _ := strings.Cut(strings.TrimPrefix(b.Name, "Fleet/"), "=")
		names = append(names, size+" "+kind)
	}
	return found, names
}

func writeFleet(b *strings.Builder, r results) error {
	found, names := fleets(r)
	if len(found) == 0 {
		return fmt.Errorf("no fleet was measured")
	}
	fmt.Fprintf(b, fleetPreface, strings.Join(names, " and "))
	fmt.Fprintf(b, "| | %s | aim | |\n|---|%s---:|---|\n", strings.Join(names, " | "), strings.Repeat("---:|", len(names)))
	for _, q := range quantities {
		values, verdict := make([]string, len(found)), ""
		if q.Aim >= 0 {
			verdict = "met"
		}
		for i, f := range found {
			measured, err := r.spread(f, q.Unit)
			if err != nil {
				return err
			}
			values[i] = q.Show(measured.Median)
			if q.Aim >= 0 && measured.Median > q.Aim {
				verdict = "**missed**"
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", q.What, strings.Join(values, " | "), aim(q.Aim, count), verdict)
	}
	return nil
}

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const preface = `# What it costs

Written by ` + "`make bench`" + `, which takes about half an hour; do not edit. With BENCH=name it measures a part, and replaces the sections
that it has measured as a whole. Times are wall-clock times. They are not representative if other work runs on the machine, whose load each
section shows.
`

const passesPreface = `Without a server: the client is in memory, and its cost is negligible.

`

const fleetPreface = `%s, at rest together, on a real kube-apiserver and etcd on the same machine. The Kafka clusters have three nodes each, with both
roles; nodes and Kafka are simulated in another process. Each kind has a manager: ` + "`examples/hello`" + ` and ` + "`detent manager`" + `
as they are shipped, with four workers, a lease, and no limit on requests to the API server. Both are restarted when all resources
are at rest, so that memory contains nothing from before, and are measured for one minute. In that minute each resource is
reconciled: the resync of ten minutes is set to thirty seconds, and all other times in proportion. The transport counts every
request as a write, except reads and renewals of the lease. After its start a new manager writes
one event, which says that it leads; any other write fails the benchmark.

`

// section of the page.
type section struct {
	title string
	// write fails if one of its benchmarks was not measured.
	write func(*strings.Builder, results) error
}

// sections of the page, in order.
var sections = []section{
	{"A pass", writePasses},
	{"Offsets of 10,000 partitions", writeOffsets},
	{"Twelve steps, compared with a reconciler that is written by hand", writeSequences},
	{"A fleet at rest", writeFleet},
	{"Memory of a manager", writeMemory},
}

// page returns the page. Sections whose benchmarks were not all measured are taken from before, an earlier page. It fails if that has no
// such section.
func page(m machine, r results, before string) (string, error) {
	var b strings.Builder
	b.WriteString(preface)
	kept := sectionsOf(before)
	for _, s := range sections {
		var measured strings.Builder
		err := s.write(&measured, r)
		text := m.String() + "\n\n" + measured.String()
		if err != nil {
			var found bool
			if text, found = kept[s.title]; !found {
				return "", err
			}
		}
		fmt.Fprintf(&b, "\n%s%s\n\n%s\n", heading, s.title, strings.TrimSpace(text))
	}
	return b.String(), nil
}

const heading = "## "

// sectionsOf returns the sections of a page by their titles.
func sectionsOf(page string) map[string]string {
	out := map[string]string{}
	for i, text := range strings.Split("\n"+page, "\n"+heading) {
		if title, body, found := strings.Cut(text, "\n"); found && i > 0 {
			out[title] = body
		}
	}
	return out
}

// String says what was measured, and where.
func (m machine) String() string {
	return fmt.Sprintf("Measured at commit %s, on %s with %d cores and %s, %s, %s. Load before %s, and after %s.", m.Commit, m.CPU, m.Cores, m.Memory, m.System, m.Go, m.Before, m.After)
}

// writePasses writes the costs of a pass, and why an aim is missed.
func writePasses(b *strings.Builder, r results) error {
	b.WriteString(passesPreface)
	b.WriteString("| | median | least | aim | allocations | aim | |\n|---|---:|---:|---:|---:|---:|---|\n")
	var missed []string
	for _, row := range passes {
		took, err := r.spread(row.benchmark, row.Unit)
		if err != nil {
			return err
		}
		allocs, err := r.spread(row.benchmark, "allocs/op")
		if err != nil {
			return err
		}
		verdict := ""
		if row.Aim >= 0 {
			verdict = "met"
			if took.Median > row.Aim || row.Allocs >= 0 && allocs.Median > row.Allocs {
				verdict = "**missed**"
				missed = append(missed, fmt.Sprintf("- %s: %s", row.What, row.cause()))
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.0f | %s | %s |\n", row.What, duration(took.Median), duration(took.Least),
			aim(row.Aim, duration), allocs.Median, aim(row.Allocs, count), verdict)
	}
	if len(missed) > 0 {
		b.WriteString("\nWhy an aim is missed:\n\n" + strings.Join(missed, "\n") + "\n")
	}
	return nil
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
	case ns < float64(time.Second):
		return fmt.Sprintf("%.3g ms", ns/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%.3g s", ns/float64(time.Second))
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

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const sequencePreface = `Each object needs twelve ConfigMaps, one after another; each step is stored in the status before it begins
(test/bench/sequence). The framework runs a machine of thirteen states. The reconciler that is written by hand switches on a
phase and writes a condition. Both have a process of their own, four workers and a lease, and no limit on requests; they run in
turns on one kube-apiserver and etcd on the same machine. The factors compare with the run by hand that creates as many events.
Medians, if a size is run several times.

| objects | operator | time | | manager | | API server and etcd | | status writes per object | other writes | events |
|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`

// byHand names the benchmark that a contender is compared with.
const byHand = "by_hand"

// sequenceRow is one contender at one size.
type sequenceRow struct {
	benchmark
	name string
	size int
}

// sequenceRows returns the measured contenders, by size.
func sequenceRows(r results) (rows []sequenceRow, err error) {
	for b := range r {
		name, ok := strings.CutPrefix(b.Name, "Sequence/")
		if !ok {
			continue
		}
		name, size, _ := strings.Cut(name, "=")
		n, err := strconv.Atoi(size)
		if err != nil {
			return nil, fmt.Errorf("reading the size of Benchmark%s: %w", b.Name, err)
		}
		rows = append(rows, sequenceRow{b, name, n})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no sequence was measured")
	}
	slices.SortFunc(rows, func(a, b sequenceRow) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.quiet(), b.quiet()), cmp.Compare(b.name, a.name))
	})
	return rows, nil
}

// quiet returns the part of the name that says that there are no events.
func (s sequenceRow) quiet() string { return s.name[len(s.operator()):] }

func (s sequenceRow) operator() string {
	operator, _, _ := strings.Cut(s.name, "_without_events")
	return operator
}

// base returns the benchmark of the reconciler that is written by hand at the same size.
func (s sequenceRow) base() benchmark {
	return benchmark{s.Package, fmt.Sprintf("Sequence/%s%s=%d", byHand, s.quiet(), s.size)}
}

func writeSequences(b *strings.Builder, r results) error {
	rows, err := sequenceRows(r)
	if err != nil {
		return err
	}
	b.WriteString(sequencePreface)
	for _, row := range rows {
		fmt.Fprintf(b, "| %d | %s ", row.size, strings.ReplaceAll(row.name, "_", " "))
		for _, unit := range []string{"wall-s", "manager-cpu-s", "server-cpu-s"} {
			took, err := r.spread(row.benchmark, unit)
			if err != nil {
				return err
			}
			base, err := r.spread(row.base(), unit)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "| %.2f s | × %.2f ", took.Median, took.Median/base.Median)
		}
		for _, unit := range []string{"status-writes/object", "child-writes/object", "event-writes/object"} {
			writes, err := r.spread(row.benchmark, unit)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "| %.1f ", writes.Median)
		}
		b.WriteString("|\n")
	}
	return nil
}

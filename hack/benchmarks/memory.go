package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const memoryPreface = `The memory that the manager of ` + "`examples/hello`" + ` needs for each Greeting at rest, with its ConfigMap, after it has reconciled each of them
three times. The manager is real and a process of its own; its API server is a stub that serves the objects as a manager leaves them.
A manager of one Greeting is subtracted. Any write but the event of the lease fails the benchmark.

| Greetings | heap | heap per Greeting | resident | resident per Greeting | aim | |
|---:|---:|---:|---:|---:|---:|---|
`

// mostResident is the highest resident memory per object to accept, in bytes.
const mostResident = 10 << 10

// writeMemory writes a line for each size that was measured.
func writeMemory(b *strings.Builder, r results) error {
	sizes := map[benchmark]int{}
	var found []benchmark
	for of := range r {
		if text, ok := strings.CutPrefix(of.Name, "Memory/Greeting="); ok {
			size, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("reading the size of Benchmark%s: %w", of.Name, err)
			}
			sizes[of], found = size, append(found, of)
		}
	}
	if len(found) == 0 {
		return errors.New("the memory of a manager was not measured")
	}
	slices.SortFunc(found, func(a, b benchmark) int { return cmp.Compare(sizes[a], sizes[b]) })
	b.WriteString(memoryPreface)
	for _, of := range found {
		var values [4]float64
		for i, unit := range []string{"heap-B", "heap-B/object", "rss-B", "rss-B/object"} {
			measured, err := r.spread(of, unit)
			if err != nil {
				return err
			}
			values[i] = measured.Median
		}
		verdict := "met"
		if values[3] > mostResident {
			verdict = "**missed**"
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | ≤ %s | %s |\n", sizes[of], mebibytes(values[0]), kibibytes(values[1]), mebibytes(values[2]), kibibytes(values[3]),
			kibibytes(mostResident), verdict)
	}
	return nil
}

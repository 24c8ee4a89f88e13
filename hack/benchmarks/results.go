package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the measured values, by benchmark and unit.
type results map[benchmark]map[string][]float64

// benchmark is one line of a go test -bench output.
type benchmark struct {
	// Package is relative to the module. Name is without Benchmark and without the number of processors.
	Package, Name string
}

// processors matches the number of processors at the end of a benchmark's name, which is absent for one
// processor.
var processors = regexp.MustCompile(`-\d+$`)

// add reads an output of go test -bench, in the format of https://go.dev/design/14313-benchmark-format. It
// fails if the output contains a failure, because measurements before it are not valid.
func (r results) add(in io.Reader, module string) error {
	folder := ""
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if path, ok := strings.CutPrefix(line, "pkg: "); ok {
			folder = strings.TrimPrefix(path, module+"/")
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "--- FAIL") || strings.HasPrefix(line, "FAIL") {
			return fmt.Errorf("a benchmark of %s failed: %s", folder, line)
		}
		if err := r.line(folder, strings.Fields(line)); err != nil {
			return fmt.Errorf("reading %q: %w", line, err)
		}
	}
	return lines.Err()
}

func (r results) line(folder string, fields []string) error {
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return nil
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return nil //nolint:nilerr // a line of a log that begins with such a name
	}
	key := benchmark{folder, processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")}
	if r[key] == nil {
		r[key] = map[string][]float64{}
	}
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return err
		}
		r[key][fields[i+1]] = append(r[key][fields[i+1]], value)
	}
	return nil
}

// spread is the median and the minimum of some measurements.
type spread struct {
	Median, Least float64
	Count         int
}

func (r results) spread(b benchmark, unit string) (spread, error) {
	values := slices.Sorted(slices.Values(r[b][unit]))
	if len(values) == 0 {
		return spread{}, fmt.Errorf("%s of Benchmark%s in %s was not measured", unit, b.Name, b.Package)
	}
	half := len(values) / 2
	median := values[half]
	if len(values)%2 == 0 {
		median = (values[half-1] + values[half]) / 2
	}
	return spread{median, values[0], len(values)}, nil
}

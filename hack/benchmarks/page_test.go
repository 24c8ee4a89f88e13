package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const output = `goos: linux
pkg: github.com/detent-dev/detent/test/bench
cpu: AMD EPYC
BenchmarkAtRest/without_metrics-2         	  116282	     11733 ns/op	    5730 B/op	      39 allocs/op
BenchmarkAtRest/without_metrics-2         	  125758	      9766 ns/op	    5730 B/op	      39 allocs/op
BenchmarkAtRest/without_metrics-2         	  136870	     12181 ns/op	    5730 B/op	      41 allocs/op
BenchmarkAtRest/without_metrics-2         	  136870	     10000 ns/op	    5730 B/op	      39 allocs/op
PASS
ok  	github.com/detent-dev/detent/test/bench	10.867s
pkg: github.com/detent-dev/detent/test/bench/fleet
BenchmarkFleet
    fleet_test.go:115: something that was logged
BenchmarkFleet/Kafka=3
BenchmarkFleet/Kafka=3-2         	       1	         0 writes/min	     1.5 cpu-s/min
BenchmarkAlone 	       1	         3 ns/op
`

func TestResultsAdd(t *testing.T) {
	r := results{}
	if err := r.add(strings.NewReader(output), module); err != nil {
		t.Fatal(err)
	}
	at := benchmark{"test/bench", "AtRest/without_metrics"}
	want := results{
		at:                                    {"ns/op": {11733, 9766, 12181, 10000}, "B/op": {5730, 5730, 5730, 5730}, "allocs/op": {39, 39, 41, 39}},
		{"test/bench/fleet", "Fleet/Kafka=3"}: {"writes/min": {0}, "cpu-s/min": {1.5}},
		{"test/bench/fleet", "Alone"}:         {"ns/op": {3}},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	got, err := r.spread(at, "ns/op")
	if diff := cmp.Diff(spread{Median: 10866.5, Least: 9766, Count: 4}, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	if _, err := r.spread(at, "allocs"); err == nil || !strings.Contains(err.Error(), "allocs of BenchmarkAtRest/without_metrics in test/bench") {
		t.Errorf("what was not measured gives %v", err)
	}
}

func TestResultsAddFailsForFailure(t *testing.T) {
	for _, line := range []string{"--- FAIL: BenchmarkFleet", "    --- FAIL: BenchmarkFleet/Kafka=3", "FAIL\tgithub.com/detent-dev/detent/test/bench [build failed]"} {
		if err := (results{}).add(strings.NewReader(output+line+"\n"), module); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%q gives %v", line, err)
		}
	}
}

// measured returns results with the durations that took returns, and the given number of writes.
func measured(took func(row) float64, writes float64) results {
	r := results{}
	for _, row := range slices.Concat(passes, offsets) {
		r[row.benchmark] = map[string][]float64{row.Unit: {took(row)}, "allocs/op": {1}, "B/op": {2048}}
	}
	for name, seconds := range map[string]float64{"framework": 3, "by_hand": 2, "framework_without_events": 2.5, "by_hand_without_events": 1} {
		r[benchmark{"test/bench/fleet", "Sequence/" + name + "=100"}] = map[string][]float64{
			"wall-s": {seconds}, "manager-cpu-s": {seconds / 10}, "server-cpu-s": {seconds * 2},
			"status-writes/object": {13}, "child-writes/object": {12}, "event-writes/object": {0},
		}
	}
	for _, name := range []string{"Fleet/Kafka=100", "Fleet/Greeting=10000"} {
		of := map[string][]float64{}
		for _, q := range quantities {
			of[q.Unit] = []float64{2048}
		}
		of["writes/min"] = []float64{writes}
		r[benchmark{"test/bench/fleet", strings.Replace(name, "Fleet", "Memory", 1)}] = of
		r[benchmark{"test/bench/fleet", name}] = of
	}
	return r
}

func TestPage(t *testing.T) {
	m := machine{CPU: "AMD EPYC", Cores: 2, Memory: "7.8 GiB", System: "linux/amd64 6.1", Go: "go1.26", Commit: "0123456789ab", Before: "0.1 0.2 0.3", After: "1 2 3"}
	met := func(row) float64 { return 100 }
	tests := map[string]struct {
		took   func(row) float64
		writes float64
		want   []string
		not    []string
	}{
		"every aim is met": {
			took: met,
			want: []string{
				"## A pass\n\nMeasured at commit 0123456789ab, on AMD EPYC with 2 cores and 7.8 GiB, linux/amd64 6.1, go1.26. Load before 0.1 0.2 0.3, and after 1 2 3.\n",
				"| `hello`, a pass at rest | 100 ns | 100 ns | ≤ 10 µs | 1 | ≤ 50 | met |",
				"| a pass that reads the offsets | 100 ns | 100 ns | 0.0 MiB |",
				"10000 Greeting and 100 Kafka, at rest together",
				"| writes in the minute at rest, events included, renewals of the lease not | 0 | 0 | ≤ 0 | met |",
				"| heap per resource | 2.0 KiB | 2.0 KiB |  |  |",
				"| 10000 | 0.0 MiB | 2.0 KiB | 0.0 MiB | 2.0 KiB | ≤ 10.0 KiB | met |",
				"| 100 | framework | 3.00 s | × 1.50 | 0.30 s | × 1.50 | 6.00 s | × 1.50 | 13.0 | 12.0 | 0.0 |\n| 100 | by hand | 2.00 s | × 1.00 ",
				"| 100 | framework without events | 2.50 s | × 2.50 |",
			},
			not: []string{"missed"},
		},
		"an aim is missed, and the page says why": {
			took: func(r row) float64 {
				if r.Name == "AtRest/without_metrics" {
					return 12_345
				}
				return 100
			},
			want: []string{"| `hello`, a pass at rest | 12.3 µs | 12.3 µs | ≤ 10 µs | 1 | ≤ 50 | **missed** |", "- `hello`, a pass at rest: the store in memory"},
		},
		"a fleet writes": {
			took: met, writes: 3,
			want: []string{"renewals of the lease not | 3 | 3 | ≤ 0 | **missed** |"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := page(m, measured(tc.took, tc.writes), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("the page lacks %q:\n%s", want, got)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(got, not) {
					t.Errorf("the page says %q:\n%s", not, got)
				}
			}
		})
	}
}

func TestPageFailsForMissingBenchmark(t *testing.T) {
	whole := func() results { return measured(func(row) float64 { return 1 }, 0) }
	for _, row := range slices.Concat(passes, offsets) {
		r := whole()
		delete(r, row.benchmark)
		if _, err := page(machine{}, r, ""); err == nil || !strings.Contains(err.Error(), row.Name) {
			t.Errorf("without %v: %v", row.benchmark, err)
		}
	}
	for _, part := range []string{"Fleet/", "Sequence/", "Sequence/by_hand=", "Memory/"} {
		r := whole()
		for b := range r {
			if strings.HasPrefix(b.Name, part) {
				delete(r, b)
			}
		}
		if _, err := page(machine{}, r, ""); err == nil {
			t.Errorf("a page without %s", part)
		}
	}
}

func TestPageKeepsSectionsThatWereNotMeasured(t *testing.T) {
	whole := measured(func(row) float64 { return 1 }, 0)
	before, err := page(machine{Commit: "before"}, whole, "")
	if err != nil {
		t.Fatal(err)
	}
	part := results{}
	for _, row := range offsets {
		part[row.benchmark] = map[string][]float64{row.Unit: {2_000_000_000}, "B/op": {1 << 20}}
	}
	part[passes[0].benchmark] = map[string][]float64{passes[0].Unit: {7}, "allocs/op": {7}}
	got, err := page(machine{Commit: "after"}, part, before)
	if err != nil {
		t.Fatal(err)
	}
	want := sectionsOf(before)
	want["Offsets of 10,000 partitions"] = sectionsOf(got)["Offsets of 10,000 partitions"]
	if diff := cmp.Diff(want, sectionsOf(got)); diff != "" || len(want) != len(sections) {
		t.Errorf("%d sections (-want +got):\n%s", len(want), diff)
	}
	if of := want["Offsets of 10,000 partitions"]; !strings.Contains(of, "commit after") || !strings.Contains(of, "| 2 s | 2 s | 1.0 MiB |") {
		t.Errorf("the section that was measured: %s", of)
	}
	again, err := page(machine{Commit: "after"}, part, got)
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("%v, written again (-want +got):\n%s", err, diff)
	}
}

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{0.25: "0.25 ns", 999: "999 ns", 1000: "1 µs", 8340: "8.34 µs", 150_000: "150 µs", 2_084_605: "2.08 ms", 3_310_000_000: "3.31 s"} {
		if got := duration(ns); got != want {
			t.Errorf("%s ns = %s, want %s", fmt.Sprint(ns), got, want)
		}
	}
}

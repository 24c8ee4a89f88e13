package main

import (
	"fmt"
	"time"
)

// row of the page: what is measured, and the value to aim at.
type row struct {
	What string
	benchmark
	// Unit of the value. Allocations, if any, come from the same benchmark.
	Unit string
	// Aim is the highest value to accept, in the unit; negative for none. Allocs is the
	// same for allocations.
	Aim, Allocs float64
	// Cause is the explanation to print if the aim is missed.
	Cause string
}

const (
	none = -1

	micro, milli = float64(time.Microsecond), float64(time.Millisecond)
)

// passes are the costs of a reconcile. Aims are for one core of a small machine.
var passes = []row{
	{
		What: "`hello`, a pass at rest", benchmark: benchmark{"test/bench", "AtRest/without_metrics"}, Unit: "ns/op", Aim: 10 * micro, Allocs: 50,
		Cause: "the store in memory copies what it gives out, as a cache does: half of the allocations are copies of the greeting and its ConfigMap",
	},
	{What: "`hello`, a pass at rest, with metrics", benchmark: benchmark{"test/bench", "AtRest/with_metrics"}, Unit: "ns/op", Aim: none, Allocs: none},
	{What: "`hello`, a pass that commits a transition", benchmark: benchmark{"test/bench", "Transition"}, Unit: "ns/op", Aim: none, Allocs: none},
	{What: "`hello`, from another text to the end: three passes", benchmark: benchmark{"test/bench", "Change"}, Unit: "ns/op", Aim: none, Allocs: none},
	{
		What: "Kafka with six pods, a pass at rest", benchmark: benchmark{"controllers/kafka", "PassAtRest/nothing_is_another"}, Unit: "ns/op", Aim: 150 * micro, Allocs: none,
		Cause: "no single cause: a profile shows a quarter of the time in observing, a sixth in applying and a sixth in collecting " +
			"garbage; the decision about the version is computed twice, for the transitions and for the warnings",
	},
	{
		What: "Kafka with six pods, a pass that renders everything again", benchmark: benchmark{"controllers/kafka", "PassAtRest/another_declaration"}, Unit: "ns/op", Aim: milli, Allocs: none,
		Cause: "a third of the time goes into rendering the six pods, most of it into writing them as JSON in a stable order: other bytes would restart the pods",
	},
	{What: "Kafka with six pods, the first pass of a process", benchmark: benchmark{"controllers/kafka", "PassAtRest/the_first_of_a_process"}, Unit: "ns/op", Aim: none, Allocs: none},
	{What: "two lifecycles decide, at rest", benchmark: benchmark{"internal/pass", "Decide/at_rest"}, Unit: "ns/op", Aim: 4 * micro, Allocs: none},
	{What: "two lifecycles decide, one waits", benchmark: benchmark{"internal/pass", "Decide/waiting"}, Unit: "ns/op", Aim: none, Allocs: none},
	{What: "two lifecycles decide, one takes a transition", benchmark: benchmark{"internal/pass", "Decide/transition"}, Unit: "ns/op", Aim: 10 * micro, Allocs: none},
	{What: "compiling a machine of three states", benchmark: benchmark{"internal/pass", "Compile"}, Unit: "ns/op", Aim: none, Allocs: none},
	{What: "compiling `kafka-version-change`", benchmark: benchmark{"machines/kafkaversion", "Compile"}, Unit: "ns/op", Aim: none, Allocs: none},
}

// quantity is a value that is measured for each fleet.
type quantity struct {
	What, Unit string
	// Aim is the highest value to accept; negative for none.
	Aim  float64
	Show func(float64) string
}

func count(v float64) string     { return fmt.Sprintf("%.0f", v) }
func fraction(v float64) string  { return fmt.Sprintf("%.1f", v) }
func seconds(v float64) string   { return fmt.Sprintf("%.1f s", v) }
func kibibytes(v float64) string { return fmt.Sprintf("%.1f KiB", v/(1<<10)) }
func mebibytes(v float64) string { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }

// quantities are the values of each fleet.
var quantities = []quantity{
	{"writes in the minute at rest, events included, renewals of the lease not", "writes/min", 0, count},
	{"passes in that minute", "passes/min", none, count},
	{"processor time in that minute", "cpu-s/min", none, seconds},
	{"heap per resource", "heap-B/object", none, kibibytes},
	{"resident memory per resource", "rss-B/object", none, kibibytes},
	{"heap of the manager", "heap-B", none, mebibytes},
	{"resident memory of the manager", "rss-B", none, mebibytes},
	{"heap of a manager of one resource", "one-heap-B", none, mebibytes},
	{"resident memory of a manager of one resource", "one-rss-B", none, mebibytes},
	{"a new manager has reconciled all after", "first-look-s", none, seconds},
	{"all were at rest after", "rest-s", none, seconds},
	{"writes until a resource was at rest, events included", "rest-writes/object", none, fraction},
}

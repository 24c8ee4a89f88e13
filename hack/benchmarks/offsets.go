package main

import (
	"fmt"
	"strings"
)

const offsetsPreface = `A connector of a KafkaMirrorMaker2 with 10,000 source partitions, whose offsets are a document of about a megabyte. The client is in
memory, and the workers of Connect are simulated in the same process: what they allocate is included. What a pass allocates is what the
manager needs for it at most.

| | median | least | allocated |
|---|---:|---:|---:|
`

// offsets are the costs of requests for many offsets.
var offsets = []row{
	{What: "a pass that reads the offsets", benchmark: benchmark{"controllers/mirrormaker2", "ManyPartitions"}, Unit: "ns/op", Aim: none, Allocs: none},
	{What: "the offsets are listed, altered and verified: all passes, with the simulated workers", benchmark: benchmark{"controllers/mirrormaker2", "AlterManyPartitions"}, Unit: "ns/op", Aim: none, Allocs: none},
}

func writeOffsets(b *strings.Builder, r results) error {
	b.WriteString(offsetsPreface)
	for _, row := range offsets {
		took, err := r.spread(row.benchmark, row.Unit)
		if err != nil {
			return err
		}
		memory, err := r.spread(row.benchmark, "B/op")
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", row.What, duration(took.Median), duration(took.Least), mebibytes(memory.Median))
	}
	return nil
}

package ceph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// longest is the age in milliseconds from which no age matters.
const longest = 150_000

// AppendCanonical appends everything that the future of the cluster depends on, with ages in place of times.
func (c *Cluster) AppendCanonical(dst []byte) []byte {
	age := func(at int64) int64 { return min(c.Now-at, longest) }
	for i := range c.Daemons {
		d := &c.Daemons[i]
		dst = fmt.Appendf(dst, "%s %s %s %s %s %t %d %d %t %t %t %t %d %d;", d.Name, d.Version, d.Pod, d.Reported, d.ReportedPod, d.Running, age(d.Since), d.Newest, d.Spoiled, d.InMemory, d.NoOut, d.Out, d.Rank, max(d.ActiveAt-c.Now, 0))
	}
	dst = fmt.Appendf(dst, "%d %d %s %d %v", c.RequireRelease, c.MinMonRelease, c.Active, age(c.ActiveSince), c.Unreachable)
	if c.statsAt >= 0 { // maps are printed sorted
		dst = fmt.Appendf(dst, " %d %v %v", age(c.statsAt), c.stats, c.counted)
	}
	for _, s := range c.sessions {
		dst = fmt.Appendf(dst, " %s %s", s.host, s.filesystem)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Keys)) {
		dst = append(append(append(append(dst, key...), '='), c.Keys[key]...), 0)
	}
	rest, err := json.Marshal([]any{c.Pools, c.Filesystems, c.Codes, c.Faults, c.UUIDs})
	if err != nil { // plain values
		panic(err)
	}
	return append(dst, rest...)
}

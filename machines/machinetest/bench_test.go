package machinetest_test

import (
	"fmt"
	"testing"

	"github.com/detent-dev/detent/machines/machinetest"
)

// BenchmarkExamine measures everything that Run does on a table of 26 rows, and on one five times as long.
func BenchmarkExamine(b *testing.B) {
	for _, times := range []int{1, 5} {
		var rows []row
		for i := range times {
			for _, r := range table() {
				r.Name = fmt.Sprint(r.Name, " ", i)
				rows = append(rows, r)
			}
		}
		b.Run(fmt.Sprint(len(rows), " rows"), func(b *testing.B) {
			m := compiled(b, nil)
			b.ReportAllocs()
			for b.Loop() {
				if report := machinetest.Examine(m, rows); report.Failed() {
					b.Fatal(report.Problems)
				}
			}
		})
	}
}

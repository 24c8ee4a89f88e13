package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReaderTally(t *testing.T) {
	tests := map[string]struct {
		acknowledged []bool
		seen         []int
		want         tally
	}{
		"every record once, in order":                        {[]bool{true, true, true}, []int{0, 1, 2}, tally{Read: 3}},
		"an acknowledged record that is missing is lost":     {[]bool{true, true, true}, []int{0, 2}, tally{Read: 2, Lost: 1}},
		"a record without an answer may be missing":          {[]bool{true, false, true}, []int{0, 2}, tally{Read: 2}},
		"a record without an answer may be there":            {[]bool{true, false, true}, []int{0, 1, 2}, tally{Read: 3}},
		"a repeated record is duplicated, and out of order":  {[]bool{true, true, true}, []int{0, 1, 2, 1}, tally{Read: 3, Duplicated: 1, OutOfOrder: 1}},
		"the same record twice in a row is duplicated alone": {[]bool{true, true}, []int{0, 0, 1}, tally{Read: 2, Duplicated: 1}},
		"swapped records are out of order":                   {[]bool{true, true, true}, []int{1, 0, 2}, tally{Read: 3, OutOfOrder: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReader(&stream{partitions: 1})
			for _, number := range tc.seen {
				r.see(0, number)
			}
			if diff := cmp.Diff(tc.want, r.tally([][]bool{tc.acknowledged})); diff != "" {
				t.Errorf("tally (-want +got):\n%s", diff)
			}
		})
	}
}

package nodeids

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/detent-dev/detent/test/cases"
)

// ids expands ranges.
func (r ranges) ids() []int32 {
	var out []int32
	r.each(func(id int32) bool { out = append(out, id); return true })
	return out
}

// lists is the outcome for several annotations: their ids, or whether all are accepted without a warning, or that none can be read.
type lists struct {
	IDs   [][]int32     `json:"ids"`
	Valid *bool         `json:"valid"`
	Error cases.Failure `json:"error"`
}

func TestParseCases(t *testing.T) {
	type given struct {
		Ranges []string `json:"ranges"`
	}
	cases.RunStrimzi(t, "node-ids.yaml", "node-id-range", nil, func(t *testing.T, g given, want lists) lists {
		out := lists{Error: true}
		warned := 0
		for _, text := range g.Ranges {
			r, err := parse(text)
			out.Error = out.Error && err != nil
			out.IDs = append(out.IDs, r.ids())
			warned += len(Assign([]Pool{{Name: "a", Next: text}}, Reserved{}).Warnings)
		}
		if want.Valid == nil {
			if out.Error {
				out.IDs = nil
			}
			return out
		}
		if warned > 0 && warned < len(g.Ranges) {
			t.Errorf("%d of %d lists have a warning", warned, len(g.Ranges))
		}
		return lists{Valid: new(warned == 0)}
	})
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]int32{
		"[5 - 7    ]": {5, 6, 7}, "[0,1,2]": {0, 1, 2}, "[2147483647]": {2147483647}, "[2147483646-2147483647]": {2147483646, 2147483647},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.ids(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{
		"[+5]", "5", "[1-2-3]", "[2147483648]",
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := parse(text); err == nil {
				t.Errorf("parse gives %v, want an error", got)
			}
		})
	}
}

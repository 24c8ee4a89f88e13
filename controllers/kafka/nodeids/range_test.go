package nodeids

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	for text, want := range map[string][]int32{
		"": nil, "   ": nil, "[]": nil, "[  ]": nil, " [ ] ": nil,
		"[ 1 ]": {1}, "[ 1, 2, 3 ]": {1, 2, 3}, "[ 1, 3, 2 ]": {1, 3, 2}, "[ 1-3 ]": {1, 2, 3},
		"[ 1-3, 10 - 12 ]":          {1, 2, 3, 10, 11, 12},
		"[ 1-3, 6, 7, 8, 10 - 12 ]": {1, 2, 3, 6, 7, 8, 10, 11, 12},
		"[ 1-1 ]":                   {1}, "[ 3-1 ]": {3, 2, 1}, "[ 1-3, 12 - 10 ]": {1, 2, 3, 12, 11, 10},
		"[5 - 7    ]": {5, 6, 7}, "[0,1,2]": {0, 1, 2}, "[2147483647]": {2147483647}, "[2147483646-2147483647]": {2147483646, 2147483647},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			var ids []int32
			got.each(func(id int32) bool { ids = append(ids, id); return true })
			if diff := cmp.Diff(want, ids, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{
		"[-5]", "[-5-10]", "[5-]", "[5,]", "[-10]", " 5 - 10 ]", "[0, 1, 2", "[0,,2]", "[0, a, 2]", "[5,7---9]", "foo, bar", "[foo-bar]",
		"[999999999999999999999999999999999]", "[0-999999999999999999999999999999999]", "[+5]", "5", "[1-2-3]",
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := parse(text); err == nil {
				t.Errorf("parse gives %v, want an error", got)
			}
		})
	}
}

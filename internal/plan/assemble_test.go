package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanHidesTheContentsOfSecrets(t *testing.T) {
	secret := map[string]any{
		"kind": "Secret", "metadata": map[string]any{"name": "ca", "uid": "x", "resourceVersion": "7", "ownerReferences": []any{map[string]any{"name": "a", "uid": "y"}}},
		"data": map[string]any{"key": "c2VjcmV0"}, "stringData": map[string]any{"word": "secret"}, "status": map[string]any{},
	}
	bare(secret)
	want := map[string]any{
		"kind": "Secret", "metadata": map[string]any{"name": "ca", "ownerReferences": []any{map[string]any{"name": "a"}}},
		"data": map[string]any{"key": "(not shown)"}, "stringData": map[string]any{"word": "(not shown)"},
	}
	if diff := cmp.Diff(want, secret); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOffsetStringIsInWholeSeconds(t *testing.T) {
	for text, want := range map[string]string{`"95s"`: "", `"0s"`: "", `"1m"`: "is not a number of seconds", `"x"`: "is not a number of seconds"} {
		var o Offset
		err := json.Unmarshal([]byte(text), &o)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if again, errJSON := json.Marshal(o); err == nil && (errJSON != nil || string(again) != text) {
			t.Errorf("%s became %s, %v", text, again, errJSON)
		}
	}
}

func TestPlanResultIsTheWorst(t *testing.T) {
	one := func(r Result, planned bool) Object {
		return Object{Planned: planned, Lifecycles: []Lifecycle{{Result: Rests}, {Result: r}}}
	}
	cases := map[string]struct {
		objects []Object
		want    Result
		planned bool
		code    int
	}{
		"nothing":                       {nil, Rests, false, 0},
		"all rest":                      {[]Object{one(Rests, true), one(Rests, false)}, Rests, false, 0},
		"one holds as asked":            {[]Object{one(Rests, true), one(Holds, true)}, Holds, true, 2},
		"one holds, refused":            {[]Object{one(Holds, false)}, Holds, false, 2},
		"one as asked, another refused": {[]Object{one(Holds, true), one(Holds, false)}, Holds, false, 2},
		"one stalls":                    {[]Object{one(Holds, true), one(Stalls, false)}, Stalls, false, 2},
		"a paused one":                  {[]Object{{Planned: true, paused: true}}, Holds, true, 2},
		"problems that last":            {[]Object{{Problems: []string{"x"}}}, Stalls, false, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := &Plan{Objects: tc.objects}
			p.settle()
			if p.Result != tc.want || p.Planned != tc.planned || p.ExitCode() != tc.code {
				t.Errorf("%s, planned %v, exit code %d", p.Result, p.Planned, p.ExitCode())
			}
		})
	}
}

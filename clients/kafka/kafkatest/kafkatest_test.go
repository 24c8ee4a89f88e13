package kafkatest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/detent-dev/detent/clients/kafka"
)

// TestReleasesAgreeWithFranz checks the table against the one in franz-go, which has minor
// releases only.
func TestReleasesAgreeWithFranz(t *testing.T) {
	known := map[string]*kversion.Versions{
		"3.9.2": kversion.V3_9_0(), "4.0.2": kversion.V4_0_0(), "4.1.2": kversion.V4_1_0(), "4.3.1": kversion.FromString("v4.3"),
	}
	for _, r := range Releases() {
		supported, formatted := map[string]kafka.Range{}, map[string]int16{}
		known[r.Version].EachSupportedFeature(func(name string, low, high int16) { supported[name] = kafka.Range{Min: low, Max: high} })
		known[r.Version].EachFinalizedFeature(func(name string, level int16) {
			// Level 1 is for a quorum whose voters can change; a static quorum stays at 0.
			if level > 0 && name != "kraft.version" {
				formatted[name] = level
			}
		})
		if diff := cmp.Diff(supported, r.Supported); diff != "" {
			t.Errorf("%s supports (-franz +ours):\n%s", r.Version, diff)
		}
		if diff := cmp.Diff(formatted, r.Formatted); diff != "" {
			t.Errorf("%s formats (-franz +ours):\n%s", r.Version, diff)
		}
	}
	if _, err := ReleaseOf("2.8"); err == nil {
		t.Error("2.8 is in the table")
	}
}

func TestBehavioursHaveUniqueNames(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Behaviours() {
		if b.Name == "" || seen[b.Name] || b.When.Do == nil || len(b.Setup.Nodes) == 0 {
			t.Errorf("row %+v", b.Name)
		}
		seen[b.Name] = true
	}
}

func TestWantJudge(t *testing.T) {
	no := &kafka.Refused{Code: kafka.CodeInvalidUpdateVersion, Message: "Broker 3 only supports versions 7-25"}
	died := &Died{Node: 3, Words: "Unsupported metadata version 27"}
	cases := map[string]struct {
		want Want
		err  error
		ok   bool
	}{
		"accepted":                        {accepted(), nil, true},
		"refused instead":                 {accepted(), no, false},
		"died instead":                    {accepted(), died, false},
		"refused as wanted":               {refusedWith("Broker 3", "7-25"), no, true},
		"refused with another text":       {refusedWith("Controller 3"), no, false},
		"refused with another code":       {Want{Code: 1}, no, false},
		"accepted instead of refused":     {refusedWith("Broker 3"), nil, false},
		"died as wanted":                  {dies("Unsupported metadata version"), died, true},
		"died with one of two":            {dies("out of memory", "Unsupported metadata version"), died, true},
		"died with other words":           {dies("out of memory"), died, false},
		"lived on":                        {dies("Unsupported metadata version"), nil, false},
		"no answer where one was wanted":  {accepted(), errors.New("connection refused"), false},
		"no answer instead of a refusal":  {refusedWith("Broker 3"), errors.New("connection refused"), false},
		"an unknown outcome is no answer": {refusedWith("Broker 3"), &kafka.OutcomeUnknown{Err: no}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.want.judge(c.err); (got == nil) != c.ok {
				t.Errorf("judged %v", got)
			}
		})
	}
}

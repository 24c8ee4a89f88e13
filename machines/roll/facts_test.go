package roll_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
)

func TestData(t *testing.T) {
	for name, m := range map[string]roll.Data{"no node": roll.NoNode(), "node 0": {Node: 0}, "node 1003": {Node: 1003}} {
		t.Run(name, func(t *testing.T) {
			back, err := roll.Decode(roll.Encode(m))
			if err != nil || back != m {
				t.Errorf("%+v came back as %+v, %v", m, back, err)
			}
		})
	}
	for name, coded := range map[string]map[string]string{
		"no number":          {"node": "a"},
		"a negative number":  {"node": "-1"},
		"a number too large": {"node": "4294967296"},
		"something else":     {"pod": "a"},
		"something more":     {"node": "1", "pod": "a"},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := roll.Decode(coded); err == nil {
				t.Errorf("%v was decoded as %+v", coded, m)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	progress := roll.Inclusion[roll.Facts, int32]{Facts: func(f *roll.Facts) *roll.Facts { return f }}.Progress()
	for name, c := range map[string]struct {
		reason string
		nodes  roll.Facts
		data   roll.Data
		want   machines.Count
	}{
		"no node is selected":         {nodes: rolltest.Dual(3, rolltest.Outdated(1, 2)), data: roll.NoNode(), want: machines.Count{Done: 1, Total: 3}},
		"the selected node is to go":  {nodes: rolltest.Dual(3, rolltest.Outdated(1, 2)), data: roll.Data{Node: 1}, want: machines.Count{Done: 1, Total: 3, Current: rolltest.Pod(1)}},
		"the selected node came back": {reason: "it is done once it is in sync", nodes: rolltest.Dual(3, rolltest.Outdated(2)), data: roll.Data{Node: 1}, want: machines.Count{Done: 1, Total: 3, Current: rolltest.Pod(1)}},
		"the selected node left":      {nodes: rolltest.Dual(3, rolltest.Outdated(2)), data: roll.Data{Node: 7}, want: machines.Count{Done: 2, Total: 3}},
		"all are done":                {nodes: rolltest.Dual(3), data: roll.NoNode(), want: machines.Count{Done: 3, Total: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, progress.Of(&c.nodes, c.data)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"none":  {nil, ""},
		"three": {[]string{"c", "a", "b"}, "a, b, c"},
		"five":  {[]string{"e", "d", "c", "a", "b"}, "a, b, c and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := roll.Names(c.names); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTroubles(t *testing.T) {
	nodes := rolltest.Dual(4, rolltest.Down(1), rolltest.Gone(2))
	want := []string{rolltest.Pod(1) + " (cannot pull image apache/kafka:none)", rolltest.Pod(2)}
	if diff := cmp.Diff(want, roll.Troubles(&nodes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

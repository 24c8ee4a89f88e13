package runtime

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

// The exploration goes on from a saved memory several times: what one branch changes must not be seen by another.
func TestMemoryCloneSharesNothing(t *testing.T) {
	for name, change := range map[string]func(*memory){
		"a removal of the finalizer that was refused": func(m *memory) { m.releasing.failures++ },
		"a repair":                       func(m *memory) { m.repairing.failures++ },
		"an apply":                       func(m *memory) { m.applying.failures++ },
		"a pruned status":                func(m *memory) { m.pruned.failures++ },
		"a lifecycle":                    func(m *memory) { m.lifecycles["roll"].failures++ },
		"a problem that is shown":        func(m *memory) { m.disclosed["roll"][0] = "other" },
		"another problem that is shown":  func(m *memory) { m.disclosed["roll"] = append(m.disclosed["roll"], "other") },
		"a problem of another lifecycle": func(m *memory) { m.disclosed["version"] = []transitions.Reason{"other"} },
		"a line of the journal":          func(m *memory) { m.noted["roll"] = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			fresh := func() *memory {
				return &memory{
					pruned: &trouble{}, repairing: &trouble{}, applying: &trouble{}, releasing: &trouble{},
					lifecycles: map[string]*trouble{"roll": {}}, disclosed: map[string][]transitions.Reason{"roll": {"slow"}}, noted: map[string]string{"roll": "line"},
				}
			}
			one := fresh()
			change(one.clone())
			compared := cmp.AllowUnexported(memory{}, trouble{})
			if diff := cmp.Diff(fresh(), one, compared); diff != "" {
				t.Errorf("the saved memory (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMemoryCanonicalContainsEachBackOff(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	failed := &trouble{failures: 1, notBefore: now.Add(time.Second)}
	rest := (&memory{}).appendCanonical(nil, now, 0)
	for name, m := range map[string]*memory{
		"repairing": {repairing: failed}, "applying": {applying: failed}, "releasing": {releasing: failed},
		"a lifecycle": {lifecycles: map[string]*trouble{"roll": failed}},
	} {
		t.Run(name, func(t *testing.T) {
			if bytes.Equal(rest, m.appendCanonical(nil, now, 0)) {
				t.Error("a memory with a back-off counts as one without")
			}
		})
	}
}

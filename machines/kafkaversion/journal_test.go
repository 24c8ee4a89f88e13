package kafkaversion_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/clients/kafka/versions"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
)

// evaluated is all that a look says.
type evaluated struct {
	Decision machines.Decision
	Shown    lifecyclev1.Lifecycle
	Acting   machines.ActionResult[kafkaversion.Effect]
}

func evaluationOf(lc evaluating, entry *lifecyclev1.Lifecycle, f kafkaversion.Facts) evaluated {
	at := evaluate(lc, entry, f, lc.Needs(entry))
	out := evaluated{Decision: at.Decide(), Shown: at.Project()}
	if _, acts := lc.Action(entry.State); acts {
		out.Acting = at.Act()
	}
	return out
}

// TestFactsSurviveAJournal: what is decided upon facts that were written down is what was decided upon them, in the same words.
func TestFactsSurviveAJournal(t *testing.T) {
	k, lc := newScenes(t), onFacts(t)
	byText := cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) || a != nil && b != nil && a.Error() == b.Error() })
	rapid.Check(t, func(t *rapid.T) {
		f := k.anyScene(t).facts()
		entry := anyEntry(t, &f)
		back := comeBack(t, &f, k.table)
		if diff := cmp.Diff(evaluationOf(lc, entry, f), evaluationOf(lc, entry, back), byText, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("in %s (-was +is):\n%s", entry.State, diff)
		}
	})
}

func comeBack(t *rapid.T, f *kafkaversion.Facts, table *versions.Table) (back kafkaversion.Facts) {
	text, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	back.Situation.Table = table
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(text) {
		t.Fatalf("%v: the coding is not canonical:\n%s\n%s", err, text, again)
	}
	return back
}

package machinetest

import (
	"reflect"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Limits of encoded data.
const (
	maxMemoEntries = 8
	maxMemoText    = 64
)

// checkLaws checks the properties of the machine that Compile cannot check, on the facts of the rows.
func (x *examination[F, M, E]) checkLaws() {
	if _, err := x.def.Memo.Decode(nil); err != nil {
		x.problem("Decode fails on a nil map, which most transitions commit: %v: let Decode return the zero memo", err)
	}
	for i := range x.trials {
		t := &x.trials[i]
		x.checkMemo(t)
		x.checkLocated(t)
		x.checkWhile(t)
		x.checkPurity(t)
	}
}

func (x *examination[F, M, E]) checkMemo(t *trial[F, M, E]) {
	for _, memo := range []*M{t.row.Memo, t.row.Want.Memo} {
		if memo == nil {
			continue
		}
		var coded map[string]string
		var back M
		err := safely(func() { coded = x.def.Memo.Encode(*memo) })
		if err == nil {
			back, err = x.def.Memo.Decode(coded)
		}
		switch {
		case err != nil:
			x.failed(t.row, "the memo %+v cannot be decoded after encoding: %v", *memo, err)
		case !reflect.DeepEqual(*memo, back):
			x.failed(t.row, "the memo differs after encoding and decoding (-want +got):\n%s", cmp.Diff(*memo, back, exact))
		case len(coded) > maxMemoEntries:
			x.failed(t.row, "the memo has %d entries, the status holds %d", len(coded), maxMemoEntries)
		}
		for key, value := range coded {
			if len(key) > maxMemoText || len(value) > maxMemoText {
				x.failed(t.row, "the memo's entry %q is longer than %d characters", key, maxMemoText)
			}
		}
	}
}

// checkLocated: the invariant of an inferred state holds on the facts that it was inferred from.
func (x *examination[F, M, E]) checkLocated(t *trial[F, M, E]) {
	var place machines.Place[M]
	var verdict transitions.Verdict
	if err := safely(func() { place, verdict = x.def.Locate.Find(&t.row.Facts) }); err != nil || verdict.Answer != transitions.Yes {
		return
	}
	for i := range x.sites {
		s := &x.sites[i]
		if s.kind != whileSite || s.state != place.State {
			continue
		}
		if v, ok := s.verdict(whole, &t.row.Facts, place.Memo); ok && v.Answer == transitions.No {
			x.problemOnce("located "+place.State, "Locate finds %s with memo %+v in the facts of row %q, but While of %s says no there%s: the state would be inferred again in every reconcile; fix one of them",
				place.State, place.Memo, t.row.Name, place.State, saw(v))
		}
	}
}

// checkWhile: the invariant of a state holds wherever the guard of one of its exits says yes. Otherwise the exit is never
// taken.
func (x *examination[F, M, E]) checkWhile(t *trial[F, M, E]) {
	if !t.readable {
		return
	}
	for i := range x.sites {
		while := &x.sites[i]
		if while.kind != whileSite || while.state != t.row.State {
			continue
		}
		v, ok := while.verdict(whole, &t.row.Facts, t.memo)
		if !ok || v.Answer != transitions.No {
			continue
		}
		for j := range x.sites {
			exit := &x.sites[j]
			if exit.kind != edgeSite || exit.state != t.row.State {
				continue
			}
			if e, ok := exit.verdict(whole, &t.row.Facts, t.memo); ok && e.Answer == transitions.Yes {
				x.problemOnce("exit "+exit.label, "While of %s says no%s where its exit %s says yes, in row %q: the exit is never taken there; let While also hold where an exit does",
					t.row.State, saw(v), exit.label, t.row.Name)
			}
		}
	}
}

func saw(v transitions.Verdict) string {
	if v.Saw == "" {
		return ""
	}
	return " (" + v.Saw + ")"
}

// checkPurity: the same facts have the same outcome.
func (x *examination[F, M, E]) checkPurity(t *trial[F, M, E]) {
	again := x.strict.follow(t.entry, &t.row.Facts)
	if !again.same(&t.out) {
		x.failed(t.row, "evaluated twice, the machine answers %s and then %s: a guard or action is no pure function of its facts", follows(&t.out), follows(&again))
	}
}

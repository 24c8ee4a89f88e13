package machinetest

import (
	"reflect"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Limits of encoded data.
const (
	maxDataEntries = 8
	maxDataText    = 64
)

// checkLaws checks the properties of the machine that Compile cannot check, on the facts of the rows.
func (x *examination[F, D, E]) checkLaws() {
	if _, err := x.def.Data.Decode(nil); err != nil {
		x.problem("Decode fails on a nil map, which most transitions commit: %v: let Decode return the zero data", err)
	}
	for i := range x.trials {
		t := &x.trials[i]
		x.checkData(t)
		x.checkInferred(t)
		x.checkInvariant(t)
		x.checkPurity(t)
	}
}

func (x *examination[F, D, E]) checkData(t *trial[F, D, E]) {
	for _, data := range []*D{t.row.Data, t.row.Want.Data} {
		if data == nil {
			continue
		}
		var coded map[string]string
		var back D
		err := safely(func() { coded = x.def.Data.Encode(*data) })
		if err == nil {
			back, err = x.def.Data.Decode(coded)
		}
		switch {
		case err != nil:
			x.failed(t.row, "the data %+v cannot be decoded after encoding: %v", *data, err)
		case !reflect.DeepEqual(*data, back):
			x.failed(t.row, "the data differs after encoding and decoding (-want +got):\n%s", cmp.Diff(*data, back, exact))
		case len(coded) > maxDataEntries:
			x.failed(t.row, "the data has %d entries, the status holds %d", len(coded), maxDataEntries)
		}
		for key, value := range coded {
			if len(key) > maxDataText || len(value) > maxDataText {
				x.failed(t.row, "the data's entry %q is longer than %d characters", key, maxDataText)
			}
		}
	}
}

// checkInferred: the invariant of an inferred state holds on the facts that it was inferred from.
func (x *examination[F, D, E]) checkInferred(t *trial[F, D, E]) {
	var place machines.InferredState[D]
	var verdict transitions.Verdict
	if err := safely(func() { place, verdict = x.def.Infer.Find(&t.row.Facts) }); err != nil || verdict.Answer != transitions.Yes {
		return
	}
	for i := range x.sites {
		s := &x.sites[i]
		if s.kind != invariantSite || s.state != place.State {
			continue
		}
		if v, ok := s.verdict(whole, &t.row.Facts, place.Data); ok && v.Answer == transitions.No {
			x.problemOnce("inferred "+place.State, "Infer finds %s with data %+v in the facts of row %q, but Invariant of %s says no there%s: the state would be inferred again in every reconcile; fix one of them",
				place.State, place.Data, t.row.Name, place.State, observed(v))
		}
	}
}

// checkInvariant: the invariant of a state holds wherever the guard of one of its exits says yes. Otherwise the exit is never
// taken.
func (x *examination[F, D, E]) checkInvariant(t *trial[F, D, E]) {
	if !t.readable {
		return
	}
	for i := range x.sites {
		while := &x.sites[i]
		if while.kind != invariantSite || while.state != t.row.State {
			continue
		}
		v, ok := while.verdict(whole, &t.row.Facts, t.data)
		if !ok || v.Answer != transitions.No {
			continue
		}
		for j := range x.sites {
			exit := &x.sites[j]
			if exit.kind != edgeSite || exit.state != t.row.State {
				continue
			}
			if e, ok := exit.verdict(whole, &t.row.Facts, t.data); ok && e.Answer == transitions.Yes {
				x.problemOnce("exit "+exit.label, "Invariant of %s says no%s where its exit %s says yes, in row %q: the exit is never taken there; let Invariant also hold where an exit does",
					t.row.State, observed(v), exit.label, t.row.Name)
			}
		}
	}
}

func observed(v transitions.Verdict) string {
	if v.Observed == "" {
		return ""
	}
	return " (" + v.Observed + ")"
}

// checkPurity: the same facts have the same outcome.
func (x *examination[F, D, E]) checkPurity(t *trial[F, D, E]) {
	again := x.strict.follow(t.entry, &t.row.Facts)
	if !again.same(&t.out) {
		x.failed(t.row, "evaluated twice, the machine answers %s and then %s: a guard or action is no pure function of its facts", follows(&t.out), follows(&again))
	}
}

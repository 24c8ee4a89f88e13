package machinetest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// shown is the part of a row's outcome that is compared with its Want.
type shown[E any] struct {
	Event, To  string
	Data       map[string]string
	WaitingFor []string
	Effects    []E
	Blocked    []string
}

// exact compares unexported fields too: data and effects are plain values.
var exact = cmp.Exporter(func(reflect.Type) bool { return true })

func (x *examination[F, D, E]) failed(row *Row[F, D, E], text string, args ...any) {
	x.report.Rows[row.Name] = append(x.report.Rows[row.Name], fmt.Sprintf(text, args...))
}

// checkRows compares the outcome of each row with its Want.
func (x *examination[F, D, E]) checkRows() {
	for i := range x.trials {
		t := &x.trials[i]
		if t.out.err != nil {
			x.failed(t.row, "%v", t.out.err)
			continue
		}
		want, got := x.wanted(t), x.found(t)
		if t.out.event != "" {
			next, err := x.strict.enter(t.entry, &t.row.Facts, &t.out)
			if err == nil && t.row.Want.WaitingFor != nil {
				got.WaitingFor, err = waitingFor(next)
			}
			if err != nil {
				x.failed(t.row, "entering %s: %v", t.out.to, err)
				continue
			}
		}
		if reflect.DeepEqual(want, got) {
			continue
		}
		if diff := cmp.Diff(want, got, exact, cmpopts.EquateEmpty()); diff != "" {
			x.failed(t.row, "in state %s (-want +got):\n%s", named(t.row.State), diff)
		}
	}
}

func (x *examination[F, D, E]) wanted(t *trial[F, D, E]) shown[E] {
	w := t.row.Want
	out := shown[E]{Event: w.Event, To: w.To, WaitingFor: sorted(w.WaitingFor), Effects: w.Effects, Blocked: sorted(w.Blocked)}
	if w.Event == "" {
		return out
	}
	if w.Data != nil {
		out.Data = x.def.Data.Encode(*w.Data)
	}
	out.Data = x.canonical(out.Data)
	return out
}

func (x *examination[F, D, E]) found(t *trial[F, D, E]) shown[E] {
	out := shown[E]{Event: t.out.event, To: t.out.to, WaitingFor: t.out.waiting, Effects: t.out.effects, Blocked: t.out.blocked}
	if out.Event != "" {
		out.Data = x.canonical(t.out.data)
	}
	return out
}

// canonical encodes data again, so that two encodings of the same data are equal. Data that cannot be decoded is returned
// unchanged.
func (x *examination[F, D, E]) canonical(coded map[string]string) map[string]string {
	data, err := x.def.Data.Decode(coded)
	if err != nil {
		return coded
	}
	return x.def.Data.Encode(data)
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}

func named(state string) string {
	if state == "" {
		return "(none)"
	}
	return state
}

package machinetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// checkShape checks the tags of the facts.
func (x *examination[F, D, E]) checkShape() {
	for _, field := range x.shape.untagged {
		x.problem("fact %s names no need: tag it with the need that it costs, as in `need:\"quorum\"`", field)
	}
	for _, need := range x.shape.all() {
		if !slices.ContainsFunc(x.def.Needs, func(n machines.Need) bool { return n.Name == need }) {
			x.problem("fact %s has need %q, which the machine does not declare: add it to Needs or correct the tag", x.shape.needs[need], need)
		}
	}
}

// reader is a function of a machine that reads facts: a guard, a choice, an action, Target, Infer or Progress.
type reader[F, D any] struct {
	label string
	// needs that it declares.
	needs []transitions.Need
	read  func(facts *F, data D) any
}

// readers returns the readers of a row's state, and those that every state has.
func (x *examination[F, D, E]) readers(t *trial[F, D, E]) []reader[F, D] {
	type inferred struct {
		place   machines.InferredState[D]
		verdict transitions.Verdict
	}
	out := []reader[F, D]{
		{"Target", x.def.TargetNeeds, func(f *F, _ D) any { return x.def.Target(f) }},
		{"Infer", x.def.Infer.Needs, func(f *F, _ D) any {
			place, verdict := x.def.Infer.Find(f)
			return inferred{place, verdict}
		}},
	}
	if !t.readable {
		return out
	}
	if x.def.Progress.Of != nil {
		out = append(out, reader[F, D]{"Progress", x.def.Progress.Needs, func(f *F, m D) any { return x.def.Progress.Of(f, m) }})
	}
	for i := range x.sites {
		s := &x.sites[i]
		if s.state != t.row.State {
			continue
		}
		for n, l := range s.leaves {
			out = append(out, reader[F, D]{"guard " + l.Name + " in " + s.label, l.needs, func(f *F, m D) any { return s.ask(n, f, m) }})
		}
	}
	for _, s := range x.def.States {
		if s.Name == t.row.State && s.Action != nil && t.out.mayAct {
			needs := union(s.Action.Needs, s.Action.Precondition.AllNeeds())
			out = append(out, reader[F, D]{"action " + s.Action.Name + " of " + s.Name, needs, func(f *F, m D) any { return s.Action.Effects(f, m) }})
		}
	}
	return out
}

// checkReads blanks, for each reader, every costly fact that it did not declare. Its result must not change.
func (x *examination[F, D, E]) checkReads() {
	if len(x.shape.needs) == 0 {
		return
	}
	for i := range x.trials {
		t := &x.trials[i]
		for _, r := range x.readers(t) {
			if field := x.undeclared(&r, &t.row.Facts, t.data); field != "" {
				x.problemOnce(r.label+field, "%s reads %s without declaring it: add it to its Needs (row %q)", r.label, field, t.row.Name)
			}
		}
	}
}

// undeclared returns the costly facts that are read without being declared, or an empty string.
func (x *examination[F, D, E]) undeclared(r *reader[F, D], facts *F, data D) string {
	var full any
	if err := safely(func() { full = r.read(facts, data) }); err != nil {
		return "" // the strict evaluation of the row reports it
	}
	if !reflect.DeepEqual(full, r.read(facts, data)) {
		return "" // not a pure function: checkPurity reports it
	}
	changed := func(keep []transitions.Need) bool {
		less := blanked(x.shape, *facts, keep)
		var now any
		err := safely(func() { now = r.read(&less, data) })
		return err != nil || !reflect.DeepEqual(full, now)
	}
	all := x.shape.all()
	if len(missingIn(all, r.needs)) == 0 || !changed(r.needs) {
		return ""
	}
	var fields []string
	for _, need := range missingIn(all, r.needs) {
		if changed(slices.DeleteFunc(slices.Clone(all), func(n transitions.Need) bool { return n == need })) {
			fields = append(fields, fmt.Sprintf("%s (need %q)", x.shape.needs[need], need))
		}
	}
	return strings.Join(fields, ", ")
}

// missingIn returns the needs in all that are not in some.
func missingIn(all, some []transitions.Need) []transitions.Need {
	return slices.DeleteFunc(slices.Clone(all), func(n transitions.Need) bool { return slices.Contains(some, n) })
}

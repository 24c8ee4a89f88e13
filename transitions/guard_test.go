package transitions_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/transitions"
)

// facts are the answers that the guards of these tests give, by name.
type facts map[string]transitions.Verdict

type data struct{}

type guard = transitions.Guard[facts, data]

func named(name string, needs ...transitions.Need) guard {
	return guard{
		Name: name, Doc: "says what the facts say of " + name, Expected: "a yes of " + name, Needs: needs,
		Evaluate: func(f *facts, _ data) transitions.Verdict { return (*f)[name] },
	}
}

var (
	yes     = transitions.Allow()
	no      = transitions.Deny("a no")
	unknown = transitions.Verdict{Observed: "a gap"}
	pending = transitions.Verdict{Observed: "not answered yet", Pending: true}
)

func TestGuardCombinationsFollowKleene(t *testing.T) {
	const y, n, u = transitions.Yes, transitions.No, transitions.Unknown
	verdicts := map[transitions.Answer]transitions.Verdict{y: yes, n: no, u: unknown}
	rows := []struct{ a, b, all, anyOf transitions.Answer }{
		{y, y, y, y}, {y, n, n, y}, {y, u, u, y},
		{n, y, n, y}, {n, n, n, n}, {n, u, n, u},
		{u, y, u, y}, {u, n, n, u}, {u, u, u, u},
	}
	both := transitions.All(named("a"), named("b"))
	either := transitions.Any(named("a"), named("b"))
	for _, r := range rows {
		t.Run(fmt.Sprintf("%v and %v", r.a, r.b), func(t *testing.T) {
			f := facts{"a": verdicts[r.a], "b": verdicts[r.b]}
			if got := both.Verdict(&f, data{}).Answer; got != r.all {
				t.Errorf("All says %v, want %v", got, r.all)
			}
			if got := either.Verdict(&f, data{}).Answer; got != r.anyOf {
				t.Errorf("Any says %v, want %v", got, r.anyOf)
			}
		})
	}
	negated := transitions.Not(named("a"), "the opposite")
	for answer, want := range map[transitions.Answer]transitions.Answer{y: n, n: y, u: u} {
		f := facts{"a": verdicts[answer]}
		if got := negated.Verdict(&f, data{}).Answer; got != want || answer.Not() != want {
			t.Errorf("Not of %v says %v, want %v", answer, got, want)
		}
	}
}

func TestGuardCombinationsOfNothing(t *testing.T) {
	f := facts{}
	if got := transitions.All[facts, data]().Verdict(&f, data{}).Answer; got != transitions.Yes {
		t.Errorf("All of nothing says %v, want yes", got)
	}
	if got := transitions.Any[facts, data]().Verdict(&f, data{}).Answer; got != transitions.No {
		t.Errorf("Any of nothing says %v, want no", got)
	}
}

// tree draws a random combination of the guards a, b and c.
func tree(t *rapid.T, depth int) (guard, func(map[string]int) int) {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 3).Draw(t, "kind")
	}
	switch kind {
	case 1:
		inner, value := tree(t, depth-1)
		return transitions.Not(inner, "the opposite"), func(v map[string]int) int { return 2 - value(v) }
	case 2, 3:
		pick, combine := func(l, r int) int { return min(l, r) }, transitions.All[facts, data]
		if kind == 3 {
			pick, combine = func(l, r int) int { return max(l, r) }, transitions.Any[facts, data]
		}
		left, l := tree(t, depth-1)
		right, r := tree(t, depth-1)
		return combine(left, right), func(v map[string]int) int { return pick(l(v), r(v)) }
	default:
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "leaf")
		return named(name), func(v map[string]int) int { return v[name] }
	}
}

// Kleene's logic is minimum, maximum and 2-x over no=0, unknown=1, yes=2.
func TestGuardCombinationsAgreeWithArithmetic(t *testing.T) {
	scale := []transitions.Verdict{no, unknown, yes}
	number := map[transitions.Answer]int{transitions.No: 0, transitions.Unknown: 1, transitions.Yes: 2}
	rapid.Check(t, func(t *rapid.T) {
		g, value := tree(t, 4)
		numbers, f := map[string]int{}, facts{}
		for _, name := range []string{"a", "b", "c"} {
			numbers[name] = rapid.IntRange(0, 2).Draw(t, name)
			f[name] = scale[numbers[name]]
		}
		got := g.Verdict(&f, data{}).Answer
		if number[got] != value(numbers) {
			t.Fatalf("%s over %v says %v, want %d", g.Name, numbers, got, value(numbers))
		}
		if blocked := len(g.Blockers(&f, data{})) > 0; blocked != (got != transitions.Yes) {
			t.Fatalf("%s over %v says %v, but blocked is %v", g.Name, numbers, got, blocked)
		}
	})
}

func TestVerdictReasons(t *testing.T) {
	a, b := named("a"), named("b")
	cases := map[string]struct {
		guard guard
		facts facts
		want  transitions.Verdict
	}{
		"a leaf brings its own want": {
			guard: a, facts: facts{"a": no}, want: transitions.Verdict{Answer: transitions.No, Expected: "a yes of a", Observed: "a no"},
		},
		"a verdict may replace the want": {
			guard: a, facts: facts{"a": {Answer: transitions.No, Expected: "3 of 5 voters"}},
			want: transitions.Verdict{Answer: transitions.No, Expected: "3 of 5 voters"},
		},
		"All reports the guard that says no, not of one that does not know": {
			guard: transitions.All(a, b), facts: facts{"a": unknown, "b": no},
			want: transitions.Verdict{Answer: transitions.No, Expected: "a yes of b", Observed: "a no"},
		},
		"All reports the first that does not know": {
			guard: transitions.All(a, b), facts: facts{"a": yes, "b": unknown},
			want: transitions.Verdict{Expected: "a yes of b", Observed: "a gap"},
		},
		"what is unreadable outweighs what is pending": {
			guard: transitions.All(a, b), facts: facts{"a": pending, "b": unknown},
			want: transitions.Verdict{Expected: "a yes of b", Observed: "a gap"},
		},
		"All that only waits for first answers is pending": {
			guard: transitions.All(a, b), facts: facts{"a": pending, "b": yes},
			want: transitions.Verdict{Expected: "a yes of a", Observed: "not answered yet", Pending: true},
		},
		"Any that no guard grants reports the first with something seen": {
			guard: transitions.Any(a, b), facts: facts{"a": {Answer: transitions.No}, "b": no},
			want: transitions.Verdict{Answer: transitions.No, Expected: "a yes of b", Observed: "a no"},
		},
		"Any with one unreadable part does not know": {
			guard: transitions.Any(a, b), facts: facts{"a": no, "b": unknown},
			want: transitions.Verdict{Expected: "a yes of b", Observed: "a gap"},
		},
		"Not brings its own want and keeps what was seen": {
			guard: transitions.Not(a, "no leader"), facts: facts{"a": {Answer: transitions.Yes, Observed: "leader 3"}},
			want: transitions.Verdict{Answer: transitions.No, Expected: "no leader", Observed: "leader 3"},
		},
		"Not of a pending guard is pending": {
			guard: transitions.Not(a, "no leader"), facts: facts{"a": pending},
			want: transitions.Verdict{Expected: "no leader", Observed: "not answered yet", Pending: true},
		},
		"Always says yes": {
			guard: transitions.Always[facts, data](), facts: facts{}, want: transitions.Verdict{Answer: transitions.Yes, Expected: "nothing"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.guard.Verdict(&tc.facts, data{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIf(t *testing.T) {
	if diff := cmp.Diff(transitions.Allow(), transitions.If(true, "unused")); diff != "" {
		t.Errorf("a condition that holds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(transitions.Deny("2 of 3"), transitions.If(false, "2 of 3")); diff != "" {
		t.Errorf("a condition that does not hold (-want +got):\n%s", diff)
	}
}

func TestAnswerString(t *testing.T) {
	var forgotten transitions.Answer
	got := []string{transitions.Yes.String(), transitions.No.String(), forgotten.String()}
	if diff := cmp.Diff([]string{"yes", "no", "unknown"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGuardBlockers(t *testing.T) {
	a, b, c := named("a"), named("b"), named("c")
	cases := map[string]struct {
		guard guard
		facts facts
		want  []string
	}{
		"nothing blocks a yes":                    {guard: transitions.All(a, b), facts: facts{"a": yes, "b": yes}},
		"each part of an All stands on its own":   {guard: transitions.All(a, transitions.All(b, c)), facts: facts{"a": no, "b": yes, "c": unknown}, want: []string{"a", "c"}},
		"an Any is one blocker":                   {guard: transitions.Any(a, b), facts: facts{"a": no, "b": unknown}, want: []string{"any(a, b)"}},
		"a Not is one blocker":                    {guard: transitions.Not(transitions.All(a, b), "not both"), facts: facts{"a": yes, "b": yes}, want: []string{"not(all(a, b))"}},
		"an Any within an All hides when granted": {guard: transitions.All(a, transitions.Any(b, c)), facts: facts{"a": no, "b": yes, "c": no}, want: []string{"a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, blocker := range tc.guard.Blockers(&tc.facts, data{}) {
				got = append(got, blocker.Guard)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuardParts(t *testing.T) {
	a, b := named("a", "quorum", "isr"), named("b", "isr", "levels")
	g := transitions.All(a, transitions.Not(transitions.Any(b, a), "neither"))
	if diff := cmp.Diff([]transitions.Need{"isr", "levels", "quorum"}, g.AllNeeds()); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	var leaves []string
	for _, l := range g.Leaves() {
		leaves = append(leaves, l.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "a"}, leaves); diff != "" {
		t.Errorf("leaves (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("all(a, not(any(b, a)))", g.Name); diff != "" {
		t.Errorf("name (-want +got):\n%s", diff)
	}
	if inner, ok := g.Parts()[1].Negated(); !ok || inner.Name != "any(b, a)" {
		t.Errorf("the second part negates %q (%v)", inner.Name, ok)
	}
	if _, ok := g.Negated(); ok {
		t.Error("an All passes for a Not")
	}
	if !g.Combined() || a.Combined() || g.IsZero() || a.IsZero() || !(guard{Name: "a"}).IsZero() {
		t.Error("Combined or IsZero is wrong")
	}
	if !transitions.Always[facts, data]().Certain() || a.Certain() || g.Certain() {
		t.Error("only Always is certain")
	}
	if len(a.Needs) != 2 || a.Needs[0] != "quorum" {
		t.Errorf("listing needs changed the guard's own: %v", a.Needs)
	}
}

func TestGuardMutatedChangesOneLeafAndNotTheOriginal(t *testing.T) {
	g := transitions.All(named("a"), transitions.Any(named("b"), named("c")))
	cases := map[string]struct {
		leaf  int
		facts facts
		want  transitions.Answer
	}{
		"the first leaf":                     {leaf: 0, facts: facts{"a": no, "b": yes, "c": no}, want: transitions.Yes},
		"a leaf inside a nested combination": {leaf: 2, facts: facts{"a": yes, "b": no, "c": no}, want: transitions.Yes},
		"unknown stays unknown":              {leaf: 0, facts: facts{"a": unknown, "b": yes, "c": yes}, want: transitions.Unknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := g.Verdict(&tc.facts, data{})
			if got := g.Mutated(access.Key{}, tc.leaf, transitions.Answer.Not).Verdict(&tc.facts, data{}).Answer; got != tc.want {
				t.Errorf("the mutant says %v, want %v", got, tc.want)
			}
			if diff := cmp.Diff(before, g.Verdict(&tc.facts, data{})); diff != "" {
				t.Errorf("the original changed:\n%s", diff)
			}
		})
	}
}

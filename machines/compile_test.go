package machines

import (
	"errors"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

func TestCompileLeavesTheDeclarationAlone(t *testing.T) {
	def := toy()
	mustCompile(t, def)
	want := toy()
	if len(def.States) != len(want.States) || def.Needs[0].MaxAge != 0 || len(def.Transitions) != len(want.Transitions) {
		t.Error("compiling changed the declaration")
	}
	withRoom := toy()
	withRoom.States = slices.Grow(withRoom.States, 8)
	a, b := mustCompile(t, withRoom), mustCompile(t, withRoom)
	if a.states[Inferring].State == b.states[Inferring].State {
		t.Error("two machines share states")
	}
}

func TestCompileSetsDefaults(t *testing.T) {
	def := toy()
	def.MaxTransitionsWithoutProgress = 0
	if got := mustCompile(t, def).def.MaxTransitionsWithoutProgress; got != 64 {
		t.Errorf("bound of edges is %d", got)
	}
}

func TestCompileNeedsNoCodecForEmptyData(t *testing.T) {
	type empty = struct{}
	def := Definition[toyFacts, empty, toyEffect]{
		Name: "idle", Doc: "does nothing twice",
		States: []State[toyFacts, empty, toyEffect]{
			{State: toy().States[settled].State}, {State: toy().States[refused].State, OnTargetChange: "Settled"},
		},
		Transitions: []Transition[toyFacts, empty]{
			{Event: "held", From: "Settled", To: "Refused", When: transitions.Always[toyFacts, empty](), Doc: "holds"},
		},
		Target: func(*toyFacts) Target { return Target{To: "x"} },
		Infer: Inference[toyFacts, empty]{States: []string{"Settled"}, Find: func(*toyFacts) (InferredState[empty], transitions.Verdict) {
			return InferredState[empty]{State: "Settled"}, transitions.Allow()
		}},
	}
	m, err := Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := m.def.Data.Decode(map[string]string{"left": "over"}); err != nil || data != (empty{}) || m.def.Data.Encode(data) != nil {
		t.Errorf("data %v, %v", data, err)
	}
}

func TestGraphDigest(t *testing.T) {
	digest := func(change func(*toyDefinition)) string {
		def := toy()
		change(&def)
		return mustCompile(t, def).graph.Digest
	}
	base := digest(func(*toyDefinition) {})
	if !regexp.MustCompile(`^[0-9a-f]{8}$`).MatchString(base) {
		t.Errorf("digest %q", base)
	}
	if diff := cmp.Diff("90b33ad9", base); diff != "" {
		t.Errorf("the digest of an unchanged machine changed, so that every persisted state would look foreign (-want +got):\n%s", diff)
	}
	same := map[string]func(*toyDefinition){
		"the machine's doc":     func(d *toyDefinition) { d.Doc = "other words" },
		"a state's doc":         func(d *toyDefinition) { d.States[soaking].Doc = "other words" },
		"an edge's doc":         func(d *toyDefinition) { d.Transitions[raisedRow].Doc = "other words" },
		"an action's doc":       func(d *toyDefinition) { d.States[raising].Action.Doc = "other words" },
		"a deadline":            func(d *toyDefinition) { d.States[soaking].Deadline = time.Second },
		"a guard":               func(d *toyDefinition) { d.Transitions[raisedRow].When = transitions.All(raised, inSync) },
		"what is awaited":       func(d *toyDefinition) { d.Transitions[pathForbidden].Awaited = true },
		"the bound of edges":    func(d *toyDefinition) { d.MaxTransitionsWithoutProgress = 7 },
		"a need's greatest age": func(d *toyDefinition) { d.Needs[0].MaxAge = time.Second },
	}
	for name, change := range same {
		if got := digest(change); got != base {
			t.Errorf("%s changes the digest", name)
		}
	}
	other := map[string]func(*toyDefinition){
		"a state's name": func(d *toyDefinition) {
			d.States[refused].Name, d.Transitions[pathForbidden].To, d.Transitions[pathOpened].From = "Denied", "Denied", "Denied"
		},
		"a state's kind":                  func(d *toyDefinition) { d.States[refused].Kind = "Rest"; d.States[refused].OnTargetChange = "" },
		"an event":                        func(d *toyDefinition) { d.Transitions[raisedRow].Event = "level-raised" },
		"where an edge leads":             func(d *toyDefinition) { d.Transitions[restartedRow].To = "Soaking" },
		"one-way":                         func(d *toyDefinition) { d.Transitions[soakedRow].OneWay = false },
		"the order of edges":              func(d *toyDefinition) { slices.Reverse(d.Transitions) },
		"an inferred state":               func(d *toyDefinition) { d.Infer.States = append(d.Infer.States, "Soaking") },
		"a migration":                     func(d *toyDefinition) { d.Migrations["Old"] = "Settled" },
		"what a new target does":          func(d *toyDefinition) { d.States[soaking].OnTargetChange = KeepAttempt },
		"where it fails the precondition": func(d *toyDefinition) { d.States[raising].Action.OnPreconditionFailed = "Soaking" },
	}
	for name, change := range other {
		if got := digest(change); got == base {
			t.Errorf("%s does not change the digest", name)
		}
	}
	for range 10 {
		if got := digest(func(d *toyDefinition) {
			d.Migrations = map[string]string{"A": "Settled", "B": "Checking", "C": "Soaking"}
		}); got != digest(func(d *toyDefinition) {
			d.Migrations = map[string]string{"C": "Soaking", "B": "Checking", "A": "Settled"}
		}) {
			t.Fatal("the order of a map changes the digest")
		}
	}
}

func TestGraphHasTheEdgesThatNoRowDeclares(t *testing.T) {
	g := mustCompile(t, toy()).graph
	byClass := map[Class][]string{}
	for _, e := range g.Edges {
		byClass[e.Class] = append(byClass[e.Class], e.Event+" "+e.From+" -> "+e.To)
	}
	if len(byClass[Declared]) != 8 {
		t.Errorf("%d declared edges", len(byClass[Declared]))
	}
	delete(byClass, Declared)
	want := map[Class][]string{
		TargetChanged: {
			"target-changed Checking -> Checking", "target-changed Refused -> Checking", "target-changed Restarting -> Checking", "target-changed Soaking -> Checking",
		},
		PreconditionFailed: {"precondition-failed Restarting -> Checking", "precondition-failed Raising -> Checking"},
		Inferred:           {"inferred  -> Settled", "inferred  -> Checking", "inferred  -> Inferring"},
		Migrated:           {"migrated Verifying -> Checking"},
	}
	if diff := cmp.Diff(want, byClass); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var guards []string
	for _, guard := range g.Guards {
		guards = append(guards, guard.Name)
	}
	if diff := cmp.Diff([]string{"always", "in-sync", "node-left", "node-selected", "on-target", "path-allowed", "raised", "restarted"}, guards); diff != "" {
		t.Errorf("guards (-want +got):\n%s", diff)
	}
}

func TestCompileReportsNoFindingThatFollowsFromAnother(t *testing.T) {
	for name, tc := range map[string]struct {
		breaks func(*toyDefinition)
		want   []string
	}{
		"the name of a state is misspelled where it is declared": {
			breaks: func(d *toyDefinition) { d.States[checking].Name = "Cheking" },
			want:   []string{"ErrUndeclaredState"},
		},
		"a transition leads to a misspelled state": {
			breaks: func(d *toyDefinition) { d.Transitions[pathForbidden].To = "Refusd" },
			want:   []string{"ErrUndeclaredState"},
		},
		"the only way into the graph is misspelled": {
			breaks: func(d *toyDefinition) { d.Transitions[versionChanged].To = "Cheking" },
			want:   []string{"ErrUndeclaredState"},
		},
		"a transition leaves a misspelled state": {
			breaks: func(d *toyDefinition) { d.Transitions[raisedRow].From = "Rasing" },
			want:   []string{"ErrUndeclaredState"},
		},
		"a need is misspelled where it is declared": {
			breaks: func(d *toyDefinition) { d.Needs[0].Name = "snyc" },
			want:   []string{"ErrUndeclaredNeed"},
		},
		"a guard that several transitions use has no doc": {
			breaks: func(d *toyDefinition) {
				g := raised
				g.Doc = ""
				d.Transitions[raisedRow].When, d.Transitions[soakedRow].When = g, g
			},
			want: []string{"ErrMissingDoc"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			def := toy()
			tc.breaks(&def)
			_, err := Compile(def)
			got := map[string]bool{}
			for kind, is := range kinds {
				if errors.Is(err, is) {
					got[kind] = true
				}
			}
			want := map[string]bool{}
			for _, kind := range tc.want {
				want[kind] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("kinds (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func TestCompileReportsOneTypoOnce(t *testing.T) {
	def := toy()
	def.Transitions[versionChanged].To = "Cheking"
	_, err := Compile(def)
	want := "compiling machine \"toy-version\": 1 structural defects\n" +
		"  transition version-changed from Settled: undeclared state: declare state \"Cheking\" or correct the name"
	if err == nil {
		t.Fatal("compiled")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompileFillsThePoll(t *testing.T) {
	def := toy()
	for i := range def.States {
		def.States[i].Poll = 0
	}
	def.States[soaking].Poll = time.Minute
	m := mustCompile(t, def)
	got := map[string]time.Duration{}
	for _, s := range m.Graph().States {
		got[s.Name] = s.Poll
	}
	want := map[string]time.Duration{
		"Settled": 0, "Refused": 0, "Checking": states.DefaultPoll, "Restarting": states.DefaultPoll, "Soaking": time.Minute,
		"Raising": states.DefaultPoll, Inferring: states.DefaultPoll,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("polls (-want +got):\n%s", diff)
	}
	if def.States[checking].Poll != 0 {
		t.Error("compiling changed the definition that was passed in")
	}
}

func TestMachineWarningsOfAWaitThatIsAlwaysTrue(t *testing.T) {
	for name, tc := range map[string]struct {
		while toyGuard
		want  []string
	}{
		"no reason": {
			while: transitions.Always[toyFacts, toyData](),
			want: []string{"state Soaking: a Wait that is always true does not end when what it waits for vanishes: " +
				"declare in Invariant when it is still true, or state with AlwaysBecause why its transitions suffice"},
		},
		"a reason":     {while: transitions.AlwaysBecause[toyFacts, toyData]("nothing can vanish")},
		"an invariant": {while: inSync},
	} {
		t.Run(name, func(t *testing.T) {
			def := toy()
			def.States[soaking].Invariant = tc.while
			if diff := cmp.Diff(tc.want, texts(mustCompile(t, def).Warnings())); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func texts(findings []Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Error())
	}
	return out
}

func TestMachineWarningsOfACostlyEdgeBeforeACheapOne(t *testing.T) {
	warned := func(change func(*toyDefinition)) []string {
		def := toy()
		change(&def)
		return texts(mustCompile(t, def).Warnings())
	}
	if got := warned(func(*toyDefinition) {}); got != nil {
		t.Errorf("warned of %v", got)
	}
	costlyFirst := func(d *toyDefinition) { d.Transitions[pathForbidden].When = inSync }
	want := []string{"state Checking: a costly transition before a cheap one: path-forbidden costs a call and blocks node-selected, which costs none: put the cheap edge first or mark it EvenIfUnknown"}
	if diff := cmp.Diff(want, warned(costlyFirst)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := warned(func(d *toyDefinition) { costlyFirst(d); d.Transitions[nodeSelected].EvenIfUnknown = true }); got != nil {
		t.Errorf("warned of an edge that is asked even so: %v", got)
	}
}

// TestCompileDefaults shows that a name and a doc are written once: an action takes those of its state, and a transition takes the
// doc of its guard.
func TestCompileDefaults(t *testing.T) {
	def := toy()
	action := *def.States[raising].Action
	action.Name, action.Doc = "", ""
	def.States[raising].Action = &action
	def.Transitions[soakedRow].Doc = ""
	machine, err := Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	g := machine.Graph()
	if got := g.States[raising]; got.Action != "raising" || got.ActionDoc != got.Doc {
		t.Errorf("action %q, %q", got.Action, got.ActionDoc)
	}
	for _, e := range g.Edges {
		if e.Event == "soaked" && e.Doc != inSync.Doc {
			t.Errorf("transition doc %q, want %q", e.Doc, inSync.Doc)
		}
	}
	if action.Name != "" || def.Transitions[soakedRow].Doc != "" {
		t.Error("Compile changed the given definition")
	}
	if got := kebab("AwaitingInSync"); got != "awaiting-in-sync" {
		t.Errorf("kebab-case %q", got)
	}
}

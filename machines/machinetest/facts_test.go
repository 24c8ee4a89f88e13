package machinetest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

type inner struct {
	Sync transitions.Fact[bool] `need:"sync"`
	Name string
}

type node struct {
	next *node
	lag  transitions.Fact[int] `need:"lag"`
}

type deep struct {
	Level  transitions.Fact[int] `need:"level"`
	hidden inner
	List   []inner
	Pair   [2]inner
	Chain  *node
	Plain  map[string]int
	When   time.Time
}

func deepFacts() deep {
	at := Start
	one := inner{Sync: transitions.Known(true, at), Name: "a"}
	return deep{
		Level: transitions.Known(7, at), hidden: one, List: []inner{one, one}, Pair: [2]inner{one, one},
		Chain: &node{next: &node{lag: transitions.Known(2, at)}, lag: transitions.Known(1, at)}, Plain: map[string]int{"x": 1}, When: at,
	}
}

func TestBlankedKeepsOnlyTheNeeds(t *testing.T) {
	s := shapeOf(reflect.TypeFor[deep]())
	if diff := cmp.Diff([]transitions.Need{"lag", "level", "sync"}, s.all()); diff != "" {
		t.Fatalf("needs (-want +got):\n%s", diff)
	}
	before := deepFacts()
	got := blanked(s, before, []transitions.Need{"level"})
	if !got.Level.Asked() || got.hidden.Sync.Asked() || got.List[1].Sync.Asked() || got.Pair[0].Sync.Asked() || got.Chain.lag.Asked() || got.Chain.next.lag.Asked() {
		t.Errorf("blanked to %s", worded(got))
	}
	if got.hidden.Name != "a" || got.List[0].Name != "a" || got.Plain["x"] != 1 || !got.When.Equal(Start) {
		t.Errorf("lost what is no fact: %s", worded(got))
	}
	if diff := cmp.Diff(deepFacts(), before, exact); diff != "" {
		t.Errorf("blanking changed the original:\n%s", diff)
	}
	if all := blanked(s, before, s.all()); !cmp.Equal(all, before, exact) {
		t.Errorf("with every need something is missing: %s", worded(all))
	}
	if empty := blanked(s, deep{}, nil); !reflect.DeepEqual(empty, deep{}) {
		t.Errorf("empty facts became %s", worded(empty))
	}
}

func TestShapeOfFactsWithoutCostlyOnes(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[struct{ A, B int }](), reflect.TypeFor[string](), reflect.TypeFor[map[string]deep]()} {
		if s := shapeOf(typ); len(s.needs)+len(s.untagged) > 0 {
			t.Errorf("%v: %v %v", typ, s.needs, s.untagged)
		}
	}
}

func TestExamineChecksTags(t *testing.T) {
	type odd struct {
		Bare transitions.Fact[int]
		Lost transitions.Fact[int] `need:"missing"`
	}
	x := &examination[odd, struct{}, string]{shape: shapeOf(reflect.TypeFor[odd]()), report: &Report{}}
	x.checkShape()
	want := []string{
		"fact odd.Bare names no need: tag it with the need that it costs, as in `need:\"quorum\"`",
		`fact odd.Lost has need "missing", which the machine does not declare: add it to Needs or correct the tag`,
	}
	if diff := cmp.Diff(want, x.report.Problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWorded(t *testing.T) {
	got := worded(deep{
		Level: transitions.Unreadable[int](errors.New("no answer")), hidden: inner{Name: `a "b"`}, List: []inner{{Sync: transitions.Pending[bool]()}, {}},
		Chain: &node{lag: transitions.Known(3, Start)}, Plain: map[string]int{"x": 1}, When: Start,
	})
	want := `{Level:(unreadable: no answer) hidden:{Sync:(not asked) Name:"a \"b\""} List:[{Sync:(pending)} {Sync:(not asked)}] ` +
		`Chain:&{lag:3} Plain:map[x:1] When:2026-11-20T08:00:00Z}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if long := worded(struct{ Text string }{strings.Repeat("ü", 1000)}); len(long) > 1010 || !strings.HasSuffix(long, "...") {
		t.Errorf("%d bytes", len(long))
	}
	type pointers struct{ A, B *int }
	seven := 7
	if diff := cmp.Diff("{A:&7}", worded(pointers{A: &seven})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEntryBuilder(t *testing.T) {
	clock := NewClock()
	if later := clock.Step(time.Minute); !later.Equal(Start.Add(time.Minute)) || !clock.Now().Equal(later) {
		t.Errorf("the clock shows %v", clock.Now())
	}
	data := map[string]string{"node": "4"}
	builder := Entry("version", "Restarting").Entered(clock.Now()).Data(data).Progress(1, 3, "node").TransitionsSinceProgress(4).
		Deadline(Start.Add(time.Hour)).Attempt(Attempt("uid", "version", "4.1.0", Start))
	one, other := builder.Obj(), builder.Obj()
	data["node"] = "5"
	one.Attempt.To = "4.2.0"
	if other.Attempt.To != "4.1.0" || other.Data["node"] != "4" {
		t.Error("two entries of one builder share something")
	}
	if other.Name != "version" || other.State != "Restarting" || other.Progress.Total != 3 || other.TransitionsSinceProgress != 4 || !other.Deadline.Time.Equal(Start.Add(time.Hour)) || other.Attempt.ID == "" {
		t.Errorf("%+v", other)
	}
}

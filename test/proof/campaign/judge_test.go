package campaign

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/test/lab"
)

func in(state string) *lifecyclev1.Status {
	return &lifecyclev1.Status{Lifecycles: []lifecyclev1.Lifecycle{{Name: "door", State: state}}}
}

func TestUndeclaredFindsAnIllegalTransition(t *testing.T) {
	graphs := map[string]machines.Graph{"door": {Edges: []machines.GraphEdge{{From: "Open", To: "Shut"}, {From: "", To: "Lost"}}}}
	for name, c := range map[string]struct {
		before, after *lifecyclev1.Status
		want          []string
	}{
		"a declared one": {in("Open"), in("Shut"), nil},
		"from anywhere":  {in("Shut"), in("Lost"), nil},
		"none":           {in("Open"), in("Open"), nil},
		"after a wipe":   {&lifecyclev1.Status{}, in("Shut"), nil},
		"another one":    {in("Shut"), in("Open"), []string{"door went from Shut to Open, which no transition permits"}},
	} {
		if diff := cmp.Diff(c.want, undeclared(c.before, c.after, graphs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func pod(name, uid string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), OwnerReferences: owners}}
}

func TestUnowned(t *testing.T) {
	by := func(uid string, controls bool) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: "Pod", Name: "owner", UID: types.UID(uid), Controller: &controls}
	}
	got := unowned(map[string]client.Object{
		"owner": pod("owner", "1"), "good": pod("good", "2", by("1", true)), "idle": pod("idle", "3", by("1", false)), "orphan": pod("orphan", "4", by("9", true)),
	})
	want := []string{"idle has an owner and 0 controllers", "orphan is owned by Pod owner, which is gone"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCountsByUID(t *testing.T) {
	got := counts([]Event{
		{Type: watch.Modified, Object: pod("a", "1")}, {Type: watch.Deleted, Object: pod("a", "1")}, {Type: watch.Added, Object: pod("a", "2")},
		{Type: watch.Added, Object: pod("b", "3")}, {Type: watch.Added, Object: pod("b", "3")},
	})
	want := map[string]string{"Pod a": "made 1 times, gone 1 times", "Pod b": "made 1 times, gone 0 times"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A reference masks the fields in which its runs differ, and no others.
func TestReferenceMasksOnlyDifferencesWithoutAFault(t *testing.T) {
	run := func(end map[string]string) *Result { return &Result{End: end, Passes: 10} }
	r, err := referenceOf([]*Result{run(map[string]string{"a": "1", "b": "1"}), run(map[string]string{"a": "1", "b": "2"})})
	if err != nil {
		t.Fatal(err)
	}
	if why := r.differs(run(map[string]string{"a": "1", "b": "7"})); len(why) > 0 {
		t.Errorf("a masked field: %q", why)
	}
	wrong := run(map[string]string{"a": "2"})
	wrong.Outside, wrong.Passes, wrong.Counts = []string{"raised"}, 1000, map[string]string{"Pod a": "made 1 times, gone 0 times"}
	want := []string{
		`end: a is "2", want "1"`, "counts: Pod a was made 1 times, gone 0 times, want never made nor gone",
		`effects outside: ["raised"], want []`, "1000 passes in 0s, at most 180",
	}
	if diff := cmp.Diff(want, r.differs(wrong)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A run on a busy machine may take as many reconciles per second as the reference.
func TestReferenceLimitsReconciles(t *testing.T) {
	run := func(passes int64, took time.Duration) *Result { return &Result{Passes: passes, Took: took} }
	r, err := referenceOf([]*Result{run(80, 10*time.Second), run(100, 10*time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		run  *Result
		want []string
	}{
		"three times those of the reference, and some": {run: run(450, 20*time.Second)},
		"more, in little time":                         {run: run(451, 20*time.Second), want: []string{"451 passes in 20s, at most 450"}},
		"more, in much time":                           {run: run(700, 90*time.Second)},
		"more per second than the reference":           {run: run(901, 90*time.Second), want: []string{"901 passes in 1m30s, at most 900"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, r.differs(tc.run)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Digests are masked in keys and values, and no other digits are.
func TestFlattenMasks(t *testing.T) {
	got := flatten(map[string]client.Object{"ConfigMap a": &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "run-1", Name: "a"},
		Data:       map[string]string{"0.0123456789abcdef": "of run-1", "revision": "0123abcd", "sum": "0123456789abcdef"},
	}}, regexp.MustCompile(`\b\d\.[0-9a-f]{16}\b`))
	want := map[string]string{
		"ConfigMap a/metadata/namespace": "NAMESPACE", "ConfigMap a/metadata/name": "a",
		"ConfigMap a/data/MASKED": "of NAMESPACE", "ConfigMap a/data/revision": "DIGEST", "ConfigMap a/data/sum": "0123456789abcdef",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReferencesOfModes(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    Mode
		changes int
		want    int
	}{
		{"a sample of one change", Mode{}, 1, 4},
		{"a sample of two changes", Mode{}, 2, 2},
		{"all plans of one change", Mode{whole: true}, 1, 9},
		{"all plans of two changes", Mode{whole: true}, 2, 5},
		{"all plans of eight changes", Mode{whole: true}, 8, 3},
		{"two faults in one change", Mode{Nightly: true}, 1, 9},
	} {
		if got := c.mode.references(c.changes); got != c.want {
			t.Errorf("%s: %d runs without a fault, want %d", c.name, got, c.want)
		}
	}
}

func TestDepthOf(t *testing.T) {
	revisions := []uint64{10, 20, 30, 40, 50}
	for _, c := range []struct {
		depth Depth
		want  uint64
	}{{Depth{Events: 1}, 40}, {Depth{Events: 9}, 10}, {Depth{Share: 0.5}, 30}, {Depth{}, 10}} {
		if got := c.depth.of(revisions); got != c.want {
			t.Errorf("%s: %d, want %d", c.depth, got, c.want)
		}
	}
}

func TestSingleCoversEveryPoint(t *testing.T) {
	effects, events := points([]string{"put", "put"}), points([]string{"added"})
	got := Single(effects, events, func(int) []Depth { return ThreeDepths() }, []string{"wiped"}, []Outage{{Class: "lost"}, {Class: "edited", Variant: "a"}, {Class: "edited", Variant: "b"}})
	if want := 2*(3+7+3+1+2) + 3 + 1; len(got) != want {
		t.Errorf("%d plans, want %d", len(got), want)
	}
	if want := (lab.Point{About: "put", Nth: 2}); got[1].Point != want {
		t.Errorf("the second plan is at %s, want %s", got[1].Point, want)
	}
	if doubles := Double(effects, events); len(doubles) != 2*1+2*2*1 {
		t.Errorf("%d pairs", len(doubles))
	}
}

package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

const recordName = gate + "-record"

// replacing brings a turnstile to the state in which arm 0 is replaced by one of model B, before its first effect.
func replacing(t *testing.T, change ...func(*rig)) *rig {
	t.Helper()
	r := newRig(t, change...)
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	r.until(turnstile.Replacing, turnstile.Lit)
	r.writes = nil
	return r
}

// recorded returns the model that is recorded for arm 0.
func (r *rig) recorded() string {
	r.Helper()
	record := &corev1.ConfigMap{}
	if err := r.server.Get(r.Context(), types.NamespacedName{Namespace: namespace, Name: recordName}, record); err != nil {
		r.Fatal(err)
	}
	return record.Data["0"]
}

func TestRecordsPrecedeTheEffect(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse, lose int // how many writes of the record fail before, or after they were carried out
		want         int // writes of the record that were carried out
	}{
		"at once":                             {want: 1},
		"after writes that were refused":      {refuse: 2, want: 1},
		"after a write whose answer was lost": {lose: 1, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := replacing(t)
			left := tc.refuse
			r.refuse = func(write string) error {
				if write == "delete "+gate+"-arm-0" && r.recorded() != "B" {
					t.Errorf("takes the arm away while model %s is recorded", r.recorded())
				}
				if write == "update "+recordName && left > 0 {
					left--
					return errors.New("etcd is down")
				}
				return nil
			}
			lost := tc.lose
			r.lose = func(write string) error {
				if write == "update "+recordName && lost > 0 {
					lost--
					return errors.New("the connection was closed")
				}
				return nil
			}
			r.rest()
			var ofArm []string
			for _, w := range r.writes {
				if strings.HasSuffix(w, recordName) || w == "delete "+gate+"-arm-0" {
					ofArm = append(ofArm, w)
				}
			}
			want := slices.Repeat([]string{"update " + recordName}, tc.want)
			if diff := cmp.Diff(append(want, "delete "+gate+"-arm-0"), ofArm[:tc.want+1]); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// discarding is a home that stores nothing.
type discarding struct {
	lifecycle.Records[*api.Turnstile]
}

func (discarding) Write(context.Context, client.Reader, lifecycle.Writer, *api.Turnstile, []machines.RecordEntry) error {
	return nil
}

func TestRecordsThatAreNotStoredPreventTheEffect(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*rig)
		want   string
	}{
		"a home that drops what is written to it": {
			change: func(r *rig) { r.kind.Records = discarding{r.kind.Records} },
			want:   "action replace: record models of 0 does not hold what was written to it: another writer changes it, or its home drops it",
		},
		"a kind without a home": {
			change: func(r *rig) { r.kind.Records = nil },
			want:   "action replace records models, but kind Turnstile has no Records: declare where they are kept",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := replacing(t, tc.change)
			for range 5 {
				r.advance(r.pass().RequeueAfter)
			}
			if slices.Contains(r.writes, "delete "+gate+"-arm-0") {
				t.Error("the arm is taken away although its model is not recorded")
			}
			r.quiet()
			entry, shown := r.entry("model"), r.condition("Stalled").Message
			for _, w := range entry.WaitingFor {
				shown += w.Observed
			}
			if !strings.Contains(shown, tc.want) {
				t.Errorf("shows %q, want %q", shown, tc.want)
			}
		})
	}
}

func TestConfigMapRecords(t *testing.T) {
	for name, owned := range map[string]bool{"that outlive their object": false, "that are deleted with their object": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			home := lifecycle.ConfigMapRecords[*api.Turnstile]{
				Name:   func(g *api.Turnstile) string { return g.Name + "-memory" },
				Labels: func(g *api.Turnstile) map[string]string { return map[string]string{"of": g.Name} }, Owned: owned,
			}
			write := lifecycle.NewChildren(r.server, r.server, r.clock).Writer(r.gate(), nil)
			read := func(record string) map[string]string {
				texts, err := home.Read(t.Context(), r.server, r.gate(), record)
				if err != nil {
					t.Fatal(err)
				}
				return texts
			}
			if got := read("model"); len(got) > 0 {
				t.Errorf("read %v before anything was written", got)
			}
			for _, entries := range [][]machines.RecordEntry{
				{{Record: "model", Key: "0", Value: "A"}, {Record: "model", Key: "1", Value: "A"}, {Record: "seal", Key: "0", Value: "wax"}},
				{{Record: "model", Key: "1", Value: "B"}},
			} {
				if err := home.Write(t.Context(), r.server, write, r.gate(), entries); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(map[string]string{"0": "A", "1": "B"}, read("model")); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
			stored := &corev1.ConfigMap{}
			if err := r.server.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: gate + "-memory"}, stored); err != nil {
				t.Fatal(err)
			}
			if len(stored.OwnerReferences) > 0 != owned || stored.Labels["of"] != gate {
				t.Errorf("stored with owners %v and labels %v", stored.OwnerReferences, stored.Labels)
			}
		})
	}
}

// Owned records are those of one object. An object of the same name that is created before the garbage collector has removed them
// must not take them for its own.
func TestConfigMapRecordsOfAPreviousObject(t *testing.T) {
	for name, owned := range map[string]bool{"that outlive their object": false, "that are deleted with their object": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			home := lifecycle.ConfigMapRecords[*api.Turnstile]{Name: func(g *api.Turnstile) string { return g.Name + "-memory" }, Owned: owned}
			entries := []machines.RecordEntry{{Record: "model", Key: "0", Value: "A"}}
			previous, next := r.gate(), r.gate()
			next.UID = "another-uid"
			write := func(object *api.Turnstile) error {
				return home.Write(t.Context(), r.server, lifecycle.NewChildren(r.server, r.server, r.clock).Writer(object, nil), object, entries)
			}
			if err := write(previous); err != nil {
				t.Fatal(err)
			}
			texts, err := home.Read(t.Context(), r.server, next, "model")
			if adopted := len(texts) > 0; err != nil || adopted == owned {
				t.Errorf("read %v, %v", texts, err)
			}
			if err := write(next); owned != errors.Is(err, lifecycle.ErrWait) || !owned && err != nil {
				t.Errorf("writing: %v", err)
			}
			if !owned {
				return
			}
			collected := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gate + "-memory"}}
			if err := r.server.Delete(t.Context(), collected); err != nil {
				t.Fatal(err)
			}
			if err := write(next); err != nil {
				t.Errorf("writing after the garbage collection: %v", err)
			}
		})
	}
}

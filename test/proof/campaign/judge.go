package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// incidental fields depend on when and how a state was reached.
var incidental = regexp.MustCompile(`/metadata/(uid|resourceVersion|generation|creationTimestamp|managedFields.*|ownerReferences/\d+/uid)$` +
	`|/status/lifecycles/\d+/(history.*|transitions|attempt.*|enteredAt|deadline|transitionsSinceProgress|data.*|progress.*)$|(Time|At|Generation|/since)$` +
	`|^Pod .*/(nodeName|hostIP|hostIPs/\d+/ip|podIP|podIPs/\d+/ip)$`)

// digest of a text that contains the namespace's name.
var digest = regexp.MustCompile(`\b[0-9a-f]{8}\b`)

// flatten returns all fields of the objects except the incidental ones, by object and path. Digests of the namespace's name are masked,
// and what else the subject masks, if it does.
func flatten(objects map[string]client.Object, masked *regexp.Regexp) map[string]string {
	out := map[string]string{}
	for name, o := range objects {
		if name == "ServiceAccount default" { // created by Kubernetes at any time
			continue
		}
		text, err := json.Marshal(o)
		var fields any
		if err == nil {
			text = bytes.ReplaceAll(text, []byte(o.GetNamespace()), []byte("NAMESPACE"))
			text = digest.ReplaceAll(text, []byte("DIGEST"))
			if masked != nil {
				text = masked.ReplaceAll(text, []byte("MASKED"))
			}
			err = json.Unmarshal(text, &fields)
		}
		if err != nil {
			out[name] = err.Error() // equal to no other value
			continue
		}
		flattenInto(out, name, fields)
	}
	return out
}

func flattenInto(out map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for k, v := range value {
			flattenInto(out, path+"/"+k, v)
		}
	case []any:
		for i, v := range value {
			flattenInto(out, fmt.Sprintf("%s/%d", path, i), v)
		}
	default:
		if !incidental.MatchString(path) {
			out[path] = fmt.Sprint(value)
		}
	}
}

// counts returns how often each object was created and deleted.
func counts(history []Event) map[string]string {
	made, gone := map[string]map[types.UID]bool{}, map[string]map[types.UID]bool{}
	note := func(in map[string]map[types.UID]bool, o client.Object) {
		if in[id(o)] == nil {
			in[id(o)] = map[types.UID]bool{}
		}
		in[id(o)][o.GetUID()] = true
	}
	for _, e := range history {
		if e.Type == watch.Added {
			note(made, e.Object)
		}
		if e.Type == watch.Deleted {
			note(gone, e.Object)
		}
	}
	out := map[string]string{}
	for name := range maps.Keys(union(made, gone)) {
		out[name] = fmt.Sprintf("made %d times, gone %d times", len(made[name]), len(gone[name]))
	}
	return out
}

func union[S any](a, b map[string]S) map[string]S {
	out := make(map[string]S, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// judge checks what holds for every kind, at every revision.
func (s *stage) judge(history []Event) []string {
	var out []string
	last := map[types.UID]lifecycle.Object{}
	for _, e := range history {
		o, ok := s.main(e.Object)
		if !ok || e.Type == watch.Deleted {
			continue
		}
		if why := readyMidway(o, s.subject.Graphs); why != "" {
			out = append(out, fmt.Sprintf("at revision %d: %s", e.Revision, why))
		}
		if before := last[o.GetUID()]; before != nil {
			for _, why := range undeclared(before.LifecycleStatus(), o.LifecycleStatus(), s.subject.Graphs) {
				out = append(out, fmt.Sprintf("at revision %d: %s", e.Revision, why))
			}
		}
		last[o.GetUID()] = o
	}
	return append(out, unowned(s.recorder.Latest())...)
}

// readyMidway reports an object that is Ready in its generation although a lifecycle is under way.
func readyMidway(o lifecycle.Object, graphs map[string]machines.Graph) string {
	status := o.LifecycleStatus()
	if status.ObservedGeneration != o.GetGeneration() || !meta.IsStatusConditionTrue(status.Conditions, lifecycle.Ready) {
		return ""
	}
	for name, graph := range graphs {
		for _, entry := range entriesOf(status, name) {
			i := slices.IndexFunc(graph.States, func(st machines.GraphState) bool { return st.Name == entry.State })
			if i < 0 || graph.States[i].Kind != "Rest" && graph.States[i].Kind != "Hold" {
				return fmt.Sprintf("%s shows as Ready while %s is in %q", id(o), entry.Name, entry.State)
			}
		}
	}
	return ""
}

// undeclared returns the transitions between two versions of a status that the graphs do not contain.
func undeclared(before, after *lifecyclev1.Status, graphs map[string]machines.Graph) []string {
	var out []string
	for name, graph := range graphs {
		for _, entry := range entriesOf(after, name) {
			i := slices.IndexFunc(before.Lifecycles, func(l lifecyclev1.Lifecycle) bool { return l.Name == entry.Name })
			if i < 0 {
				continue
			}
			from, to := before.Lifecycles[i].State, entry.State
			if from == "" || to == "" || from == to {
				continue
			}
			if !slices.ContainsFunc(graph.Edges, func(e machines.GraphEdge) bool { return (e.From == from || e.From == "") && e.To == to }) {
				out = append(out, fmt.Sprintf("%s went from %s to %s, which no transition permits", entry.Name, from, to))
			}
		}
	}
	return out
}

// unowned returns objects whose owner was deleted, or does not control them: a change of them would enqueue no object.
func unowned(objects map[string]client.Object) []string {
	alive := map[types.UID]bool{}
	for _, o := range objects {
		alive[o.GetUID()] = true
	}
	var out []string
	for name, o := range objects {
		controllers := 0
		for _, ref := range o.GetOwnerReferences() {
			if !alive[ref.UID] {
				out = append(out, fmt.Sprintf("%s is owned by %s %s, which is gone", name, ref.Kind, ref.Name))
			}
			if ref.Controller != nil && *ref.Controller {
				controllers++
			}
		}
		if len(o.GetOwnerReferences()) > 0 && controllers != 1 {
			out = append(out, fmt.Sprintf("%s has an owner and %d controllers", name, controllers))
		}
	}
	slices.Sort(out)
	return out
}

// reference is what runs without a fault have in common.
type reference struct {
	// end are all fields at the end, and masked those in which the runs differ.
	end    map[string]string
	masked map[string]bool
	counts map[string]string
	// outside are the effects on external systems.
	outside []string
	// passes is the largest number of reconciles of a run, and frequency the largest per second.
	passes    int64
	frequency float64
	// effects and events that occurred in each of them.
	effects, events []lab.Point
}

// referenceOf compares runs without a fault, all of which must have come to rest.
func referenceOf(runs []*Result) (*reference, error) {
	first := runs[0]
	r := &reference{
		end: first.End, masked: map[string]bool{}, counts: first.Counts, outside: first.Outside, passes: first.Passes, frequency: first.frequency(),
		effects: first.effects, events: first.events,
	}
	for _, run := range runs[1:] {
		for path := range union(r.end, run.End) {
			if r.end[path] != run.End[path] {
				r.masked[path] = true
			}
		}
		r.passes, r.frequency = max(r.passes, run.Passes), max(r.frequency, run.frequency())
		r.effects, r.events = inBoth(r.effects, run.effects), inBoth(r.events, run.events)
	}
	for _, run := range runs {
		if why := r.differs(run); len(why) > 0 {
			return r, fmt.Errorf("a run without a fault went wrong:\n    %s", shorten(why))
		}
	}
	return r, nil
}

// spare is the number of reconciles that a run may take in addition to three times those of the reference: a new leader reads
// everything first, and waits are requeued from time to time.
const spare = 150

// most returns how many reconciles a run may take. Where other work makes every wait longer, it may have as many per second as the reference.
func (r *reference) most(got *Result) int64 {
	return max(3*r.passes+spare, int64(r.frequency*got.Took.Seconds()))
}

// frequency is the number of reconciles per second.
func (r *Result) frequency() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Passes) / r.Took.Seconds()
}

// differs returns the differences between a run and the reference.
func (r *reference) differs(got *Result) []string {
	if got.Lost != "" {
		return []string{"lost: " + got.Lost}
	}
	out := slices.Clone(got.Wrong)
	for _, path := range slices.Sorted(maps.Keys(union(r.end, got.End))) {
		if !r.masked[path] && r.end[path] != got.End[path] {
			out = append(out, fmt.Sprintf("end: %s is %q, want %q", path, got.End[path], r.end[path]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(union(r.counts, got.Counts))) {
		if r.counts[name] != got.Counts[name] {
			out = append(out, fmt.Sprintf("counts: %s was %s, want %s", name, orNever(got.Counts[name]), orNever(r.counts[name])))
		}
	}
	if !slices.Equal(r.outside, got.Outside) {
		out = append(out, fmt.Sprintf("effects outside: %q, want %q", got.Outside, r.outside))
	}
	if most := r.most(got); got.Passes > most {
		out = append(out, fmt.Sprintf("%d passes in %s, at most %d", got.Passes, got.Took.Round(time.Millisecond), most))
	}
	return out
}

func orNever(text string) string {
	if text == "" {
		return "never made nor gone"
	}
	return text
}

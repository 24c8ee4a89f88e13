package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/states"
)

// plan assembles the plan from the records.
func (e *engine) plan() (*Plan, error) {
	p := &Plan{}
	for _, in := range e.in.Objects {
		for i := range e.in.kinds {
			if e.kindOf(in) != e.in.kinds[i].Name {
				continue
			}
			o, err := e.object(subject{e.in.kinds[i].Name, client.ObjectKeyFromObject(in)})
			if err != nil {
				return nil, err
			}
			p.Objects = append(p.Objects, o)
		}
	}
	p.settle()
	return p, nil
}

func (e *engine) object(of subject) (Object, error) {
	t := e.recorder.tracks[of]
	k := t.object
	for _, stored := range e.objects() {
		if stored.subject() == of {
			k = stored
		}
	}
	effects := t.effects
	end := e.ends[of]
	if end != nil && end.cut != nil {
		k, effects = end.cut.object, effects[:end.cut.effects]
	}
	o := Object{
		Kind: of.kind, Namespace: of.Namespace, Name: of.Name, Effects: effects,
		Assumptions: append(e.taken[of].sentences(), e.in.Notes...), Conditions: k.LifecycleStatus().Conditions,
	}
	o.Problems = e.problems(k)
	content, err := plainOf(k.Object)
	if err != nil {
		return o, err
	}
	if fields, ok := content.(map[string]any); ok {
		o.Status = fields["status"]
	}
	o.Planned, o.paused = true, k.paused()
	for _, entry := range k.entries() {
		l, planned := e.lifecycle(k, entry, t, end)
		o.Lifecycles = append(o.Lifecycles, l)
		o.Planned = o.Planned && planned
	}
	slices.SortStableFunc(o.Lifecycles, func(a, b Lifecycle) int { return strings.Compare(a.Name, b.Name) })
	o.Writes, err = e.writes(t)
	return o, err
}

// problems are the persistent failures of the object and of the objects that belong to it.
func (e *engine) problems(of found) []string {
	var out []string
	for j, f := range e.failures {
		d := &e.drivers[j.driver]
		if e.isOwn(d, of.kind.Name) && j.name == client.ObjectKeyFromObject(of) || d.Operator && e.belongs(d, j.name, of) {
			out = append(out, fmt.Sprintf("%s %s: %s", d.Of.Kind, j.name, f.last))
		}
	}
	slices.Sort(out)
	return out
}

// belongs reports whether an object of a driver belongs to the object with lifecycles.
func (e *engine) belongs(d *Driver, part types.NamespacedName, of found) bool {
	belongs := false
	e.store.Objects(d.Of, func(o client.Object) {
		if client.ObjectKeyFromObject(o) == part {
			t := e.recorder.trackOf(o)
			belongs = t != nil && t.object.subject() == of.subject()
		}
	})
	return belongs
}

// lifecycle returns the result of one lifecycle. planned is false if it is on hold for another reason than a planned pause.
func (e *engine) lifecycle(k found, entry entry, t *track, end *ending) (l Lifecycle, planned bool) {
	state := entry.state
	path := t.path[entry.Name]
	if end != nil && end.cut != nil {
		path = path[:end.cut.steps[entry.Name]]
	}
	l = Lifecycle{
		Name: entry.Name, Machine: entry.graph.Name, Start: t.started[entry.Name], End: entry.State, Path: path, WaitingFor: entry.WaitingFor,
		Attempts: t.attempts[entry.Name],
	}
	if entry.Deadline != nil && !atRest(state) {
		at := e.recorder.at(entry.Deadline.Time)
		l.Deadline = &at
	}
	if len(l.Attempts) > 0 {
		l.Attempt = &l.Attempts[0]
	} else if entry.Attempt != nil {
		a := e.recorder.attemptOf(k.subject().kind, entry.Attempt)
		l.Attempt = &a
	}
	switch {
	case state.Kind == string(states.Rest):
		l.Result = Rests
	case state.Kind == string(states.Hold):
		l.Result = Holds
	case k.paused():
		return withResult(l, Holds), true
	default:
		l.Result = Stalls
	}
	return l, l.Result != Holds || state.HoldReason == string(states.Planned)
}

func withResult(l Lifecycle, r Result) Lifecycle {
	l.Result = r
	return l
}

// writes are the objects that the operator wrote, with their final content.
func (e *engine) writes(t *track) ([]Write, error) {
	var out []Write
	for _, w := range t.touched {
		o := e.find(w)
		if o == nil {
			continue
		}
		content, err := plainOf(o)
		if err != nil {
			return nil, err
		}
		fields, _ := content.(map[string]any)
		fields["kind"], fields["apiVersion"] = w.kind, e.apiVersion(o)
		bare(fields)
		out = append(out, Write{Kind: w.kind, Name: w.name, Content: fields})
	}
	slices.SortStableFunc(out, func(a, b Write) int { return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name) })
	return out, nil
}

func (e *engine) find(w touched) client.Object {
	for gvk := range e.client.Scheme().AllKnownTypes() {
		var found client.Object
		if gvk.Kind == w.kind {
			e.store.Objects(gvk, func(o client.Object) {
				if o.GetNamespace() == w.namespace && o.GetName() == w.name {
					found = o
				}
			})
		}
		if found != nil {
			return found
		}
	}
	return nil
}

func (e *engine) apiVersion(o client.Object) string {
	gvk, err := e.client.GroupVersionKindFor(o)
	if err != nil {
		gvk = schema.GroupVersionKind{}
	}
	return gvk.GroupVersion().String()
}

// bare removes fields that are specific to this simulation, and the contents of Secrets.
func bare(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation"} {
		delete(metadata, field)
	}
	owners, _ := metadata["ownerReferences"].([]any)
	for _, o := range owners {
		if owner, ok := o.(map[string]any); ok {
			delete(owner, "uid")
		}
	}
	delete(object, "status")
	if object["kind"] == "Secret" {
		for _, field := range []string{"data", "stringData"} {
			secrets, _ := object[field].(map[string]any)
			for name := range secrets {
				secrets[name] = "(not shown)"
			}
		}
	}
}

// plainOf converts a value to its JSON form with sorted fields.
func plainOf(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", value, err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("encoding %T: %w", value, err)
	}
	return out, nil
}

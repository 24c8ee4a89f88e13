package runtime

import (
	"context"
	"maps"
	"slices"
	"strings"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/runtime/journal"
)

// Journal records decisions for a later replay. Note is called within a reconcile, after the status write, by any worker. An
// implementation handles its own write errors; they do not fail the reconcile.
type Journal interface {
	// Note records one decision and the facts that it is based on. The facts are not modified afterwards.
	Note(line journal.Line, facts any)
}

var _ Journal = &journal.Writer{}

// journalKey is the key of a Journal in a context.
type journalKey struct{}

// WithJournal returns a context whose reconciles record their decisions, unless Options.Journal names another journal. As the BaseContext of
// a manager it is the journal of every Reconciler that is registered there.
func WithJournal(ctx context.Context, j Journal) context.Context {
	return context.WithValue(ctx, journalKey{}, j)
}

// journalOf returns the journal of a reconcile, or nil.
func (r *Reconciler[O, S, E]) journalOf(ctx context.Context) Journal {
	if r.journal != nil {
		return r.journal
	}
	j, _ := ctx.Value(journalKey{}).(Journal)
	return j
}

// took records a committed transition.
func (p *reconcileScope[O, S, E]) took(moved *pass.Moved) {
	if p.journal == nil {
		return
	}
	delete(p.memory.noted, moved.Lifecycle)
	line := p.line(moved.Lifecycle, p.entries.Find(moved.Lifecycle), moved.Deleting)
	line.Edge = journal.EdgeOf(&moved.Move)
	p.journal.Note(line, moved.Facts)
}

// stayed records each lifecycle that takes no transition: once per visit of a state, and again when the guards in waitingFor,
// the data or the invariant's answer changed. An object at rest adds no line per reconcile.
func (p *reconcileScope[O, S, E]) stayed(step *pass.Step[O, S, E]) {
	if p.journal == nil {
		return
	}
	for i := range step.Results {
		s := &step.Results[i]
		if s.Entry == nil || s.Decision.Move != nil || s.Decision.Err != nil {
			continue
		}
		sum := stay(s.Project(), s.Decision.MayAct)
		if p.memory.noted[s.Name] == sum {
			continue
		}
		if p.memory.noted == nil {
			p.memory.noted = map[string]string{}
		}
		p.memory.noted[s.Name] = sum
		p.journal.Note(p.line(s.Name, s.Entry, s.Deleting), s.Facts())
	}
}

func (p *reconcileScope[O, S, E]) line(lifecycle string, entry *lifecyclev1.Lifecycle, deleting bool) journal.Line {
	graph := pass.Find(p.in.Lifecycles, lifecycle).Graph()
	return journal.Line{
		At: p.now.UTC(), Kind: p.kind.Name, Namespace: p.object.GetNamespace(), Name: p.object.GetName(), UID: p.in.UID, Generation: p.in.Generation,
		Deleting: deleting, Lifecycle: lifecycle, Machine: graph.Name + "@sha256:" + graph.Digest, Entry: journal.EntryOf(entry),
	}
}

// stay returns a digest of the decision to stay: the state, the data, the attempt, and the guards that are waited for. believed
// means that the state's invariant holds.
func stay(shown *lifecyclev1.Lifecycle, believed bool) string {
	parts := []string{shown.State, shown.EnteredAt.String()}
	if believed {
		parts = append(parts, "believed")
	}
	for _, key := range slices.Sorted(maps.Keys(shown.Data)) {
		parts = append(parts, key, shown.Data[key])
	}
	if shown.Attempt != nil {
		parts = append(parts, shown.Attempt.ID)
	}
	for _, w := range shown.WaitingFor {
		parts = append(parts, w.Guard)
	}
	return strings.Join(parts, "\x00")
}

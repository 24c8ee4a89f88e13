package runtime

import (
	"maps"
	"slices"
	"strings"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/runtime/journal"
)

// Journal takes decisions down. It is called in the pass, after the write that made the decision true, from any worker; what it
// cannot write is its own trouble and no pass's.
type Journal interface {
	// Note one decision and the facts that it was made upon, which are never changed.
	Note(line journal.Line, facts any)
}

var _ Journal = &journal.Writer{}

// took notes a transition that was committed.
func (p *onePass[O, V, E]) took(moved *pass.Moved) {
	if p.journal == nil {
		return
	}
	delete(p.memory.noted, moved.Lifecycle)
	line := p.line(moved.Lifecycle, pass.Entry(p.in.Status, moved.Lifecycle))
	line.Edge = journal.EdgeOf(&moved.Move)
	p.journal.Note(line, moved.Facts)
}

// stayed notes each lifecycle that stays where it is, once per visit of a state, and again when what it waits for changed or its
// bookmark came into doubt: an object at rest costs no line per pass.
func (p *onePass[O, V, E]) stayed(step *pass.Step[V, E]) {
	if p.journal == nil {
		return
	}
	for i := range step.Standings {
		s := &step.Standings[i]
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
		p.journal.Note(p.line(s.Name, s.Entry), s.Facts())
	}
}

func (p *onePass[O, V, E]) line(lifecycle string, entry *lifecyclev1.Lifecycle) journal.Line {
	line := journal.Line{
		At: p.now.UTC(), Kind: p.kind.Name, Namespace: p.object.GetNamespace(), Name: p.object.GetName(), UID: p.in.UID, Generation: p.in.Generation,
		Lifecycle: lifecycle, Entry: journal.EntryOf(entry),
	}
	for _, lc := range p.in.Lifecycles {
		if lc.Name() == lifecycle {
			graph := lc.Graph()
			line.Machine = graph.Name + "@sha256:" + graph.Digest
		}
	}
	return line
}

// stay sums up the decision to stay: where, with what in hand, and which guards are waited for.
func stay(shown *lifecyclev1.Lifecycle, believed bool) string {
	parts := []string{shown.State, shown.EnteredAt.String()}
	if believed {
		parts = append(parts, "believed")
	}
	for _, key := range slices.Sorted(maps.Keys(shown.Memo)) {
		parts = append(parts, key, shown.Memo[key])
	}
	if shown.Attempt != nil {
		parts = append(parts, shown.Attempt.ID)
	}
	for _, w := range shown.WaitingFor {
		parts = append(parts, w.Guard)
	}
	return strings.Join(parts, "\x00")
}

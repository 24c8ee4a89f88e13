package machines

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Deletion declares the states through which a lifecycle releases what would outlive its object: entries in an external
// system, held resources. The runtime adds a finalizer to the object before the first effect that needs it, and removes it in
// End.
type Deletion struct {
	// To is the state that a deletion leads to, from every state. Required.
	To string `json:"to"`
	// End is the Rest state in which nothing is left to release. No transition leaves it, and nothing but a deletion leads to it. Required.
	End string `json:"end"`
}

// DeletionTarget is the target of the attempt in which a lifecycle releases what would outlive its object.
const DeletionTarget = "(deletion)"

// IsZero reports whether the machine declares no deletion.
func (d Deletion) IsZero() bool { return d == Deletion{} }

// deletionStates returns the states that a deletion may lead through.
func deletionStates[F, D, E any](def *Definition[F, D, E]) map[string]bool {
	if def.Deletion.To == "" {
		return nil
	}
	return reachable([]string{def.Deletion.To}, ways(def))
}

// onlyDeletionStates returns the states that nothing but a deletion leads to.
func onlyDeletionStates[F, D, E any](def *Definition[F, D, E]) map[string]bool {
	only := deletionStates(def)
	for name := range reachable(def.Infer.States, ways(def)) {
		delete(only, name)
	}
	return only
}

// entryWithoutDeletion names what leads to the end of the deletion although the object is not being deleted, or is empty.
func entryWithoutDeletion[F, D, E any](def *Definition[F, D, E], next map[string][]string) string {
	end := def.Deletion.End
	if slices.Contains(def.Infer.States, end) {
		return "Infer"
	}
	ordinary := reachable(def.Infer.States, next)
	for i := range def.States {
		if name := def.States[i].Name; ordinary[name] && slices.Contains(next[name], end) {
			return "state " + name
		}
	}
	return ""
}

// reachable returns the roots and every state that the ways lead to from them.
func reachable(roots []string, next map[string][]string) map[string]bool {
	seen := map[string]bool{}
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		if name := queue[0]; !seen[name] {
			seen[name] = true
			queue = append(queue, next[name]...)
		}
	}
	return seen
}

// decideDeletion decides for an object that is being deleted. The state of the lifecycle and the target of the object do not
// matter: what is left to release is observed in the states of the deletion.
func (l *evaluation[F, D, FX, E]) decideDeletion() Decision {
	deletion := l.machine.def.Deletion
	if deletion.IsZero() {
		return Decision{Decided: true, Released: true}
	}
	if l.entry == nil {
		return Decision{Move: l.deletionRequested("")}
	}
	n, known := l.machine.states[l.entry.State]
	if !known || !n.deletion || !l.isTarget(Target{To: DeletionTarget}) {
		return Decision{Move: l.deletionRequested(l.entry.State)}
	}
	data, err := l.machine.def.Data.Decode(l.entry.Data)
	if err != nil {
		return Decision{Move: l.deletionRequested(n.Name)}
	}
	l.running = running{what: "Invariant", of: n.Name}
	invariant := transitions.Allow()
	if !n.Invariant.IsZero() {
		invariant = n.Invariant.Verdict(&l.facts, data)
	}
	if invariant.Answer == transitions.No {
		if n.Name == deletion.To {
			return Decision{Err: fmt.Errorf("machine %s: a deletion leads to %s although its Invariant says no: let it hold whenever the object is being deleted", l.machine.def.Name, n.Name)}
		}
		return Decision{Move: l.deletionRequested(n.Name)}
	}
	move, _ := l.choose(n, data, l.target())
	believed := invariant.Answer == transitions.Yes
	return Decision{Move: move, MayAct: believed, Decided: believed, Released: believed && n.Name == deletion.End}
}

// deletionRequested returns the implicit first transition of every state: the object is being deleted.
func (l *evaluation[F, D, FX, E]) deletionRequested(from string) *Move {
	attempt := l.attempt()
	if attempt == nil || !l.isTarget(Target{To: DeletionTarget}) {
		attempt = l.begin(Target{To: DeletionTarget})
	}
	return &Move{Event: EventDeletionRequested, From: from, To: l.machine.def.Deletion.To, Attempt: attempt}
}

// checkDeletion checks that a deletion leads to its end, and that something needs it.
func checkDeletion[F, D, E any](def *Definition[F, D, E], declared map[string]*State[F, D, E], found *Findings) {
	d := def.Deletion
	needed := false
	for i := range def.States {
		if a := def.States[i].Action; a != nil && a.NeedsFinalizer {
			needed = true
			if d.IsZero() {
				found.add(ErrDeletion, "action "+a.Name, "nothing releases what it leaves behind; declare Deletion, or drop NeedsFinalizer")
			}
		}
	}
	if d.IsZero() {
		return
	}
	for _, name := range []string{d.To, d.End} {
		if declared[name] == nil {
			found.undeclared(name, "deletion")
			return
		}
	}
	if !needed {
		found.add(ErrDeletion, "deletion", "no action sets NeedsFinalizer, so that the object is deleted before the machine can act; set it on the action whose effects are released")
	}
	next := ways(def)
	if end := declared[d.End]; end.Kind != states.Rest || len(next[d.End]) > 0 {
		found.add(ErrDeletion, "state "+d.End, "the end of a deletion is a Rest that no transition leaves")
	} else if from := entryWithoutDeletion(def, next); from != "" {
		found.add(ErrDeletion, "state "+d.End, "%s leads to the end of the deletion, which is never left: let it lead to another Rest", from)
	}
	for i := range def.States {
		name := def.States[i].Name
		if deletionStates(def)[name] && declared[name] != nil && !reachable([]string{name}, next)[d.End] {
			found.add(ErrDeletion, "state "+name, "a deletion leads here and not on to %s; declare the transitions to it", d.End)
		}
	}
}

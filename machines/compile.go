package machines

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Machine is a compiled definition. It is immutable, shared by all objects and safe for concurrent use.
type Machine[F, D, E any] struct {
	def        Definition[F, D, E]
	graph      Graph
	states     map[string]*node[F, D, E]
	needs      map[transitions.Need]Need
	legality   legality
	inferNeeds []transitions.Need
	warnings   []Finding
}

// node is a state with its transitions and the needs that a reconcile reads at once.
type node[F, D, E any] struct {
	*State[F, D, E]
	rows []Transition[F, D]
	// decisionNeeds are the needs of Invariant, of the target, of the progress and of the guards of the state's transitions. act
	// are the needs of Effects and Precondition.
	decisionNeeds, actionNeeds []transitions.Need
	// deletion means that a deletion may lead through the state; onlyDeletion, that nothing else does.
	deletion, onlyDeletion bool
	// awaited are the indices of the rows whose guards waitingFor shows.
	awaited []int
}

// Compile validates the whole definition and returns the machine. It returns all structural defects together as *Findings.
func Compile[F, D, E any](def Definition[F, D, E]) (*Machine[F, D, E], error) {
	def.States = slices.Clone(def.States)
	withDefaults(&def)
	found := &Findings{Machine: def.Name}
	check(&def, found)
	if len(found.All) > 0 {
		return nil, found
	}
	m := assemble(def)
	m.graph = graphOf(&m.def)
	m.graph.Digest = digestOf(m.graph)
	m.legality = newLegality(m.graph)
	m.warnings = slices.Concat(costlyPrecedesCheap(&m.def), waitsForNothing(&m.def))
	return m, nil
}

// assemble builds the lookup tables of a definition. It takes ownership of the definition's slices.
func assemble[F, D, E any](def Definition[F, D, E]) *Machine[F, D, E] {
	def.States = append(def.States, inferringState[F, D, E]())
	m := &Machine[F, D, E]{def: def, states: make(map[string]*node[F, D, E], len(def.States)), needs: map[transitions.Need]Need{}}
	for _, n := range def.Needs {
		m.needs[n.Name] = n
	}
	deletion, only := deletionStates(&def), onlyDeletionStates(&def)
	for i := range def.States {
		name := def.States[i].Name
		m.states[name] = &node[F, D, E]{State: &def.States[i], deletion: deletion[name], onlyDeletion: only[name]}
	}
	for _, t := range def.Transitions {
		from := m.states[t.From]
		if t.Awaited {
			from.awaited = append(from.awaited, len(from.rows))
		}
		from.rows = append(from.rows, t)
	}
	m.inferNeeds = union(def.Infer.Needs, def.TargetNeeds)
	for _, n := range m.states {
		n.decisionNeeds, n.actionNeeds = m.needsOf(n)
	}
	return m
}

func withDefaults[F, D, E any](def *Definition[F, D, E]) {
	if def.MaxTransitionsWithoutProgress == 0 {
		def.MaxTransitionsWithoutProgress = defaultMaxTransitions
	}
	only := onlyDeletionStates(def)
	for i := range def.States {
		s := &def.States[i]
		if s.Poll <= 0 && (s.Kind == states.Work || s.Kind == states.Wait) {
			s.Poll = states.DefaultPoll
		}
		if only[s.Name] && s.OnTargetChange == "" && s.Kind != states.Rest {
			s.OnTargetChange = KeepAttempt // the target of an object that is being deleted does not matter
		}
		if s.Action != nil {
			action := *s.Action
			action.Name, action.Doc = cmp.Or(action.Name, kebab(s.Name)), cmp.Or(action.Doc, s.Doc)
			s.Action = &action
		}
	}
	def.Transitions = slices.Clone(def.Transitions)
	for i := range def.Transitions {
		t := &def.Transitions[i]
		t.Doc = cmp.Or(t.Doc, t.guard().Doc)
	}
	def.Needs = slices.Clone(def.Needs)
	for i := range def.Needs {
		if def.Needs[i].MaxAge == 0 {
			def.Needs[i].MaxAge = defaultMaxAge
		}
	}
	if def.Data.Encode == nil && def.Data.Decode == nil {
		if _, empty := any(*new(D)).(struct{}); empty {
			def.Data = DataCodec[D]{
				Encode: func(D) map[string]string { return nil },
				Decode: func(map[string]string) (D, error) { return *new(D), nil },
			}
		}
	}
}

// kebab converts a name from UpperCamelCase.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func inferringState[F, D, E any]() State[F, D, E] {
	return State[F, D, E]{State: states.State{
		Name: Inferring, Kind: states.Wait, Deadline: inferringDeadline, Poll: states.DefaultPoll,
		Doc: "the facts that the state is inferred from cannot be read; no action runs",
	}, OnTargetChange: KeepAttempt, Invariant: transitions.Always[F, D]()}
}

func (m *Machine[F, D, E]) needsOf(n *node[F, D, E]) (decide, act []transitions.Need) {
	decide = union(n.Invariant.AllNeeds(), m.def.TargetNeeds, m.def.Progress.Needs)
	for _, t := range n.rows {
		decide = union(decide, t.guard().AllNeeds())
	}
	if n.Name == Inferring {
		decide = union(decide, m.inferNeeds)
	}
	if n.Action != nil {
		act = union(n.Action.Needs, n.Action.Precondition.AllNeeds())
	}
	return decide, act
}

// guard returns When, or the guard of Choose.
func (t *Transition[F, D]) guard() transitions.Guard[F, D] {
	if t.Choose != nil {
		return t.Choose.Guard
	}
	return t.When
}

func union(lists ...[]transitions.Need) []transitions.Need {
	var out []transitions.Need
	for _, l := range lists {
		out = append(out, l...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Graph returns the machine as plain data.
func (m *Machine[F, D, E]) Graph() Graph { return m.graph }

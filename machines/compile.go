package machines

import (
	"slices"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Machine is a compiled definition. It is immutable, shared by all objects and safe for concurrent use.
type Machine[F, M, E any] struct {
	def      Definition[F, M, E]
	graph    Graph
	states   map[string]*node[F, M, E]
	needs    map[transitions.Need]Need
	legality legality
	locate   []transitions.Need
	warnings []string
}

// node is a state with its transitions and the needs that a reconcile reads at once.
type node[F, M, E any] struct {
	*State[F, M, E]
	rows []Transition[F, M]
	// decide are the needs of While, of the target, of the progress and of the guards of the state's transitions. act are the
	// needs of Do and Before.
	decide, act []transitions.Need
	// awaited are the indices of the rows whose guards waitingFor shows.
	awaited []int
}

// Compile validates the whole definition and returns the machine. It returns all structural defects together as *Findings.
func Compile[F, M, E any](def Definition[F, M, E]) (*Machine[F, M, E], error) {
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
	m.warnings = slices.Concat(costlyBeforeCheap(&m.def), waitsForNothing(&m.def))
	return m, nil
}

// assemble builds the lookup tables of a definition. It takes ownership of the definition's slices.
func assemble[F, M, E any](def Definition[F, M, E]) *Machine[F, M, E] {
	def.States = append(def.States, locatingState[F, M, E]())
	m := &Machine[F, M, E]{def: def, states: make(map[string]*node[F, M, E], len(def.States)), needs: map[transitions.Need]Need{}}
	for _, n := range def.Needs {
		m.needs[n.Name] = n
	}
	for i := range def.States {
		m.states[def.States[i].Name] = &node[F, M, E]{State: &def.States[i]}
	}
	for _, t := range def.Transitions {
		from := m.states[t.From]
		if t.Awaited {
			from.awaited = append(from.awaited, len(from.rows))
		}
		from.rows = append(from.rows, t)
	}
	m.locate = union(def.Locate.Needs, def.Target.Needs)
	for _, n := range m.states {
		n.decide, n.act = m.needsOf(n)
	}
	return m
}

func withDefaults[F, M, E any](def *Definition[F, M, E]) {
	if def.MaxEdges == 0 {
		def.MaxEdges = defaultMaxEdges
	}
	for i := range def.States {
		if s := &def.States[i]; s.Poll <= 0 && (s.Kind == states.Work || s.Kind == states.Wait) {
			s.Poll = states.DefaultPoll
		}
	}
	def.Needs = slices.Clone(def.Needs)
	for i := range def.Needs {
		if def.Needs[i].MaxAge == 0 {
			def.Needs[i].MaxAge = defaultMaxAge
		}
	}
	if def.Memo.Encode == nil && def.Memo.Decode == nil {
		if _, empty := any(*new(M)).(struct{}); empty {
			def.Memo = MemoCodec[M]{
				Encode: func(M) map[string]string { return nil },
				Decode: func(map[string]string) (M, error) { return *new(M), nil },
			}
		}
	}
}

func locatingState[F, M, E any]() State[F, M, E] {
	return State[F, M, E]{State: states.State{
		Name: Locating, Kind: states.Wait, Deadline: locatingDeadline, Poll: states.DefaultPoll,
		Doc: "the facts that the state is inferred from cannot be read; no action runs",
	}, OnTarget: CarryOn, While: transitions.Always[F, M]()}
}

func (m *Machine[F, M, E]) needsOf(n *node[F, M, E]) (decide, act []transitions.Need) {
	decide = union(n.While.AllNeeds(), m.def.Target.Needs, m.def.Progress.Needs)
	for _, t := range n.rows {
		decide = union(decide, t.guard().AllNeeds())
	}
	if n.Name == Locating {
		decide = union(decide, m.locate)
	}
	if n.Do != nil {
		act = union(n.Do.Needs, n.Do.Before.AllNeeds())
	}
	return decide, act
}

// guard returns When, or the guard of Choose.
func (t *Transition[F, M]) guard() transitions.Guard[F, M] {
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
func (m *Machine[F, M, E]) Graph() Graph { return m.graph }

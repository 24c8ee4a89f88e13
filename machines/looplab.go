package machines

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/looplab/fsm"
)

// legality decides whether an event is legal in a state and where it leads, with looplab/fsm.
//
// The following properties of looplab/fsm v1.0.3 are worked around. An instance whose context is cancelled during Event is
// blocked for ever: each transition uses a fresh instance and a context that cannot be cancelled. Can, SetState and Event
// deadlock inside callbacks: there are none. Of two rows with one (event, source) the last one wins silently: Compile rejects
// them. The cost of an instance grows with its rows: each state passes only its own. A self transition is returned as an error:
// it is success here. An instance allocates more than the rest of a transition: of each arc only the first transition uses one, and
// where it arrived is kept.
type legality struct {
	rows map[string]fsm.Events
	// arrived holds the state that each arc leads to.
	arrived *sync.Map
}

// arc is an event in a state, by its name for looplab.
type arc struct{ from, event string }

// nowhere is the source when no state is persisted, and for a state that this binary does not know.
const nowhere = "(none)"

func newLegality(g Graph) legality {
	l := legality{rows: make(map[string]fsm.Events, len(g.States)+1), arrived: &sync.Map{}}
	// A deletion leads from a state of an earlier release as well: it goes before the migration.
	sources := append([]string{nowhere}, sorted(g.Migrations)...)
	for _, s := range g.States {
		sources = append(sources, s.Name)
	}
	for _, e := range g.Edges {
		if e.From != "" {
			l.rows[e.From] = append(l.rows[e.From], fsm.EventDesc{Name: e.Event, Src: []string{e.From}, Dst: e.To})
			continue
		}
		for _, from := range sources {
			// One event may infer several states: the destination is part of looplab's event name.
			l.rows[from] = append(l.rows[from], fsm.EventDesc{Name: anywhere(e.Event, e.To), Src: []string{from}, Dst: e.To})
		}
	}
	return l
}

func anywhere(event, to string) string { return event + " " + to }

// fire takes the event and returns nil only if looplab arrives in the state to.
func (l legality) fire(from, event, to string) error {
	name := event
	if event == EventInferred || event == EventDeletionRequested {
		name = anywhere(event, to)
	}
	rows, known := l.rows[from]
	if !known {
		from, rows = nowhere, l.rows[nowhere]
	}
	taken := arc{from, name}
	if arrived, ok := l.arrived.Load(taken); ok && arrived == to {
		return nil
	}
	instance := fsm.NewFSM(from, rows, nil)
	err := instance.Event(context.Background(), name)
	if noMove := (fsm.NoTransitionError{}); errors.As(err, &noMove) && noMove.Err == nil {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("taking %s from %s: %w", event, from, err)
	}
	if got := instance.Current(); got != to {
		return fmt.Errorf("taking %s from %s: arrived in %s instead of %s", event, from, got, to)
	}
	l.arrived.Store(taken, to)
	return nil
}

package machines

import (
	"context"
	"errors"
	"fmt"

	"github.com/looplab/fsm"
)

// legality owns whether an event is legal in a state and where it leads, through looplab/fsm.
//
// Its traps, each avoided here: an instance whose context is cancelled during Event is wedged for ever (a fresh instance per
// transition and a context that cannot be cancelled); Can, SetState and Event deadlock inside callbacks (there are none);
// of two rows with one (event, source) the last wins in silence (Compile refuses them); building an instance costs in
// proportion to its rows (each state brings only its own); a self transition is reported as an error (it is success here).
type legality struct {
	rows map[string]fsm.Events
}

// nowhere stands for "there is no bookmark" and for a state that this binary does not know.
const nowhere = "(none)"

func newLegality(g Graph) legality {
	l := legality{rows: make(map[string]fsm.Events, len(g.States)+1)}
	sources := []string{nowhere}
	for _, s := range g.States {
		sources = append(sources, s.Name)
	}
	for _, e := range g.Edges {
		if e.From != "" {
			l.rows[e.From] = append(l.rows[e.From], fsm.EventDesc{Name: e.Event, Src: []string{e.From}, Dst: e.To})
			continue
		}
		for _, from := range sources {
			// One event may locate several states: the destination is part of looplab's event name.
			l.rows[from] = append(l.rows[from], fsm.EventDesc{Name: anywhere(e.Event, e.To), Src: []string{from}, Dst: e.To})
		}
	}
	return l
}

func anywhere(event, to string) string { return event + " " + to }

// fire takes the event and returns nil only if looplab arrives where the caller wants to go.
func (l legality) fire(from, event, to string) error {
	name := event
	if event == EventLocated {
		name = anywhere(event, to)
	}
	rows, known := l.rows[from]
	if !known {
		from, rows = nowhere, l.rows[nowhere]
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
	return nil
}

package journal

import (
	"maps"
	"slices"
	"strings"

	"github.com/detent-dev/detent/machines"
)

// Edge is a transition that was taken.
type Edge struct {
	Event string            `json:"event"`
	To    string            `json:"to"`
	Data  map[string]string `json:"data,omitempty"`
}

// EdgeOf returns the edge of a move, or nil.
func EdgeOf(move *machines.Move) *Edge {
	if move == nil {
		return nil
	}
	return &Edge{Event: move.Event, To: move.To, Data: move.Data}
}

// equal reports whether two edges are the same. Empty data equals no data.
func (e *Edge) equal(other *Edge) bool {
	if e == nil || other == nil {
		return e == other
	}
	return e.Event == other.Event && e.To == other.To && maps.Equal(e.Data, other.Data)
}

func (e *Edge) String() string {
	if e == nil {
		return "stays"
	}
	parts := []string{e.Event, "to", e.To}
	for _, key := range slices.Sorted(maps.Keys(e.Data)) {
		parts = append(parts, key+"="+e.Data[key])
	}
	return strings.Join(parts, " ")
}

// Package journal records decisions as JSON lines: the facts, the persisted state of the lifecycle, and the transition that was
// taken. Another build replays the lines and lists the objects for which it would decide differently.
package journal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// Format is the version of the lines that this build writes and reads.
const Format = 1

// MaxLine is the maximum size of a line in bytes. Larger facts are left out, and Problem says so.
const MaxLine = 256 << 10

// Line is one decision about one lifecycle.
type Line struct {
	Format int       `json:"v"`
	At     time.Time `json:"at"`

	// Kind, Namespace, Name, UID and Generation of the object.
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"`
	// Deleting means that the object was being deleted.
	Deleting  bool   `json:"deleting,omitempty"`
	Lifecycle string `json:"lifecycle"`
	// Machine that decided, as in the status: its name, "@sha256:" and the digest of its graph.
	Machine string `json:"machine"`

	// Entry is the persisted state before the decision; nil if there was none.
	Entry *Entry `json:"entry"`
	// Edge is the transition that was committed; nil if the lifecycle stayed.
	Edge *Edge `json:"edge"`
	// Facts that the machine observed, encoded as JSON.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Problem is why the facts are missing.
	Problem string `json:"problem,omitempty"`
}

// Entry is the part of the persisted state that a decision depends on.
type Entry struct {
	State     string               `json:"state"`
	Data      map[string]string    `json:"data,omitempty"`
	EnteredAt time.Time            `json:"enteredAt"`
	Attempt   *lifecyclev1.Attempt `json:"attempt,omitempty"`
}

// EntryOf returns the entry of a stored lifecycle, or nil.
func EntryOf(stored *lifecyclev1.Lifecycle) *Entry {
	if stored == nil {
		return nil
	}
	return &Entry{State: stored.State, Data: stored.Data, EnteredAt: stored.EnteredAt.UTC(), Attempt: stored.Attempt}
}

// object names the lifecycle of the line.
func (l *Line) object() string {
	name := l.Name
	if l.Namespace != "" {
		name = l.Namespace + "/" + l.Name
	}
	return fmt.Sprintf("%s %s, lifecycle %s", l.Kind, name, l.Lifecycle)
}

func (l *Line) state() string {
	if l.Entry == nil {
		return ""
	}
	return l.Entry.State
}

// Writer writes lines. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	out    io.Writer
	failed func(error)
	broken bool
}

// NewWriter returns a Writer to out, which gets one line per call to Write. A line that cannot be written is lost. failed is
// called for the first of consecutive errors; nil ignores them.
func NewWriter(out io.Writer, failed func(error)) *Writer { return &Writer{out: out, failed: failed} }

// Note writes one line, with the facts encoded as JSON. The facts contain what guards read: a machine must keep secrets out of
// them.
func (w *Writer) Note(line Line, facts any) {
	line.Format = Format
	text, err := encode(line, facts)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		_, err = w.out.Write(append(text, '\n'))
	}
	if err != nil && !w.broken && w.failed != nil {
		w.failed(fmt.Errorf("writing the journal of %s: %w", line.object(), err))
	}
	w.broken = err != nil
}

func encode(line Line, facts any) ([]byte, error) {
	coded, err := json.Marshal(facts)
	switch {
	case err != nil:
		line.Problem = "the facts cannot be coded: " + strings.ToValidUTF8(err.Error(), "?")
	case len(coded) > MaxLine-4096:
		line.Problem = fmt.Sprintf("the facts take %d bytes, and a line %d at most", len(coded), MaxLine)
	default:
		line.Facts = coded
	}
	text, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("coding a line: %w", err)
	}
	return text, nil
}

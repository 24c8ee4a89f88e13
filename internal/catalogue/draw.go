package catalogue

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/detent-dev/detent/crds"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/machines"
)

// Request describes the drawing to make.
type Request struct {
	// Machines that can be drawn. Required.
	Machines []Machine
	// What is the name of a machine or TYPE/NAME. It may be empty if Files contain exactly one object with lifecycles.
	What string
	// Files to read the object from. Optional; default: the object is read from the cluster.
	Files []string
	// Lifecycle of the object. Optional; default: the lifecycle in the object's status.summary.
	Lifecycle string
	Cluster   objects.Cluster
	Format    Format
	Theme     graph.Theme
	Text      graph.TextOptions
	// Now is the end of displayed durations.
	Now time.Time
}

// Drawing is the drawn content, with notices for the user.
type Drawing struct {
	Content []byte
	Notices []string
}

// Draw makes the requested drawing. If Files contains the standard input, Draw reads stdin to its end.
func Draw(ctx context.Context, r Request, stdin io.Reader) (Drawing, error) {
	if len(r.Files) == 0 && !objects.IsReference(r.What) {
		machine, err := Find(r.Machines, r.What)
		if err != nil {
			return Drawing{}, fmt.Errorf("%w; an object is written as TYPE/NAME", err)
		}
		return render(Drawable(machine.Graph), nil, r)
	}
	at, err := r.Position(ctx, stdin)
	if err != nil {
		return Drawing{}, err
	}
	p, err := render(Drawable(at.Machine), Live(at.Entry, r.Now), r)
	p.Notices = at.Notices
	return p, err
}

// Position is the persisted state of one lifecycle of an object, with the machine that it is a state of.
type Position struct {
	// Object is the kind and the name.
	Object  string
	Entry   *lifecyclev1.Lifecycle
	Machine machines.Graph
	// Notices are for the user.
	Notices []string
}

// Position returns the position of the object that is meant. If Files contains the standard input, it reads stdin to its end.
func (r Request) Position(ctx context.Context, stdin io.Reader) (Position, error) {
	found, err := findObject(ctx, r, stdin)
	if err != nil {
		return Position{}, err
	}
	entry, err := found.lifecycle(r.Lifecycle)
	if err != nil {
		return Position{}, err
	}
	name, digest, _ := strings.Cut(entry.Machine, "@sha256:")
	machine, err := Find(r.Machines, name)
	if err != nil {
		return Position{}, fmt.Errorf("finding the machine of lifecycle %s of %s: %w", entry.Name, found.name, err)
	}
	at := Position{Object: found.name, Entry: entry, Machine: machine.Graph}
	if digest != "" && digest != machine.Graph.Digest {
		at.Notices = append(at.Notices, fmt.Sprintf("%s last moved under another graph of %s (%s) than this binary's (%s): another version runs it",
			found.name, name, digest, machine.Graph.Digest))
	}
	return at, nil
}

func findObject(ctx context.Context, r Request, stdin io.Reader) (*objectStatus, error) {
	var meant *objects.Reference
	if r.What != "" {
		parsed, err := objects.ParseReference(r.What)
		if err != nil {
			return nil, err
		}
		meant = &parsed
	}
	if len(r.Files) == 0 {
		object, err := r.Cluster.Get(ctx, *meant)
		if err != nil {
			return nil, err
		}
		return objectStatusOf(object)
	}
	read, err := objects.Read(r.Files, stdin)
	if err != nil {
		return nil, err
	}
	definitions, err := crds.Definitions()
	if err != nil {
		return nil, err
	}
	object, err := objects.Pick(read, meant, r.Cluster.Namespace, definitions)
	if err != nil {
		return nil, err
	}
	return objectStatusOf(object)
}

func listed[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

package runtime

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
)

// Records is where a kind keeps the records of its machines.
type Records[O Object] interface {
	// Read returns the texts of a record by key. The reader reads from the API server. A missing home is no error.
	Read(ctx context.Context, read client.Reader, object O, record string) (map[string]string, error)
	// Write stores the entries and keeps all others. The reader reads from the API server. It must set a precondition on what it
	// has read, which the methods of Writer do.
	Write(ctx context.Context, read client.Reader, write Writer, object O, entries []machines.RecordEntry) error
}

// record stores the entries unless they are stored already, and proves with a read from the API server that they are. An effect
// that relies on an entry must not precede it: the process may end between the two.
func (p *reconcileScope[O, S, E]) record(ctx context.Context, entries []machines.RecordEntry) error {
	missing, err := p.unrecorded(ctx, entries)
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := p.kind.Records.Write(ctx, p.live, p.writer(), p.object, missing); err != nil {
		return fmt.Errorf("writing records: %w", err)
	}
	if missing, err = p.unrecorded(ctx, entries); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("record %s of %s does not hold what was written to it: another writer changes it, or its home drops it", missing[0].Record, missing[0].Key)
	}
	return nil
}

// unrecorded returns the entries that are not stored.
func (p *reconcileScope[O, S, E]) unrecorded(ctx context.Context, entries []machines.RecordEntry) (missing []machines.RecordEntry, err error) {
	stored := map[string]map[string]string{}
	for _, e := range entries {
		if _, read := stored[e.Record]; !read {
			if stored[e.Record], err = p.kind.Records.Read(ctx, p.live, p.object, e.Record); err != nil {
				return nil, fmt.Errorf("reading record %s: %w", e.Record, err)
			}
		}
		if text, found := stored[e.Record][e.Key]; !found || text != e.Value {
			missing = append(missing, e)
		}
	}
	return missing, nil
}

// recorded reports whether the action's records are stored, so that its effects may be executed. A failure backs off the
// lifecycle like a failed effect.
func (p *reconcileScope[O, S, E]) recorded(ctx context.Context, s *pass.LifecycleResult[E], acting pass.ActionResult[E]) bool {
	if len(acting.Records) == 0 {
		return true
	}
	if p.kind.Records == nil {
		err := fmt.Errorf("action %s records %s, but kind %s has no Records: declare where they are kept", acting.Action.Name, acting.Records[0].Record, p.kind.Name)
		p.memory.trouble(s.Name).acting = err
		p.defective(ctx, s.Name, err)
		return false
	}
	err := p.limited(ctx, "recording", func(ctx context.Context) error { return p.record(ctx, acting.Records) })
	switch {
	case err == nil:
		return true
	case errors.Is(err, ErrStale):
		p.requeue.after(freshnessRequeue)
	case errors.Is(err, ErrWait):
		p.memory.trouble(s.Name).last = err
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		p.outrun(s, err)
	default:
		p.failed(ctx, s, fmt.Errorf("action %s: %w", acting.Action.Name, err))
	}
	return false
}

package runtime

import (
	"strings"
	"unique"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// CacheTransform returns the transform for the cache of a manager (cache.Options.DefaultTransform). It removes managed fields, and
// lets the objects of the process share the texts of their statuses that repeat: of thousands of objects most are in one state, with
// the same conditions, of the same machine.
func CacheTransform() toolscache.TransformFunc {
	strip := cache.TransformStripManagedFields()
	return func(in any) (any, error) {
		out, err := strip(in)
		if object, ok := out.(Object); ok {
			shareTexts(object.LifecycleStatus())
		}
		return out, err
	}
}

// shareTexts replaces the texts that other objects are likely to have by one copy for the process. The copy is released with the last
// of them.
func shareTexts(status *lifecyclev1.Status) {
	for i := range status.Conditions {
		c := &status.Conditions[i]
		share(&c.Type, &c.Reason, &c.Message)
	}
	for i := range status.Lifecycles {
		l := &status.Lifecycles[i]
		share(&l.Name, &l.Machine, &l.State)
		for j := range l.History {
			h := &l.History[j]
			share(&h.Event, &h.From, &h.To)
			// The attempt is a part of the text of the whole line, which it would retain.
			switch {
			case l.Attempt != nil && h.Attempt == l.Attempt.ID:
				h.Attempt = l.Attempt.ID
			case j > 0 && h.Attempt == l.History[j-1].Attempt:
				h.Attempt = l.History[j-1].Attempt
			default:
				h.Attempt = strings.Clone(h.Attempt)
			}
		}
	}
	if status.Summary != nil {
		share(&status.Summary.Lifecycle, &status.Summary.State)
	}
}

func share(texts ...*string) {
	for _, text := range texts {
		*text = unique.Make(*text).Value()
	}
}

package explore

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deletes reports whether a machine of the kind declares a deletion.
func (w *worker[O, S, E]) deletes() bool {
	for _, lc := range w.lifecycles {
		if lc.Graph().Deletion != nil {
			return true
		}
	}
	return false
}

func isDeleting(r *record) bool { return r.Object.GetDeletionTimestamp() != nil }

// requestDeletion deletes an object as the API server does in the background: at once, or when its last finalizer is removed.
func (s *state) requestDeletion(r *record) {
	next, _ := r.Object.DeepCopyObject().(client.Object)
	now := metav1.NewTime(s.now)
	next.SetDeletionTimestamp(&now)
	next.SetGeneration(next.GetGeneration() + 1)
	s.putFinalizers(r, next)
	s.woken = true
}

// putFinalizers stores an object with other finalizers. One that is being deleted and has none left is removed.
func (s *state) putFinalizers(r *record, next client.Object) {
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 {
		s.remove(r)
		return
	}
	s.put(r, next)
}

// released returns what outlives the object although the API server has deleted it.
func (w *worker[O, S, E]) released(s *state) error {
	if w.subject.Released == nil || w.main(s.live) != nil {
		return nil
	}
	return w.subject.Released(s.world)
}

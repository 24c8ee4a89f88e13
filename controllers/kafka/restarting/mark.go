// Package restarting is the mark that a StrimziPodSet carries while one of its pods is being replaced: between the eviction of the
// pod and the switch of its entry nothing is created in its place. Whoever restarts pods sets it, and the controller of
// StrimziPodSets heeds it.
package restarting

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// Limit is how long a mark holds. It bounds how long a node stays away when the process that marked it is gone and nobody
// takes the restart up: then it comes back exactly as it last ran.
const Limit = 30 * time.Second

// Mark says which pod is being replaced.
type Mark struct {
	Pod string
	UID types.UID
	// Since is when it was set, in whole seconds.
	Since time.Time
}

// Of is the mark of the set; false if it has none that can be read.
func Of(set *corev1beta2.StrimziPodSet) (Mark, bool) {
	text, marked := set.Annotations[labels.Restarting]
	if !marked {
		return Mark{}, false
	}
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return Mark{}, false
	}
	since, err := time.Parse(time.RFC3339, parts[2])
	return Mark{Pod: parts[0], UID: types.UID(parts[1]), Since: since}, err == nil
}

// On says whether the set carries a mark, one that cannot be read included.
func On(set *corev1beta2.StrimziPodSet) bool {
	_, marked := set.Annotations[labels.Restarting]
	return marked
}

// Set puts the mark on the set.
func (m Mark) Set(set *corev1beta2.StrimziPodSet) {
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[labels.Restarting] = strings.Join([]string{m.Pod, string(m.UID), m.Since.UTC().Format(time.RFC3339)}, "/")
}

// Remove takes the mark off the set.
func Remove(set *corev1beta2.StrimziPodSet) { delete(set.Annotations, labels.Restarting) }

// Left is how long the mark still holds; zero or less when it does no more. A mark from the future holds no longer than a new one.
func (m Mark) Left(now time.Time) time.Duration { return min(m.Since.Add(Limit).Sub(now), Limit) }

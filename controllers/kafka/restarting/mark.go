// Package restarting is the mark of a StrimziPodSet while one of its pods is being replaced: between the eviction of the pod and
// the replacement of its entry no pod may be created in its place. Restart sets the mark, and the controller of StrimziPodSets
// respects it.
package restarting

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// Limit is how long a mark is valid. It limits how long a node is missing if the process that set the mark ends and no other
// process continues the restart: after that the pod is recreated as it last ran.
const Limit = 30 * time.Second

// Mark identifies the pod that is being replaced.
type Mark struct {
	Pod string
	UID types.UID
	// Since is when the mark was set, in whole seconds.
	Since time.Time
}

// Of returns the mark of the set; false if it has no readable mark.
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

// On reports whether the set has a mark, readable or not.
func On(set *corev1beta2.StrimziPodSet) bool {
	_, marked := set.Annotations[labels.Restarting]
	return marked
}

// Set adds the mark to the set.
func (m Mark) Set(set *corev1beta2.StrimziPodSet) {
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[labels.Restarting] = strings.Join([]string{m.Pod, string(m.UID), m.Since.UTC().Format(time.RFC3339)}, "/")
}

// Remove removes the mark from the set.
func Remove(set *corev1beta2.StrimziPodSet) { delete(set.Annotations, labels.Restarting) }

// Left returns how much longer the mark is valid; zero or less if it has expired. A mark with a future time is limited to Limit.
func (m Mark) Left(now time.Time) time.Duration { return min(m.Since.Add(Limit).Sub(now), Limit) }

package campaign

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// numbered matches the parts of names that distinguish siblings. Their order differs between runs.
var numbered = regexp.MustCompile(`\d+`)

func role(name string) string { return numbered.ReplaceAllString(name, "N") }

// describeRequest describes a write: its verb, its kind, the role of its object, and the states of the lifecycles that it
// stores.
func describeRequest(request *http.Request, seen lab.Request) string {
	text := strings.ToLower(seen.Method) + " " + seen.Resource
	if seen.Subresource != "" {
		text += "/" + seen.Subresource
	}
	text += " " + role(seen.Name)
	if seen.Subresource == "status" {
		if where := lifecycleStatesIn(request); where != "" {
			text += ": " + where
		}
	}
	return text
}

// lifecycleStatesIn returns the states of the lifecycles in the body of a request.
func lifecycleStatesIn(request *http.Request) string {
	text := lab.Body(request)
	if !bytes.Contains(text, []byte(`"lifecycles"`)) {
		return ""
	}
	var object struct {
		Status lifecyclev1.Status `json:"status"`
	}
	if json.Unmarshal(text, &object) != nil {
		return ""
	}
	return lifecycleStates(&object.Status)
}

// lifecycleStates returns the states of the lifecycles as text.
func lifecycleStates(status *lifecyclev1.Status) string {
	var out []string
	for i := range status.Lifecycles {
		out = append(out, status.Lifecycles[i].Name+" in "+status.Lifecycles[i].State)
	}
	return strings.Join(out, ", ")
}

// describeEvent describes an event: its type, its kind, the role of its object, and the state of that.
func describeEvent(e watch.Event) string {
	o, ok := e.Object.(client.Object)
	if !ok || o.GetNamespace() == "" { // a Node belongs to no run
		return ""
	}
	text := strings.ToLower(string(e.Type)) + " " + kindOf(o) + " " + role(o.GetName())
	if o.GetDeletionTimestamp() != nil {
		text += ", terminating"
	}
	switch o := o.(type) {
	case lifecycle.Object:
		text += ": " + lifecycleStates(o.LifecycleStatus())
	case *corev1.Pod:
		text += ": " + podPhase(o)
	}
	return text
}

func podPhase(pod *corev1.Pod) string {
	if isReady(pod) {
		return "ready"
	}
	if pod.Spec.NodeName == "" {
		return "unbound"
	}
	return string(pod.Status.Phase)
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// points returns the places that were met, each with its number among those of the same description.
func points(met []string) []lab.Point {
	counts := map[string]int{}
	out := make([]lab.Point, 0, len(met))
	for _, about := range met {
		counts[about]++
		out = append(out, lab.Point{About: about, Nth: counts[about]})
	}
	return out
}

// inBoth returns the points of the first list that the second contains as well, in order.
func inBoth(a, b []lab.Point) []lab.Point {
	return slices.DeleteFunc(slices.Clone(a), func(p lab.Point) bool { return !slices.Contains(b, p) })
}

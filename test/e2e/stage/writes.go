package stage

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/hello/api"
)

// writes counts how often the statuses of resources with lifecycles are written, from a watch of each kind.
type writes struct {
	watches []watch.Interface
	counted []chan tally
}

// tally of one kind.
type tally struct{ writes, transitions int }

// watched kinds. One that the cluster does not know is left out.
func watched() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{kafkav1beta2.GroupVersion().WithKind(kafkav1beta2.KindKafka), api.GroupVersion.WithKind("Greeting")}
}

func (c *Cluster) watchWrites(ctx context.Context, namespace string) (*writes, error) {
	w := &writes{}
	for _, kind := range watched() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		// The watch outlives the step of the scenario that starts it.
		stream, err := c.Client.Watch(context.WithoutCancel(ctx), list, client.InNamespace(namespace))
		if err != nil {
			w.stop()
			return nil, fmt.Errorf("watching %s: %w", kind.Kind, err)
		}
		result := make(chan tally, 1)
		w.watches, w.counted = append(w.watches, stream), append(w.counted, result)
		go func() { result <- count(stream.ResultChan()) }()
	}
	return w, nil
}

// count the changes of statuses, and the entries that appear in their histories.
func count(events <-chan watch.Event) tally {
	var t tally
	last := map[types.UID]map[string]any{}
	seen := map[string]bool{}
	for e := range events {
		object, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		status, _, err := unstructured.NestedMap(object.Object, "status")
		if err != nil || len(status) == 0 {
			continue
		}
		if !equality.Semantic.DeepEqual(last[object.GetUID()], status) {
			t.writes++
		}
		last[object.GetUID()] = status
		for _, key := range transitions(object.GetUID(), status) {
			if !seen[key] {
				seen[key] = true
				t.transitions++
			}
		}
	}
	return t
}

// transitions in the histories of a status, each with a name of its own.
func transitions(uid types.UID, status map[string]any) []string {
	var keys []string
	lifecycles, _, _ := unstructured.NestedSlice(status, "lifecycles") // a status without them has none
	for _, l := range lifecycles {
		lifecycle, ok := l.(map[string]any)
		if !ok {
			continue
		}
		history, _, _ := unstructured.NestedSlice(lifecycle, "history") // nor has one without a history
		for _, h := range history {
			var entry lifecyclev1.Transition
			if text, err := json.Marshal(h); err == nil && json.Unmarshal(text, &entry) == nil {
				keys = append(keys, fmt.Sprint(uid, lifecycle["name"], entry.At.Unix(), entry.Event, entry.From, entry.To))
			}
		}
	}
	return keys
}

// stop ends the watches and adds up what they saw.
func (w *writes) stop() (written, transitions int) {
	for i, stream := range w.watches {
		stream.Stop()
		t := <-w.counted[i]
		written += t.writes
		transitions += t.transitions
	}
	return written, transitions
}

package render

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"pgregory.net/rapid"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A node restarts when its revision changes. The revision must not depend on the order in the spec, and must depend on each
// property that the process reads only when it starts.
func TestRevisionDependsOnlyOnTheNode(t *testing.T) {
	in := example(t, persistent)
	rapid.Check(t, func(rt *rapid.T) {
		config := rapid.MapOfN(rapid.SampledFrom([]string{"log.retention.hours", "num.partitions", "node.id", "ssl.cipher.suites", "a", "sasl.x"}),
			rapid.SampledFrom([]string{"1", `"x"`, "true", `"a\nb"`}), 0, 5).Draw(rt, "config")
		listeners := []kafkav1beta2.Listener{
			{Name: "plain", Port: 9092, Type: kafkav1beta2.ListenerInternal}, {Name: "other", Port: 9094, Type: kafkav1beta2.ListenerInternal},
			{Name: "closed", Port: 9093, Type: kafkav1beta2.ListenerInternal, TLS: true},
		}
		render := func(order []string, listeners []kafkav1beta2.Listener) string {
			one := in
			one.Spec.Kafka.Listeners = listeners
			one.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{}
			for _, name := range order {
				one.Spec.Kafka.Config[name] = apiextensionsv1.JSON{Raw: []byte(config[name])}
			}
			entry, err := New(one).Entry(0, "4.0.0")
			if err != nil {
				rt.Fatal(err)
			}
			return entry.Revision
		}
		names := slices.Sorted(maps.Keys(config))
		want := render(names, listeners)
		got := render(rapid.Permutation(names).Draw(rt, "order"), rapid.Permutation(listeners).Draw(rt, "listeners"))
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("another order gives another revision:\n%s", diff)
		}
		for _, name := range names {
			without := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
			if changes := render(without, listeners) != want; changes == (Reserved(name) || Dynamic(name, "")) {
				rt.Errorf("without %s, reserved %v, the revision changes: %v", name, Reserved(name), changes)
			}
		}
	})
}
